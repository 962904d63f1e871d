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
    assert!(plan.doomed_pods.is_empty());
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
        assert_eq!(scene.plan(), before, "{request} {last:?}");
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
    scene.with_pods(&[PodHealth::Running, PodHealth::Terminating, PodHealth::Pending]);
    let before = scene.settle();
    scene.annotate(STRATEGY, "immediate");
    scene.annotate(RESTARTED_AT, "2026-11-15T09:00:00Z");
    let plan = scene.plan();
    let doomed = |pod: &str, uid: &str| (pod.to_owned(), uid.to_owned());
    assert_eq!(plan.doomed_pods, [doomed("web-0", "pod-0"), doomed("web-2", "pod-2")]);
    assert_eq!(plan.annotations.len(), 1);
    assert_eq!(plan.children, before.children);
    assert!(scene.settle().doomed_pods.is_empty());
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
fn a_rolling_restart_waits_until_pods_can_be_applied() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.set("resources", json!({"limits": {"cpu": "lots"}}));
    scene.annotate(RESTARTED_AT, "2026-11-15T09:00:00Z");
    let plan = scene.plan();
    assert_eq!(plan.children, Children::Keep);
    assert!(plan.annotations.is_empty());
    scene.set("resources", json!({}));
    assert_eq!(on_pods(&scene.plan()).as_deref(), Some("2026-11-15T09:00:00Z"));
}
