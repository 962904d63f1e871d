//! What is particular to an `MCPRegistry`.

use serde_json::{Value, json};
use thv_api::kinds::{MCPRegistryPhase, MCPRegistrySpec};
use thv_api::names::annotations;
use thv_plan::{ChildKind, Children, Disruption, Plan, PodHealth};

use crate::support::{
    Scene, child, children, condition, container, differences, failing, whole_condition, workload,
};

fn scene(fields: Value) -> Scene<MCPRegistrySpec> {
    let mut spec = json!({"configYAML": "sources: []\n"});
    spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Scene::of("shelf", &spec)
}

fn hash(plan: &Plan<MCPRegistrySpec>) -> String {
    let template = &workload(children(plan))["spec"]["template"];
    template["metadata"]["annotations"][annotations::CONFIG_HASH].as_str().unwrap().to_owned()
}

#[test]
fn the_configuration_is_handed_over_as_it_was_written_and_a_change_rolls_the_pods() {
    let mut scene = scene(json!({}));
    let before = scene.settle();
    let text = "# kept\nsources: [\n";
    scene.edit(|spec| spec["configYAML"] = json!(text));
    let after = scene.settle();
    assert_eq!(child(&after, ChildKind::ConfigMap)["data"], json!({"config.yaml": text}));
    assert_ne!(hash(&before), hash(&after));
    let changed = differences(&before, &after);
    let expected = ["ConfigMap shelf-registry-server-config.data.config.yaml", "new revision"];
    assert_eq!(changed.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn the_password_file_is_copied_with_the_rights_that_postgresql_asks_for() {
    let plan = scene(json!({"pgpassSecretRef": {"name": "pg", "key": "k", "optional": true}})).plan();
    let pod = &workload(children(&plan))["spec"]["template"]["spec"];
    let setup = &pod["initContainers"][0];
    assert_eq!(setup["name"], "setup-pgpass");
    assert!(setup["command"][2].as_str().unwrap().ends_with("chmod 0600 /pgpass/.pgpass"), "{setup}");
    let secret = pod["volumes"].as_array().unwrap().iter().find(|volume| volume["name"] == "pgpass-secret");
    let expected = json!({
        "secretName": "pg", "items": [{"key": "k", "path": ".pgpass"}], "defaultMode": 420, "optional": true,
    });
    assert_eq!(secret.unwrap()["secret"], expected);
    let server = container(&plan, "registry-api");
    assert_eq!(server["env"], json!([{"name": "PGPASSFILE", "value": "/home/appuser/.pgpass"}]));
    assert_eq!(server["volumeMounts"][1]["subPath"], ".pgpass");
}

#[test]
fn one_volume_can_be_mounted_in_two_places() {
    let plan = scene(json!({
        "volumes": [{"name": "data", "emptyDir": {}}],
        "volumeMounts": [{"name": "data", "mountPath": "/a"}, {"name": "data", "mountPath": "/b"}],
    }))
    .plan();
    let mounts = container(&plan, "registry-api")["volumeMounts"].as_array().unwrap();
    assert_eq!(mounts.len(), 3);
}

#[test]
fn a_template_is_merged_the_way_kubernetes_merges() {
    let plan = scene(json!({
        "imagePullSecrets": [{"name": "one"}],
        "pgpassSecretRef": {"name": "pg", "key": "k"},
        "podTemplateSpec": {
            "metadata": {"labels": {"app.kubernetes.io/name": "mine", "team": "a"}},
            "spec": {
                "serviceAccountName": "mine",
                "imagePullSecrets": [{"name": "two"}],
                "initContainers": [{"name": "setup-pgpass", "image": "localhost/busybox:1"}],
                "containers": [{"name": "registry-api", "image": "localhost/registry:1"}, {"name": "side", "image": "s"}],
            },
        },
    }))
    .plan();
    let template = &workload(children(&plan))["spec"]["template"];
    let pod = &template["spec"];
    assert_eq!(pod["serviceAccountName"], "mine");
    assert_eq!(pod["imagePullSecrets"].as_array().unwrap().len(), 2, "{}", pod["imagePullSecrets"]);
    assert_eq!(pod["initContainers"][0]["image"], "localhost/busybox:1");
    assert!(pod["initContainers"][0]["command"].is_array());
    let server = container(&plan, "registry-api");
    assert_eq!((&server["image"], &server["args"][0]), (&json!("localhost/registry:1"), &json!("serve")));
    assert_eq!(template["metadata"]["labels"]["app.kubernetes.io/name"], "shelf-api");
    assert_eq!(template["metadata"]["labels"]["team"], "a");
    assert_eq!(condition(&plan, "OverridesAccepted"), Some(("False", "ReservedNamesIgnored")));
}

#[test]
fn what_the_server_needs_cannot_be_displaced_by_a_template() {
    let displaced = |template: Value, place: &str| {
        let plan = scene(json!({"podTemplateSpec": template})).plan();
        assert_eq!(plan.children, Children::Keep, "{place}");
        let told = whole_condition(&plan, "PodTemplateValid").unwrap();
        assert!(told.status == "False" && told.message.starts_with(place), "{place}: {}", told.message);
        assert_eq!(condition(&plan, "Ready"), Some(("False", "ValidationFailed")));
    };
    let volume = json!([{"name": "registry-server-config", "configMap": null, "emptyDir": {}}]);
    displaced(
        json!({"spec": {"volumes": volume}}),
        "spec.podTemplateSpec.spec.volumes[registry-server-config]",
    );
    let mount = json!([{"name": "other", "mountPath": "/config"}]);
    displaced(
        json!({"spec": {"containers": [{"name": "registry-api", "volumeMounts": mount}]}}),
        "spec.podTemplateSpec.spec.containers[registry-api].volumeMounts[/config]",
    );
    let replaced = json!([{"$patch": "replace"}]);
    displaced(
        json!({"spec": {"volumes": replaced}}),
        "spec.podTemplateSpec.spec.volumes[registry-server-config]",
    );
}

#[test]
fn a_bad_spec_leaves_what_runs_as_it_was() {
    let mut scene = scene(json!({}));
    let before = scene.settle();
    scene.edit(|spec| spec["volumes"] = json!([{"name": "registry-server-config", "emptyDir": {}}]));
    let plan = scene.plan();
    assert_eq!(plan.children, Children::Keep);
    assert_eq!(plan.status.phase, Some(MCPRegistryPhase::Failed));
    assert_eq!(plan.status.url, before.status.url);
    assert_eq!(plan.status.observed_generation, Some(2));
    assert_eq!(condition(&plan, "SpecValid"), Some(("False", "InvalidSpec")));
    assert_eq!(condition(&plan, "Ready"), Some(("False", "ValidationFailed")));
}

#[test]
fn the_phase_is_what_the_pods_of_the_newest_content_say() {
    let mut scene = scene(json!({}));
    let plan = scene.settle();
    assert_eq!(plan.status.phase, Some(MCPRegistryPhase::Pending));
    assert_eq!(plan.status.url.as_deref(), Some("http://shelf-api.fleet:8080"));
    let newest = hash(&plan);
    scene.with_pods(&newest, &[PodHealth::Ready]);
    let plan = scene.settle();
    assert_eq!((plan.status.phase, plan.status.ready_replicas), (Some(MCPRegistryPhase::Ready), Some(1)));
    assert_eq!(condition(&plan, "Ready"), Some(("True", "Ready")));

    // Pods of what was before do not count.
    scene.edit(|spec| spec["configYAML"] = json!("sources: [x]"));
    let plan = scene.plan();
    assert_eq!(plan.status.phase, Some(MCPRegistryPhase::Pending));
    assert!(plan.status.message.as_deref().unwrap().ends_with("older pods still serve"));

    scene.with_pods(&newest, &[failing("CrashLoopBackOff", true)]);
    scene.edit(|spec| spec["configYAML"] = json!("sources: []\n"));
    let plan = scene.plan();
    assert_eq!(plan.status.phase, Some(MCPRegistryPhase::Failed));
    assert!(plan.status.message.as_deref().unwrap().contains("CrashLoopBackOff"));
    scene.snapshot.live.deployment.as_mut().unwrap().replicas = 0;
    assert_eq!(scene.plan().status.message.as_deref(), Some("scaled to zero: no pod runs"));
}

#[test]
fn a_rollout_that_nobody_asked_for_waits_for_its_turn_with_its_configuration() {
    let mut scene = scene(json!({}));
    let plan = scene.settle();
    scene.with_pods(&hash(&plan), &[PodHealth::Ready]);
    assert_eq!(scene.settle().disruption, Disruption::None);
    scene.settings().registry_api_image = "localhost/registry:2".to_owned();
    let plan = scene.plan();
    assert_eq!(plan.disruption, Disruption::Unasked);
    let meanwhile = plan.meanwhile.as_ref().unwrap();
    assert_eq!(meanwhile.phase, Some(MCPRegistryPhase::Ready));
    assert!(meanwhile.message.as_deref().unwrap().ends_with("waits for its turn"));
    let waiting = children(&plan).iter().filter(|child| child.carries_revision());
    let waiting: Vec<_> = waiting.map(thv_plan::Child::kind).collect();
    assert_eq!(waiting, [ChildKind::ConfigMap, ChildKind::Deployment]);
    scene.edit(|spec| spec["configYAML"] = json!("sources: [x]"));
    assert_eq!(scene.plan().disruption, Disruption::Edited);
}

#[test]
fn a_count_that_the_go_operator_set_is_handed_over() {
    let mut scene = scene(json!({}));
    scene.settle();
    assert!(scene.plan().scalings.is_empty());
    let live = scene.snapshot.live.deployment.as_mut().unwrap();
    (live.replicas, live.replicas_are_ours) = (3, true);
    let scalings = scene.plan().scalings;
    assert_eq!(scalings.len(), 1);
    assert_eq!((scalings[0].replicas, scalings[0].name.as_str()), (3, "shelf-api"));
}
