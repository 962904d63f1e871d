//! An object that the API server accepts and we cannot read.

use k8s_openapi::api::core::v1::Event;
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, ListParams};
use serde_json::{Value, json};
use thv_api::kinds::MCPServer;
use thv_testbed::{Exchange, Fault, Pattern, Verb, in_namespace, wait};

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

fn is_status(write: &Exchange) -> bool {
    write.resource == "mcpservers" && write.subresource.as_deref() == Some("status")
}

/// The generation that the status of an object is about.
fn observed(object: &DynamicObject) -> Option<i64> {
    object.data.pointer("/status/observedGeneration")?.as_i64()
}

/// Fails the test unless the status says what is wrong with the object as it is now.
#[track_caller]
fn assert_told(object: &DynamicObject, name: &str) {
    assert_eq!(observed(object), object.metadata.generation, "{name}");
    let status = &object.data["status"];
    assert_eq!(status["phase"], "Failed", "{status}");
    for kind in ["Ready", "SpecValid"] {
        let mut all = status["conditions"].as_array().unwrap().iter();
        let condition = all.find(|condition| condition["type"] == kind).unwrap();
        assert_eq!(condition["status"], "False", "{condition}");
        let message = condition["message"].as_str().unwrap();
        assert!(message.contains("spec.rateLimiting.shared.refillPeriod"), "{message}");
    }
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
        let about = ListParams::default().fields("involvedObject.name=bad");
        let events = space.api::<Event>().list(&about).await?.items;
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].type_.as_deref(), Some("Warning"));
        let message = events[0].message.as_deref().unwrap_or_default();
        assert!(message.contains("spec.rateLimiting.shared.refillPeriod"), "{message}");
        assert!(message.contains(TOO_LONG), "{message}");
        assert_told(&objects.get("bad").await?, "bad");

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
        // It is left alone, but for being told of once, also by the operator that was started later.
        assert!(objects.get("bad").await?.finalizers().is_empty());
        let log = operator.recorder.log().writes().only(&Pattern::any().named("bad"));
        assert!(log.len() == 1 && log.iter().all(is_status), "{log}");

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
        wait::until(&place.0, "s", "both edits are told of", |object| observed(object) == Some(3)).await?;
        operator.outlast("unreadable").await?;
        assert_told(&place.0.get("s").await?, "s");
        let writes = operator.writes(mark);
        assert!(!writes.is_empty() && writes.iter().all(is_status), "{writes:?}");

        set(&place, "/spec/rateLimiting/shared/refillPeriod", &json!("1m")).await?;
        operator.settled("s", Some(4)).await?;
        let after = operator.children().await?;
        let changed = before.changes(&after);
        assert!(changed.contains("ConfigMap/s-runconfig data[runconfig.json].image"), "{changed:?}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_malformed_server_whose_status_is_refused_is_told_of_by_an_event_instead() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let objects = api_of(&space, &body("bad", &Value::Null));
        // A failure that passes is no refusal: the status says it a moment later.
        for (name, code, events) in [("refused", 422, 1), ("unlucky", 500, 0)] {
            let status = Pattern::verb(Verb::Apply).of("mcpservers").named(name).subresource("status");
            operator.recorder.fail(status.clone(), 1, Fault::Answer(code));
            let mark = operator.recorder.mark();
            apply(&objects, name, "user", &body(name, &limited(TOO_LONG))).await?;
            operator.recorder.seen(mark, &Pattern::verb(Verb::Create).of("events")).await?;
            operator.outlast(name).await?;
            let about = ListParams::default().fields(&format!("involvedObject.name={name},reason=Malformed"));
            let told = space.api::<Event>().list(&about).await?.items;
            assert_eq!(told.len(), events, "{told:?}");
            let tries = operator.recorder.since(mark).only(&status);
            let is_told = objects.get(name).await?.data.get("status").is_some();
            assert_eq!((tries.len(), is_told), (2 - events, events == 0), "{tries}");
        }
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
