//! An object that the API server accepts and we cannot read.

use k8s_openapi::api::core::v1::Event;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_testbed::{Pattern, Verb, in_namespace, wait};

use super::rules::{api_of, set};
use super::{Operator, minimal};
use crate::fixture::apply;

/// Longer than anything that a duration can be, and written as the schema wants it.
const TOO_LONG: &str = "9999999999h";

/// A server with a rate limit.
fn limited(period: &str) -> Value {
    let mut spec = minimal();
    spec["sessionStorage"] = json!({"provider": "redis", "address": "redis:6379"});
    spec["rateLimiting"] = json!({"shared": {"maxTokens": 5, "refillPeriod": period}});
    spec
}

fn body(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer", "metadata": {"name": name}, "spec": spec,
    })
}

#[tokio::test]
async fn a_server_that_cannot_be_read_is_told_of_and_stops_nobody() {
    in_namespace(async |space| {
        let mut operator = Operator::start(&space).await?;
        operator.server("before", minimal()).await?;
        // Our types could not even read the answer, so the server is made as any object.
        let objects = api_of(&space, &body("bad", &Value::Null));
        let mark = operator.recorder.mark();
        apply(&objects, "bad", "user", &body("bad", &limited(TOO_LONG))).await?;
        operator.recorder.seen(mark, &Pattern::verb(Verb::Create).of("events")).await?;
        let about = ListParams::default().fields("involvedObject.name=bad,reason=Malformed");
        let events = space.api::<Event>().list(&about).await?.items;
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].type_.as_deref(), Some("Warning"));
        let message = events[0].message.as_deref().unwrap_or_default();
        assert!(message.contains("spec.rateLimiting.shared.refillPeriod"), "{message}");
        assert!(message.contains(TOO_LONG), "{message}");

        // Others are made, changed and removed as if it were not there, also by an operator that finds it at its start.
        for round in ["one", "two"] {
            operator.edit("before", json!({"spec": {"args": [round]}})).await?;
            operator.server(round, minimal()).await?;
            operator.servers().delete(round, &DeleteParams::default()).await?;
            wait::gone(&operator.servers(), round).await?;
            if round == "one" {
                operator.subject.restart().await?;
            }
        }
        // It is left alone.
        let bad = objects.get("bad").await?;
        assert!(bad.finalizers().is_empty() && bad.data.get("status").is_none(), "{bad:?}");
        let log = operator.recorder.log().writes();
        assert!(log.iter().all(|write| write.name.as_deref() != Some("bad")), "{log}");

        // Mended, it is like any other.
        set(&(objects, "bad".to_owned()), "/spec/rateLimiting/shared/refillPeriod", &json!("1m")).await?;
        operator.settled("bad", Some(2)).await?;
        operator.deployment("bad").await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_server_that_has_become_unreadable_keeps_its_children() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", limited("1m")).await?;
        let before = operator.children().await?;
        let place = (api_of(&space, &body("s", &Value::Null)), "s".to_owned());
        let mark = operator.recorder.mark();
        set(&place, "/spec/rateLimiting/shared/refillPeriod", &json!(TOO_LONG)).await?;
        set(&place, "/spec/image", &json!("localhost/server:2")).await?;
        operator.recorder.seen(mark, &Pattern::verb(Verb::Create).of("events")).await?;
        operator.outlast("unreadable").await?;
        assert!(operator.writes(mark).is_empty(), "{:?}", operator.writes(mark));

        set(&place, "/spec/rateLimiting/shared/refillPeriod", &json!("1m")).await?;
        operator.settled("s", Some(4)).await?;
        let after = operator.children().await?;
        let changed = before.changes(&after);
        assert!(changed.contains("ConfigMap/s-runconfig data[runconfig.json].image"), "{changed:?}");
        Ok(())
    })
    .await;
}

/// Whoever wants to be rid of it does not have to mend it first.
#[tokio::test]
async fn a_server_that_has_become_unreadable_can_be_deleted() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        operator.server("s", limited("1m")).await?;
        let place = (api_of(&space, &body("s", &Value::Null)), "s".to_owned());
        set(&place, "/spec/rateLimiting/shared/refillPeriod", &json!(TOO_LONG)).await?;
        place.0.delete("s", &DeleteParams::default()).await?;
        wait::gone(&place.0, "s").await
    })
    .await;
}
