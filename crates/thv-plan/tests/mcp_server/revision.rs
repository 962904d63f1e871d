//! When a revision is minted, and which stamp pods get.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use thv_plan::{ChildKind, Decision, LiveStatefulSet, Rollout, Token, hex};

use crate::support::{Scene, child, deployment, identity, template};

fn stamp(plan: &thv_plan::Plan<thv_api::kinds::MCPServerSpec>) -> String {
    let annotations = &template(plan)["metadata"]["annotations"];
    annotations["toolhive.stacklok.dev/mcpserver-generation"].as_str().unwrap().to_owned()
}

#[test]
fn a_new_server_gets_its_first_revision_and_its_generation() {
    let plan = Scene::of(json!({})).plan();
    let Some(Decision::Mint(revision)) = &plan.revision else { panic!("{:?}", plan.revision) };
    assert_eq!(revision.number, 101, "above the resourceVersion");
    assert_eq!(stamp(&plan), "1");
    let on_deployment = &deployment(&plan)["metadata"]["annotations"]["toolhive.stacklok.dev/revision"];
    assert_eq!(on_deployment.as_str().unwrap(), revision.to_string());
}

#[test]
fn the_checksum_is_that_of_the_file() {
    let plan = Scene::of(json!({})).plan();
    let config = child(&plan, ChildKind::ConfigMap, "web-runconfig");
    let text = config["data"]["runconfig.json"].as_str().unwrap();
    let expected = hex(&Sha256::digest(text.as_bytes()));
    let annotations = &template(&plan)["metadata"]["annotations"];
    assert_eq!(annotations["toolhive.stacklok.dev/runconfig-checksum"], expected);
    assert_eq!(config["metadata"]["annotations"]["toolhive.stacklok.dev/content-checksum"], expected);
    let document: Value = serde_json::from_str(text).unwrap();
    assert_eq!(document["mcpserver_generation"], 1, "the file has the same stamp as the pods");
}

#[test]
fn once_applied_it_stays() {
    let mut scene = Scene::of(json!({}));
    let first = scene.plan();
    let settled = scene.settle();
    assert_eq!(settled.revision, first.revision.map(|decision| Decision::Keep(decision.revision().clone())));
    assert_eq!(settled.children, first.children);
    scene.later("2026-11-16T00:00:00Z");
    assert_eq!(scene.plan(), settled, "time alone changes nothing");
}

#[test]
fn an_edit_that_changes_pods_moves_stamp_and_revision() {
    let mut scene = Scene::of(json!({}));
    let before = scene.settle();
    scene.set("image", json!("ghcr.io/example/web:2"));
    let after = scene.plan();
    assert!(matches!(after.revision, Some(Decision::Mint(_))));
    assert_eq!(stamp(&after), "2");
    let number = |plan: &thv_plan::Plan<_>| plan.revision.as_ref().unwrap().revision().number;
    assert!(number(&after) > number(&before));
}

#[test]
fn an_edit_that_only_the_configuration_sees_moves_them_too() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.set("env", json!([{"name": "A", "value": "1"}]));
    let after = scene.plan();
    assert!(matches!(after.revision, Some(Decision::Mint(_))));
    assert_eq!(stamp(&after), "2");
}

#[test]
fn edits_that_no_pod_sees_roll_nothing() {
    let mut scene = Scene::of(json!({"transport": "sse", "replicas": 1}));
    let before = scene.settle();
    let edits = [
        ("replicas", json!(3)),
        ("sessionAffinity", json!("None")),
        ("resourceOverrides", json!({"proxyDeployment": {"labels": {"a": "b"}, "annotations": {"c": "d"}}})),
    ];
    for (field, value) in edits {
        scene.set(field, value);
        let after = scene.settle();
        assert_eq!(after.revision, before.revision, "{field}");
        assert_eq!(template(&after), template(&before), "{field}");
        let config = |plan| child(plan, ChildKind::ConfigMap, "web-runconfig").clone();
        assert_eq!(config(&after), config(&before), "{field}");
    }
    scene.set("image", json!("other"));
    assert_eq!(stamp(&scene.plan()), "5", "the next edit that pods see has its own generation");
}

#[test]
fn what_is_referred_to_and_the_operator_itself_roll_pods_as_well() {
    let mut scene = Scene::example("full.yaml", "web");
    let before = scene.settle();
    assert!(matches!(before.revision, Some(Decision::Keep(_))));
    let mut other = scene.clone();
    other.settings().runner_image = "runner:2".to_owned();
    assert!(matches!(other.plan().revision, Some(Decision::Mint(_))));
    scene.refer(json!({
        "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPToolConfig", "metadata": {"name": "few-tools"},
        "spec": {"toolsFilter": ["echo"]},
    }));
    let after = scene.plan();
    assert!(matches!(after.revision, Some(Decision::Mint(_))));
    assert_eq!(stamp(&after), "1", "the generation has not moved");
}

#[test]
fn a_lost_annotation_rolls_nothing() {
    let mut scene = Scene::of(json!({}));
    let before = scene.settle();
    scene.set("replicas", json!(1));
    scene.settle();
    scene.owner().metadata.annotations = None;
    let after = scene.plan();
    assert_eq!(after.revision, before.revision);
    assert_eq!(template(&after), template(&before));
}

#[test]
fn a_crash_between_mint_and_apply_does_not_leave_the_old_stamp() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.set("image", json!("ghcr.io/example/web:2"));
    let minted = scene.plan().revision.unwrap().revision().clone();
    scene.annotate("toolhive.stacklok.dev/revision", &minted.to_string());
    let after = scene.plan();
    assert_eq!(after.revision, Some(Decision::Keep(minted)));
    assert_eq!(stamp(&after), "2");
}

#[test]
fn a_deployment_that_was_deleted_comes_back_under_its_revision() {
    let mut scene = Scene::of(json!({}));
    let before = scene.settle();
    scene.snapshot.live.proxy.deployment = None;
    let after = scene.plan();
    assert_eq!((after.revision, after.children), (before.revision, before.children));
}

#[test]
fn a_backend_of_a_later_revision_is_overtaken_and_that_of_another_server_is_not() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    let backend = |uid: &str| LiveStatefulSet {
        identity: identity("b"),
        applied: Some(Token { uid: uid.to_owned(), number: 5000 }),
        controller: None,
        replicas: 1,
        replicas_before_stop: None,
        newest: None,
        fixed: None,
        rollout: Rollout::default(),
    };
    scene.snapshot.live.backend = Some(backend("someone-else"));
    assert!(matches!(scene.plan().revision, Some(Decision::Keep(_))));
    scene.snapshot.live.backend = Some(backend(crate::support::UID));
    let Some(Decision::Mint(revision)) = scene.plan().revision else { panic!() };
    assert_eq!(revision.number, 5001);
}

#[test]
fn a_stamp_that_is_not_ours_becomes_the_generation_and_ours_never_goes_down() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.set("image", json!("ghcr.io/example/web:2"));
    scene.settle();
    scene.set("replicas", json!(2));
    assert_eq!(stamp(&scene.settle()), "2", "no pod sees that edit");
    for foreign in [None, Some(99), Some(0), Some(-1)] {
        let mut scene = scene.clone();
        scene.snapshot.live.proxy.deployment.as_mut().unwrap().stamp = foreign;
        assert_eq!(stamp(&scene.settle()), "3", "{foreign:?}");
        scene.set("image", json!("ghcr.io/example/web:3"));
        assert_eq!(stamp(&scene.settle()), "4", "{foreign:?}");
    }
}
