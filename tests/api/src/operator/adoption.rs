//! Children that have lost their owner, and objects that stand in the way of children.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Service, ServiceAccount};
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::json;
use thv_api::conditions::mcp_server::Ready;
use thv_api::kinds::{MCPServer, MCPServerPhase};
use thv_api::names::field_managers;
use thv_testbed::{Pattern, RequestLog, Verb, in_namespace, wait};

use super::difference::places;
use super::scene::{NAME, Scene, assert_says, pulse};
use super::{Operator, minimal};
use crate::fixture::{apply, config_map, resource_version};

#[tokio::test]
async fn a_server_that_is_made_anew_adopts_the_children_that_its_deletion_orphaned() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        scene.operator.at_rest().await?;
        scene.calm().await?;
        let before = scene.children().await?;
        let old = scene.operator.servers().get(NAME).await?;
        scene.operator.servers().delete(NAME, &DeleteParams::orphan()).await?;
        wait::gone(&scene.operator.servers(), NAME).await?;

        let mark = scene.operator.recorder.mark();
        let new = scene.make(json!({})).await?;
        assert_ne!(new.uid(), old.uid());
        let after = scene.children().await?;
        let writes = scene.done(mark, &Pattern::verb(Verb::Apply));
        let is_child = |name: &str| !name.contains("probe-");
        for write in writes.iter().filter(|write| write.name.as_deref().is_some_and(is_child)) {
            assert_eq!(
                write.answered,
                Some(200),
                "{write} makes no other object:\n{}",
                scene.operator.recorder.log()
            );
        }
        let owner = |uid: &Option<String>| format!("metadata.ownerReferences[{}]", uid.as_deref().unwrap());
        let changed = before.changes(&after);
        assert!(!changed.iter().any(|place| place.ends_with("metadata.uid")), "{changed:?}");
        for child in before.versions().keys() {
            for uid in [&old.metadata.uid, &new.metadata.uid] {
                let place = format!("{child} {}", owner(uid));
                let kind_keyed = format!("{child} metadata.ownerReferences[{NAME}].uid");
                assert!(changed.contains(&place) || changed.contains(&kind_keyed), "{place}: {changed:?}");
            }
        }
        assert_eq!(before.versions().len(), after.versions().len());
        // And that was that.
        let mark = scene.operator.recorder.mark();
        scene.look_again().await?;
        assert!(scene.writes(mark).is_empty(), "{:?}", scene.writes(mark));
        assert_eq!(after.changes(&scene.children().await?), places([]));
        Ok(())
    })
    .await;
}

/// A server that something stands in the way of, and what.
struct Blocked {
    server: &'static str,
    what: &'static str,
    resource: &'static str,
    name: &'static str,
}

const BLOCKED: [Blocked; 3] = [
    Blocked { server: "a", what: "ConfigMap a-runconfig", resource: "configmaps", name: "a-runconfig" },
    Blocked { server: "b", what: "Service mcp-b-proxy", resource: "services", name: "mcp-b-proxy" },
    Blocked {
        server: "c",
        what: "ServiceAccount c-proxy-runner",
        resource: "serviceaccounts",
        name: "c-proxy-runner",
    },
];

/// So many attempts are waited for.
const ATTEMPTS: usize = 5;

/// After them, the next one would be this much later.
const NEXT_ATTEMPT: Duration = Duration::from_millis(3_200);

#[tokio::test]
async fn an_object_in_the_way_is_named_and_left_alone_and_its_deletion_is_noticed_at_once() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let labels = |server: &str| json!({"toolhive": "true", "toolhive-name": server});
        // No operator has written this one, although it is labelled as if.
        let mut map = config_map("a-runconfig", "1");
        map["metadata"]["labels"] = labels("a");
        let map = apply(&space.api::<ConfigMap>(), "a-runconfig", "somebody", &map).await?;
        // An operator has written this one, for another server.
        let service = json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "mcp-b-proxy", "labels": labels("other")},
            "spec": {"ports": [{"port": 80}]},
        });
        let services = space.api::<Service>();
        let service = apply(&services, "mcp-b-proxy", field_managers::OPERATOR, &service).await?;
        // And this one has another controller.
        let account = json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": "c-proxy-runner", "labels": labels("c"), "ownerReferences": [{
                "apiVersion": "v1", "kind": "ConfigMap", "name": "a-runconfig", "uid": map.metadata.uid,
                "controller": true,
            }]},
        });
        let accounts = space.api::<ServiceAccount>();
        let account = apply(&accounts, "c-proxy-runner", field_managers::OPERATOR, &account).await?;

        let mark = operator.recorder.mark();
        for Blocked { server, what, .. } in &BLOCKED {
            pulse(&space, server).await?;
            let mut spec = minimal();
            spec["secrets"] = json!([{"name": server, "key": "beat"}]);
            let server = operator.server(server, spec).await?;
            assert_eq!(server.status.as_ref().unwrap().phase, Some(MCPServerPhase::Failed));
            assert_says(&server, Ready::NotReady);
            let message = server.status.as_ref().unwrap().message.as_deref().unwrap();
            assert!(message.contains(what), "{message}");
        }
        for Blocked { server, .. } in &BLOCKED {
            let pass = Pattern::verb(Verb::Get).of("secrets").named(server);
            let enough = |log: &RequestLog| (log.len() >= ATTEMPTS).then_some(());
            operator.recorder.until(mark, &pass, enough).await?;
        }
        let unchanged = [
            (resource_version(&map), resource_version(&space.api::<ConfigMap>().get("a-runconfig").await?)),
            (resource_version(&service), resource_version(&services.get("mcp-b-proxy").await?)),
            (resource_version(&account), resource_version(&accounts.get("c-proxy-runner").await?)),
        ];
        assert!(unchanged.iter().all(|(before, after)| before == after), "{unchanged:?}");

        let mark = operator.recorder.mark();
        // Not the ConfigMap first: the ServiceAccount would be collected with it.
        accounts.delete("c-proxy-runner", &DeleteParams::default()).await?;
        services.delete("mcp-b-proxy", &DeleteParams::default()).await?;
        space.api::<ConfigMap>().delete("a-runconfig", &DeleteParams::default()).await?;
        let start = std::time::Instant::now();
        for Blocked { server, resource, name, .. } in &BLOCKED {
            let starts = |server: &MCPServer| {
                server.status.as_ref().and_then(|status| status.phase) == Some(MCPServerPhase::Pending)
            };
            wait::until(&operator.servers(), server, "nothing is in its way", starts).await?;
            let made = Pattern::verb(Verb::Apply).of(resource).named(name);
            let made = operator.recorder.since(mark).only(&made);
            let made = made.iter().find(|write| write.answered == Some(201)).expect("it was made");
            let wait = made.at.duration_since(start);
            assert!(wait < NEXT_ATTEMPT, "{server} has waited {wait:?}");
        }
        Ok(())
    })
    .await;
}
