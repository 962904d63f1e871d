//! Restarts that are asked for while a server cannot be applied.

use anyhow::Result;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::api::DeleteParams;
use serde_json::json;
use thv_api::kinds::{MCPServer, MCPServerPhase};
use thv_api::names::annotations;
use thv_testbed::{Exchange, Pattern, Space, Verb, in_namespace, wait};

use super::pods::older_proxies;
use super::rollout::patch;
use super::scene::pulse;
use super::{Operator, minimal, pod_annotations};

const NAMES: [&str; 2] = ["rolling", "immediate"];
/// A request is known by its text; when it was made, the API server knows.
const AT: &str = "2026-01-01T00:00:00Z";

#[tokio::test]
async fn while_a_server_is_blocked_a_restart_of_either_kind_waits_and_is_carried_out_later() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        pulse(&space, "pulse").await?;
        for name in NAMES {
            let mut spec = minimal();
            spec["secrets"] = json!([{"name": "pulse", "key": "beat"}]);
            operator.server(name, spec).await?;
        }
        let old = names(&space, "immediate").await?;
        space.api::<Secret>().delete("pulse", &DeleteParams::default()).await?;
        for name in NAMES {
            wait::until(&operator.servers(), name, "it is blocked", is_blocked).await?;
        }

        let mark = operator.recorder.mark();
        for name in NAMES {
            let request = json!({annotations::RESTARTED_AT: AT, annotations::RESTART_STRATEGY: name});
            patch(&operator.servers(), name, json!({"metadata": {"annotations": request}})).await?;
            wait::until(&operator.servers(), name, "it says that the restart waits", |server| {
                let message = server.status.as_ref().and_then(|status| status.message.as_deref());
                is_blocked(server)
                    && message.is_some_and(|it| it.contains("restart that was asked for waits"))
            })
            .await?;
        }
        let is_status = |write: &Exchange| write.subresource.as_deref() == Some("status");
        let writes = operator.writes(mark);
        assert!(writes.len() == 2 && writes.iter().all(is_status), "{writes:?}");
        assert_eq!(names(&space, "immediate").await?, old);

        pulse(&space, "pulse").await?;
        for name in NAMES {
            wait::until(&operator.servers(), name, "the restart is noted", |server| {
                server.annotations().get(annotations::LAST_PROCESSED_RESTART) == Some(&AT.to_owned())
            })
            .await?;
        }
        let rolled = pod_annotations(&operator.deployment("rolling").await?);
        assert_eq!(rolled.get(annotations::RESTARTED_AT), Some(&AT.to_owned()));
        let deleted = operator.recorder.since(mark).only(&Pattern::verb(Verb::Delete).of("pods"));
        let deleted: Vec<_> = deleted.iter().filter_map(|request| request.name.clone()).collect();
        assert_eq!(deleted, old);
        let kept = pod_annotations(&operator.deployment("immediate").await?);
        assert_eq!(kept.get(annotations::RESTARTED_AT), None);
        Ok(())
    })
    .await;
}

fn is_blocked(server: &MCPServer) -> bool {
    server.status.as_ref().and_then(|status| status.phase) == Some(MCPServerPhase::Failed)
}

async fn names(space: &Space, server: &str) -> Result<Vec<String>> {
    Ok(older_proxies(space, server, 1).await?.iter().map(ResourceExt::name_any).collect())
}
