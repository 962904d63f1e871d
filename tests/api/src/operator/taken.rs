//! Two objects that want a child of the same name.

use anyhow::Result;
use kube::api::DynamicObject;
use serde_json::{Value, json};
use thv_testbed::{Exchange, Space, in_namespace, wait};

use super::difference::Children;
use super::minimal;
use super::rules::api_of;
use super::stage::Stage;

/// An object: its kind, its name and its spec.
type Wanted = (&'static str, &'static str, fn() -> Value);

const SERVER: Wanted = ("MCPServer", "x", minimal);
const VIRTUAL_SERVER: Wanted =
    ("VirtualMCPServer", "x", || json!({"groupRef": {"name": "g"}, "incomingAuth": {"type": "anonymous"}}));
const REMOTE_PROXY: Wanted = ("MCPRemoteProxy", "x", || json!({"remoteUrl": "https://mcp.example.com"}));
const EMBEDDING_SERVER: Wanted = ("EmbeddingServer", "x", || json!({"model": "m"}));
const REGISTRY: Wanted = ("MCPRegistry", "x", || json!({"configYAML": "sources: []"}));

/// The same under another name.
const fn named((kind, _, spec): Wanted, name: &'static str) -> Wanted {
    (kind, name, spec)
}

/// Two objects, the child that both want, and the condition by which the second says so.
struct Clash {
    first: Wanted,
    second: Wanted,
    child: (&'static str, &'static str, &'static str),
    condition: &'static str,
}

impl Clash {
    const fn over_deployment(first: Wanted, second: Wanted, condition: &'static str) -> Self {
        Self { first, second, child: ("apps/v1", "Deployment", "x"), condition }
    }
}

async fn clash(space: &Space, clash: &Clash) -> Result<()> {
    let Clash { first, second, child: (version, child_kind, child), condition } = clash;
    let stage = Stage::start(space).await?;
    stage.settle("MCPGroup", "g", json!({})).await?;
    let holder = stage.settle(first.0, first.1, (first.2)()).await?;
    stage.calm().await?;
    let before = Children::of(space, &holder).await?;
    let theirs: Vec<String> = before.versions().keys().map(|name| name.to_lowercase()).collect();
    assert!(theirs.contains(&format!("{child_kind}/{child}").to_lowercase()), "{theirs:?}");

    // The second says who has what it wants, now and whenever it is edited.
    let mark = stage.operator.recorder.mark();
    let made = stage.make(second.0, second.1, (second.2)()).await?;
    let who = format!("belongs to {} {:?}", first.0, first.1);
    let told = stage.says(second.0, second.1, (condition, "False"), &who).await?;
    assert_eq!(told.data["status"]["phase"], "Failed", "{}", told.data["status"]);
    let mut body = super::stage::manifest(second.0, second.1, (second.2)());
    body["metadata"]["annotations"] = json!({"example.com/look": "again"});
    crate::fixture::apply(&stage.api(second.0), second.1, "user", &body).await?;
    stage.calm().await?;
    let is_theirs = |write: &Exchange| {
        let name = format!("{}/{}", write.resource, write.name.as_deref().unwrap_or_default());
        theirs.iter().any(|child| child.replacen('/', "s/", 1) == name)
    };
    let writes = stage.operator.writes(mark);
    assert!(!writes.iter().any(is_theirs), "{writes:#?}");
    let meanwhile = Children::of(space, &holder).await?;
    assert_eq!((before.versions(), before.changes(&meanwhile).len()), (meanwhile.versions(), 0));

    // As soon as the first has gone with what it had, the second goes on.
    stage.delete(first.0, first.1).await?;
    stage.gone(first.0, first.1).await?;
    let children = api_of(space, &json!({"apiVersion": version, "kind": child_kind}));
    let uid = made.metadata.uid;
    let is_its = |child: &DynamicObject| {
        let owners = child.metadata.owner_references.as_deref().unwrap_or_default();
        owners.iter().any(|owner| Some(&owner.uid) == uid.as_ref())
    };
    let waited = wait::until(&children, child, "the second has it", is_its).await;
    waited.map_err(|error| error.context(stage.tail()))?;
    stage
        .until(second.0, second.1, "it says so", |object| object.data["status"]["phase"] == "Pending")
        .await
        .map(drop)
}

/// One after the other, each in a namespace of its own.
async fn all(clashes: &[Clash]) {
    for one in clashes {
        in_namespace(async |space| clash(&space, one).await).await;
    }
}

#[tokio::test]
async fn the_second_of_two_kinds_that_want_a_deployment_of_one_name_names_the_first_and_waits_for_it_to_go() {
    all(&[
        Clash::over_deployment(SERVER, VIRTUAL_SERVER, "Valid"),
        Clash::over_deployment(VIRTUAL_SERVER, SERVER, "SpecValid"),
        Clash::over_deployment(SERVER, REMOTE_PROXY, "ConfigurationValid"),
        Clash {
            first: named(REMOTE_PROXY, "x-api"),
            second: REGISTRY,
            child: ("apps/v1", "Deployment", "x-api"),
            condition: "SpecValid",
        },
    ])
    .await;
}

#[tokio::test]
async fn a_server_whose_backend_would_have_the_name_of_an_embedding_server_names_it_and_waits_for_it_to_go() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        stage.settle("EmbeddingServer", "x", (EMBEDDING_SERVER.2)()).await?;
        let mark = stage.operator.recorder.mark();
        stage.make("MCPServer", "x", minimal()).await?;
        let who = "a StatefulSet \"x\" is there already and belongs to EmbeddingServer \"x\"";
        stage.says("MCPServer", "x", ("SpecValid", "False"), who).await?;
        stage.calm().await?;
        let about = |write: &Exchange| write.resource == "mcpservers";
        let writes = stage.operator.writes(mark);
        assert!(writes.iter().all(about), "{writes:#?}");
        stage.delete("EmbeddingServer", "x").await?;
        let deployments = space.api::<k8s_openapi::api::apps::v1::Deployment>();
        wait::until(&deployments, "x", "the server goes on", |_| true).await?;
        stage.says("MCPServer", "x", ("SpecValid", "True"), "").await.map(drop)
    })
    .await;
}

#[tokio::test]
async fn whoever_finds_a_service_of_another_in_the_way_names_it_and_waits_for_it_to_go() {
    all(&[
        Clash {
            first: named(EMBEDDING_SERVER, "vmcp-x"),
            second: VIRTUAL_SERVER,
            child: ("v1", "Service", "vmcp-x"),
            condition: "Ready",
        },
        Clash {
            first: named(EMBEDDING_SERVER, "mcp-x-proxy"),
            second: SERVER,
            child: ("v1", "Service", "mcp-x-proxy"),
            condition: "Ready",
        },
    ])
    .await;
}
