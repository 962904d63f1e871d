//! Restarts that users ask for.

use serde_json::json;
use thv_api::kinds::MCPServerSpec;
use thv_plan::{Children, Decision, Plan, PodHealth};

use crate::support::{Scene, template};

const RESTARTED_AT: &str = "mcpserver.toolhive.stacklok.dev/restarted-at";
const STRATEGY: &str = "mcpserver.toolhive.stacklok.dev/restart-strategy";
const LAST: &str = "mcpserver.toolhive.stacklok.dev/last-processed-restart";

fn on_pods(plan: &Plan<MCPServerSpec>) -> Option<String> {
    let annotations = &template(plan)["metadata"]["annotations"];
    annotations.get(RESTARTED_AT).map(|at| at.as_str().unwrap().to_owned())
}

#[test]
fn a_rolling_restart_changes_the_pods_once() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.annotate(RESTARTED_AT, "2026-11-15T11:00:00+01:00");
    let plan = scene.plan();
    assert_eq!(on_pods(&plan).as_deref(), Some("2026-11-15T11:00:00+01:00"));
    assert!(matches!(plan.revision, Some(Decision::Mint(_))), "new pods are a new revision");
    assert_eq!(plan.annotations.get(LAST).map(String::as_str), Some("2026-11-15T11:00:00+01:00"));
    assert!(plan.pods_to_delete.is_empty());
    let settled = scene.settle();
    assert_eq!(on_pods(&settled), on_pods(&plan), "losing the annotation would restart them again");
    assert!(settled.annotations.is_empty());
}

#[test]
fn a_crash_before_it_is_noted_restarts_nothing_twice() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.annotate(RESTARTED_AT, "2026-11-15T09:00:00Z");
    let first = scene.plan();
    scene.carry_out(&first);
    scene.owner().metadata.annotations.as_mut().unwrap().remove(LAST);
    scene.later("2026-11-15T12:00:00Z");
    let again = scene.plan();
    assert_eq!(again.children, first.children);
    assert_eq!(again.annotations, first.annotations);
}

#[test]
fn requests_that_are_done_or_old_do_nothing() {
    for (request, last) in [
        ("2026-11-15T09:00:00Z", Some("2026-11-15T09:00:00Z")),
        ("2026-11-15T09:00:00Z", Some("2026-11-15T10:00:00Z")),
        ("2026-11-15T09:00:00Z", Some("2026-11-15T10:00:00+01:00")),
    ] {
        let mut scene = Scene::of(json!({}));
        let before = scene.settle();
        scene.annotate(RESTARTED_AT, request);
        if let Some(last) = last {
            scene.annotate(LAST, last);
        }
        let plan = scene.plan();
        assert_eq!(
            (&plan.children, &plan.annotations),
            (&before.children, &before.annotations),
            "{request} {last:?}"
        );
        let told = crate::support::whole_condition(&plan.status, "SettingsIgnored").map(|told| &told.message);
        let is_earlier = last == Some("2026-11-15T10:00:00Z");
        assert_eq!(told.is_some_and(|told| told.contains("before the last restart")), is_earlier, "{told:?}");
    }
}

#[test]
fn a_request_that_is_not_understood_does_nothing_and_is_told() {
    let mut scene = Scene::of(json!({}));
    let before = scene.settle();
    scene.annotate(RESTARTED_AT, "soon");
    let plan = scene.plan();
    assert_eq!((&plan.children, &plan.annotations), (&before.children, &before.annotations));
    let told = crate::support::whole_condition(&plan.status, "SettingsIgnored").unwrap();
    assert!(told.message.contains("soon"), "{}", told.message);
}

#[test]
fn an_immediate_restart_deletes_the_pods() {
    let mut scene = Scene::of(json!({}));
    scene.with_pods(&[PodHealth::Ready, PodHealth::Terminating, PodHealth::Pending]);
    let before = scene.settle();
    scene.annotate(STRATEGY, "immediate");
    scene.annotate(RESTARTED_AT, "2026-11-15T09:00:00Z");
    let plan = scene.plan();
    let pod = |pod: &str, uid: &str| (pod.to_owned(), uid.to_owned());
    assert_eq!(plan.pods_to_delete, [pod("web-0", "pod-0"), pod("web-2", "pod-2")]);
    assert_eq!(plan.annotations.len(), 1);
    assert_eq!(plan.children, before.children);
    assert!(scene.settle().pods_to_delete.is_empty());
}

#[test]
fn pods_that_are_not_there_yet_need_no_restart() {
    let mut scene = Scene::of(json!({}));
    scene.annotate(RESTARTED_AT, "2026-11-15T09:00:00Z");
    let plan = scene.plan();
    assert_eq!(on_pods(&plan), None);
    assert_eq!(plan.annotations.len(), 1, "it is done");
}

#[test]
fn an_immediate_restart_that_could_not_be_noted_leaves_the_replacements_alone() {
    let mut scene = Scene::of(json!({}));
    scene.with_pods(&[PodHealth::Ready, PodHealth::Ready]);
    scene.settle();
    scene.annotate(STRATEGY, "immediate");
    // The user's clock is an hour ahead; that of the API server counts.
    scene.annotate(RESTARTED_AT, "2026-11-15T10:00:00Z");
    scene.snapshot.requested.insert(RESTARTED_AT.to_owned(), "2026-11-15T09:00:00Z".parse().unwrap());
    assert_eq!(scene.plan().pods_to_delete.len(), 2);
    scene.snapshot.live.proxy.pods[0].created = "2026-11-15T09:00:01Z".parse().unwrap();
    let left: Vec<String> = scene.plan().pods_to_delete.into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, ["web-1"]);
}

#[test]
fn restarts_of_either_kind_wait_until_pods_can_be_applied_and_the_status_says_so() {
    for strategy in ["rolling", "immediate"] {
        let mut scene = Scene::of(json!({}));
        scene.with_pods(&[PodHealth::Ready]);
        scene.settle();
        scene.set("resources", json!({"limits": {"cpu": "lots"}}));
        scene.annotate(STRATEGY, strategy);
        scene.annotate(RESTARTED_AT, "2026-11-15T09:00:00Z");
        let plan = scene.plan();
        assert_eq!(plan.children, Children::Keep);
        assert!(plan.annotations.is_empty() && plan.pods_to_delete.is_empty(), "{strategy}");
        let message = plan.status.message.unwrap();
        assert!(message.ends_with("the restart that was asked for waits for that"), "{message}");
        scene.set("resources", json!({}));
        let plan = scene.plan();
        assert_eq!(plan.annotations.len(), 1, "{strategy}");
        assert_eq!(plan.pods_to_delete.is_empty(), strategy == "rolling");
        assert_eq!(on_pods(&plan).is_some(), strategy == "rolling");
    }
}
