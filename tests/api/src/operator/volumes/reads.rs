//! What a pass reads.

use anyhow::Result;
use serde_json::json;
use thv_testbed::{Exchange, Pattern, Verb, in_namespace};

use super::super::rules::resource_of;
use super::super::shift::Pods;
use super::super::stage::{Stage, manifest};
use super::{TEMPLATED, VIRTUAL_SERVER, everything, with_fields};

/// Edits the object `s`, and returns what the pass over it has read, by name. Everything was read before the first write.
async fn reads(stage: &Stage, pods: &Pods, spec: serde_json::Value) -> Result<Vec<String>> {
    stage.calm().await?;
    let mark = stage.operator.recorder.mark();
    stage.edit(pods.kind, "s", spec).await?;
    let plural = resource_of(&manifest(pods.kind, "s", json!({}))).plural;
    let status = Pattern::verb(Verb::Apply).of(&plural).named("s").subresource("status");
    // The pass ends with the status.
    let end = stage.operator.recorder.seen(mark, &status).await?.number;
    let log = stage.operator.recorder.since(mark);
    let pass: Vec<&Exchange> = log.iter().filter(|exchange| exchange.number <= end).collect();
    let first_write = pass.iter().find(|exchange| exchange.verb.is_write()).map(|write| write.number);
    let reads: Vec<_> =
        pass.iter().filter(|exchange| matches!(exchange.verb, Verb::Get | Verb::List)).collect();
    assert!(reads.iter().all(|read| Some(read.number) < first_write), "{}: {log}", pods.kind);
    let mut names: Vec<String> = reads
        .iter()
        .map(|read| format!("{} {}", read.resource, read.name.as_deref().unwrap_or("all")))
        .collect();
    names.sort_unstable();
    Ok(names)
}

#[tokio::test]
async fn s4_06_a_pass_over_a_virtual_server_reads_everything_once_and_before_the_first_write() {
    in_namespace(async |space| {
        let stage = everything(&space).await?;
        let edit = json!({"config": {"operational": {"logLevel": "debug"}}});
        assert_eq!(reads(&stage, &VIRTUAL_SERVER, edit).await?, ["configmaps ca-v1", "secrets keys-v1"]);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_06_s4_11_a_pass_over_an_object_that_refers_to_nothing_reads_nothing() {
    for pods in &TEMPLATED {
        in_namespace(async |space| {
            let stage = with_fields(&space, pods, &json!({})).await?;
            let edit = json!({"podTemplateSpec": {"spec": {"priorityClassName": "system-cluster-critical"}}});
            assert_eq!(reads(&stage, pods, edit).await?, Vec::<String>::new(), "{}", pods.kind);
            Ok(())
        })
        .await;
    }
}
