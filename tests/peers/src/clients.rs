//! The official clients are answered through the proxy's Service as they are by the server itself.

use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tests_fixture::{Client, Operator, PROTOCOLS, Peers, Site, Visit};
use thv_testbed::{built_program, on_cluster};
use tokio::net::TcpListener;

use crate::place::{direct, python_image, server};
use crate::server::{Sessions, serve};

/// Every client that speaks streamable HTTP, and the version that it is to agree on.
fn everybody(rust: &Path) -> Vec<(Client<'_>, &'static str)> {
    let [older, newer] = PROTOCOLS;
    vec![
        (Client::TypeScript1, older),
        (Client::TypeScript2(older), older),
        (Client::TypeScript2(newer), newer),
        (Client::Python(older), older),
        (Client::Python(newer), newer),
        (Client::Program(rust, older), older),
        (Client::Program(rust, newer), newer),
    ]
}

/// What a client must have seen, besides the tools.
fn expected(visit: &Visit, name: &str, version: &str) -> Visit {
    Visit {
        version: version.to_owned(),
        server: name.to_owned(),
        tools: visit.tools.clone(),
        echo: "good day".to_owned(),
        resource: "This is the content of the static text resource.".to_owned(),
    }
}

/// Has every client visit the server at both addresses.
async fn visit_both(peers: &Peers, name: &str, through: &str, directly: &str) -> Result<()> {
    let rust = built_program("peer-client")?;
    for (client, version) in everybody(&rust) {
        let seen = peers.visit(client, through).await?;
        assert_eq!(seen, expected(&seen, name, version), "{client:?}");
        assert!(seen.tools.contains(&"echo".to_owned()), "{client:?}: {:?}", seen.tools);
        assert_eq!(peers.visit(client, directly).await?, seen, "{client:?}, without the proxy");
    }
    Ok(())
}

#[tokio::test]
async fn official_clients_see_the_same_rust_server_through_the_proxy() {
    on_cluster(async |space| {
        let peers = Peers::find()?;
        let operator = Operator::start(&Site::of(&space).await?).await?;
        let image = operator.site().image("peer-server").await?;
        let rust = server(&operator, "rust", &image, json!({})).await?;
        let directly = direct(operator.site(), "rust", "/mcp").await?;
        let visited = visit_both(&peers, "everything", &rust.url, &directly).await;
        operator.explain(visited).await
    })
    .await;
}

#[tokio::test]
async fn official_clients_see_the_same_python_server_through_the_proxy() {
    on_cluster(async |space| {
        let peers = Peers::find()?;
        let operator = Operator::start(&Site::of(&space).await?).await?;
        let image = python_image(operator.site(), &peers).await?;
        let python = server(&operator, "python", &image, json!({})).await?;
        let directly = direct(operator.site(), "python", "/mcp").await?;
        let visited = visit_both(&peers, "python", &python.url, &directly).await;
        operator.explain(visited).await
    })
    .await;
}

#[tokio::test]
async fn official_clients_of_the_older_transport_see_a_python_server_through_the_proxy() {
    on_cluster(async |space| {
        let peers = Peers::find()?;
        let operator = Operator::start(&Site::of(&space).await?).await?;
        let image = python_image(operator.site(), &peers).await?;
        let python = server(&operator, "events", &image, json!({"transport": "sse"})).await?;
        let directly = direct(operator.site(), "events", "/sse").await?;
        let visiting = async {
            for client in [Client::TypeScript1Sse, Client::PythonSse] {
                let seen = peers.visit(client, &python.url).await?;
                assert_eq!(seen, expected(&seen, "python", PROTOCOLS[0]), "{client:?}");
                assert_eq!(peers.visit(client, &directly).await?, seen, "{client:?}, without the proxy");
            }
            Ok(())
        };
        operator.explain(visiting.await).await
    })
    .await;
}

#[tokio::test]
async fn official_clients_see_a_server_outside_the_cluster_through_a_remote_proxy() {
    on_cluster(async |space| {
        let peers = Peers::find()?;
        let operator = Operator::start(&Site::of(&space).await?).await?;
        let listener = TcpListener::bind((space.bed().description().host, 0)).await?;
        let directly = format!("http://{}/mcp", listener.local_addr()?);
        let elsewhere = tokio::spawn(serve(listener, Sessions::Kept));
        let spec = json!({"remoteUrl": directly, "allowPrivateEndpoint": true});
        let proxy = operator.remote_proxy("far", &spec).await?;
        let visited = visit_both(&peers, "everything", &proxy.url, &directly).await;
        elsewhere.abort();
        operator.explain(visited).await
    })
    .await;
}
