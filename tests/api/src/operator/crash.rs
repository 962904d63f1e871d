//! A crash after any write leaves a state that the next start mends.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_testbed::{Moment, Pattern, Recorder, Space, Verb, in_namespace, wait};

use super::{Operator, minimal};
use crate::fixture::apply;

/// What is done to a server named `s`.
#[derive(Clone, Copy, Debug)]
enum Workload {
    Create,
    Update,
    Delete,
}

/// How often each kind of object was created and deleted, by successful writes of the operator.
type Counts = BTreeMap<(Verb, String), usize>;

#[tokio::test]
async fn g1_g2_a_crash_after_the_nth_creating_write_ends_in_the_same_state() {
    every_crash(Workload::Create).await;
}

#[tokio::test]
async fn g1_g2_a_crash_after_the_nth_updating_write_ends_in_the_same_state() {
    every_crash(Workload::Update).await;
}

#[tokio::test]
async fn g1_g4_a_crash_after_the_nth_deleting_write_ends_in_the_same_state() {
    every_crash(Workload::Delete).await;
}

/// Runs a workload undisturbed, and then once for each of its writes with a crash after that write.
async fn every_crash(workload: Workload) {
    let (mut end, mut counts, mut writes) = (Value::Null, Counts::new(), 0);
    in_namespace(async |space| {
        let mut operator = Operator::start(&space).await?;
        (end, counts, writes) = run(&space, &mut operator, workload, None).await?;
        Ok(())
    })
    .await;
    assert!(writes > 0, "the undisturbed run of {workload:?} wrote nothing");
    for crash in 0..writes {
        in_namespace(async |space| {
            let mut operator = Operator::start(&space).await?;
            let (end_after, counts_after, _) = run(&space, &mut operator, workload, Some(crash)).await?;
            assert_eq!(end_after, end, "{workload:?}, crash after write {crash}");
            assert_eq!(counts_after, counts, "{workload:?}, crash after write {crash}");
            Ok(())
        })
        .await;
    }
}

/// The end state, how often objects were created and deleted on the way, and how many writes there were.
async fn run(
    space: &Space,
    operator: &mut Operator,
    workload: Workload,
    crash: Option<usize>,
) -> anyhow::Result<(Value, Counts, usize)> {
    if !matches!(workload, Workload::Create) {
        operator.server("s", minimal()).await?;
    }
    let mark = operator.recorder.mark();
    let breakpoint =
        crash.map(|before| operator.recorder.breakpoint(Pattern::write(), before, Moment::AfterCommit));
    match workload {
        Workload::Create => {
            let body = json!({
                "apiVersion": thv_api::kinds::MCPServer::api_version_text(), "kind": "MCPServer",
                "metadata": {"name": "s"}, "spec": minimal(),
            });
            apply(&operator.servers(), "s", "user", &body).await?;
        }
        Workload::Update => {
            let edit = Patch::Merge(json!({"spec": {"image": "localhost/server:2", "replicas": 2}}));
            operator.servers().patch("s", &PatchParams::default(), &edit).await?;
        }
        Workload::Delete => {
            operator.servers().delete("s", &DeleteParams::default()).await?;
        }
    }
    if let Some((before, mut breakpoint)) = crash.zip(breakpoint) {
        let is_there = tokio::select! {
            biased;
            hit = breakpoint.hit() => hit.map(|_| true)?,
            done = done(space, operator, workload) => {
                done?;
                operator.recorder.since(mark).writes().len() > before
            }
        };
        if is_there {
            operator.subject.kill().await?;
            operator.subject.restart().await?;
        }
        // A run that met no conflict has fewer writes than one that did, and then there is nothing to crash after.
        drop(breakpoint);
    }
    done(space, operator, workload).await?;
    let end = match workload {
        Workload::Create | Workload::Update => {
            operator.server("probe", minimal()).await?;
            let spec = space.api::<Deployment>().get("s").await?.spec.unwrap();
            let container = &spec.template.spec.as_ref().unwrap().containers[0];
            json!({"args": container.args, "replicas": spec.replicas})
        }
        Workload::Delete => Value::Null,
    };
    let (counts, writes) = counted(&operator.recorder, mark);
    Ok((end, counts, writes))
}

/// Waits until the operator has done what there is to do.
async fn done(space: &Space, operator: &Operator, workload: Workload) -> anyhow::Result<()> {
    let generation = match workload {
        Workload::Create => 1,
        Workload::Update => 2,
        Workload::Delete => {
            wait::gone(&operator.servers(), "s").await?;
            return wait::gone(&space.api::<Deployment>(), "s").await;
        }
    };
    wait::until(&operator.servers(), "s", "the operator has dealt with it", |server| {
        let observed = server.status.as_ref().and_then(|status| status.observed_generation);
        observed >= Some(generation)
    })
    .await?;
    Ok(())
}

/// Creations show as applies that were answered with 201.
fn counted(recorder: &Recorder, mark: thv_testbed::Mark) -> (Counts, usize) {
    let mut counts = Counts::new();
    let mut writes = 0;
    for write in recorder.since(mark).writes().iter() {
        let is_probe = write.name.as_deref().is_some_and(|name| name.contains("probe"));
        if is_probe || write.resource == "events" {
            continue;
        }
        writes += 1;
        let counts_as = match (write.verb, write.answered) {
            (Verb::Apply, Some(201)) => Verb::Create,
            (Verb::Delete, Some(200)) => Verb::Delete,
            _ => continue,
        };
        let name = format!("{} {}", write.resource, write.name.clone().unwrap_or_default());
        *counts.entry((counts_as, name)).or_default() += 1;
    }
    (counts, writes)
}
