//! The servers that are measured with.

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use kube::Api;
use kube::api::PostParams;
use serde_json::json;
use thv_api::kinds::MCPServer;

/// How many creations are under way at once.
const AT_ONCE: usize = 32;

/// A server like many: an image, an argument, some environment, resources.
fn server(number: usize) -> Result<MCPServer> {
    let body = json!({
        "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer",
        "metadata": {"name": format!("server-{number:05}")},
        "spec": {
            "image": "localhost/server:1", "transport": "streamable-http", "proxyPort": 8080, "mcpPort": 8080,
            "args": ["--verbose"],
            "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "REGION", "value": "somewhere"}],
            "resources": {"limits": {"cpu": "100m", "memory": "128Mi"}, "requests": {"cpu": "10m", "memory": "64Mi"}},
        },
    });
    serde_json::from_value(body).context("the servers of this bench do not fit their type")
}

/// Creates `count` servers, many at once, and hands each over.
pub(super) async fn create(
    api: &Api<MCPServer>,
    count: usize,
    mut hand_over: impl FnMut(MCPServer),
) -> Result<()> {
    let create = async |number| {
        let created = api.create(&PostParams::default(), &server(number)?).await;
        created.context("cannot create a server")
    };
    let mut created = stream::iter(0..count).map(create).buffer_unordered(AT_ONCE);
    while let Some(server) = created.try_next().await? {
        hand_over(server);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_a_name_of_its_own() {
        assert_ne!(server(1).unwrap().metadata.name, server(2).unwrap().metadata.name);
    }
}
