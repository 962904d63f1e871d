//! Restarts at once, and rollouts that nobody asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Result;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;
use thv_api::kinds::MCPServer;
use thv_api::names::annotations;
use thv_testbed::{Exchange, Mark, Moment, Pattern, RequestLog, Verb, in_namespace, wait};

use super::pods::{count_of_proxies, older_proxies, proxies};
use super::program::Program;
use super::rollout::patch;
use super::scene::{NAME, Scene};
use super::{Operator, minimal};

fn uids(pods: &[Pod]) -> BTreeSet<String> {
    pods.iter().filter_map(ResourceExt::uid).collect()
}

#[tokio::test]
async fn an_immediate_restart_whose_note_conflicts_deletes_every_old_pod_once_and_no_replacement() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"replicas": 2})).await?;
        let old = uids(&older_proxies(&space, NAME, 2).await?);
        scene.calm().await?;

        let mark = scene.operator.recorder.mark();
        let note = Pattern::verb(Verb::MergePatch).of("mcpservers").named(NAME);
        let mut noting = scene.operator.recorder.breakpoint(note.clone(), 0, Moment::Before);
        // The text is old: it is the clock of the API server that tells when the request was made.
        let at = "2026-01-01T00:00:00Z".to_owned();
        let request = json!({annotations::RESTARTED_AT: at, annotations::RESTART_STRATEGY: "immediate"});
        patch(&scene.operator.servers(), NAME, json!({"metadata": {"annotations": request}})).await?;
        noting.hit().await?;
        let new = proxies(&space, NAME, |pods| pods.len() == 2 && uids(pods).is_disjoint(&old)).await?;
        // Somebody else is faster.
        let somebody = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
        let touch = Patch::Merge(json!({"metadata": {"labels": {"touched": "yes"}}}));
        scene.operator.servers().patch(NAME, &somebody, &touch).await?;
        noting.release();
        wait::until(&scene.operator.servers(), NAME, "the restart is noted", |server| {
            server.annotations().get(annotations::LAST_PROCESSED_RESTART) == Some(&at)
        })
        .await?;
        scene.calm().await?;

        let log = scene.operator.recorder.since(mark);
        let notes: Vec<_> = log.only(&note).iter().map(|write| write.answered).collect();
        assert_eq!(notes, [Some(409), Some(200)]);
        let deleted = log.only(&Pattern::verb(Verb::Delete).of("pods"));
        let uid = |request: &Exchange| {
            request.body.as_ref()?.pointer("/preconditions/uid")?.as_str().map(str::to_owned)
        };
        let deleted: Vec<_> = deleted.iter().filter_map(uid).collect();
        assert_eq!((deleted.len(), deleted.into_iter().collect()), (2, old));
        assert_eq!(uids(&count_of_proxies(&space, 2).await?), uids(&new));
        Ok(())
    })
    .await;
}

/// Ten start at once, and the others wait for their turns.
const SERVERS: usize = 12;
/// Between two turns, at the rate below.
const TURN: Duration = Duration::from_secs(5);
const RATE: &str = "0.2";

#[tokio::test]
async fn rollouts_after_an_upgrade_take_turns_and_an_edit_does_not_wait_for_one() {
    in_namespace(async |space| {
        Program::Shipped.prepare(&space).await?;
        let mut operator = Operator::run(Program::Shipped, &space, &BTreeMap::new(), &[]).await?;
        let names: BTreeSet<String> = (1..=SERVERS).map(|number| format!("s-{number}")).collect();
        let made = names.iter().map(|name| operator.server(name, minimal()));
        futures::future::try_join_all(made).await?;
        operator.subject.kill().await?;

        let image = BTreeMap::from([("TOOLHIVE_RUNNER_IMAGE", "localhost/runner:2")]);
        let upgraded =
            Operator::run(Program::Shipped, &space, &image, &["--max-rollouts-per-second", RATE]).await?;
        let first = starts(&upgraded, 10).await?;
        let waiting: Vec<_> = names.iter().filter(|name| !first.contains_key(*name)).collect();
        assert_eq!(waiting.len(), 2, "{first:?}");
        // Who waits is looked after all the same.
        let services = space.api::<Service>();
        let service = format!("mcp-{}-proxy", waiting[1]);
        let old = services.get(&service).await?.uid();
        services.delete(&service, &DeleteParams::default()).await?;
        wait::until(&services, &service, "it is back", |service| service.uid() != old).await?;
        let waits = |server: &MCPServer| {
            let message = server.status.as_ref().and_then(|status| status.message.as_deref());
            message.is_some_and(|message| message.ends_with("a new revision waits for its turn"))
        };
        wait::until(&upgraded.servers(), waiting[1], "it says so", waits).await?;
        assert!(!starts(&upgraded, 10).await?.contains_key(waiting[1]));
        // A user does not have to wait.
        upgraded.edit(waiting[0], json!({"spec": {"args": ["edited"]}})).await?;
        let then = starts(&upgraded, 11).await?;
        assert!(then.contains_key(waiting[0]) && !then.contains_key(waiting[1]), "{then:?}");
        let all = starts(&upgraded, SERVERS).await?;
        let begin = first.values().min().unwrap();
        let wait = all[waiting[1]].duration_since(*begin);
        assert!(wait >= TURN, "{} has waited {wait:?}", waiting[1]);
        for name in &names {
            let args = json!(upgraded.deployment(name).await?.spec.unwrap().template.spec);
            assert!(args.to_string().contains("localhost/runner:2"), "{name}: {args}");
        }
        Ok(())
    })
    .await;
}

/// Waits until this many servers have got a new revision, and returns when each of them did.
async fn starts(operator: &Operator, count: usize) -> Result<BTreeMap<String, std::time::Instant>> {
    let applies = Pattern::verb(Verb::Apply).of("deployments").whole();
    let starts = |log: &RequestLog| {
        let mut found = BTreeMap::new();
        for write in log.iter().filter(|write| write.answered == Some(200)) {
            found.entry(write.name.clone().unwrap_or_default()).or_insert(write.at);
        }
        (found.len() >= count).then_some(found)
    };
    operator.recorder.until(Mark::default(), &applies, starts).await
}
