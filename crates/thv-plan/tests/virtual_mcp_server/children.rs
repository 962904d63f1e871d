//! The objects that a virtual server becomes.

use serde_json::{Value, json};
use thv_plan::ChildKind;

use crate::support::{World, config_map, entry, secret, server};

#[test]
fn the_children_have_the_names_that_everybody_knows() {
    let names: Vec<_> = World::new(json!({}), &[])
        .children()
        .iter()
        .map(|child| (child.kind().kind(), child.name().to_owned()))
        .collect();
    let expected = [
        ("Secret", "hub-hmac-secret"),
        ("ConfigMap", "hub-vmcp-config"),
        ("ServiceAccount", "hub-vmcp"),
        ("Role", "hub-vmcp"),
        ("RoleBinding", "hub-vmcp"),
        ("Service", "vmcp-hub"),
        ("Deployment", "hub"),
    ];
    assert_eq!(names, expected.map(|(kind, name)| (kind, name.to_owned())));
}

#[test]
fn with_an_account_of_the_user_no_rights_are_made() {
    let world = World::new(json!({"serviceAccount": "mine"}), &[]);
    let kinds: Vec<_> = world.children().iter().map(thv_plan::Child::kind).collect();
    assert_eq!(kinds, [ChildKind::Secret, ChildKind::ConfigMap, ChildKind::Service, ChildKind::Deployment]);
    assert_eq!(world.pod()["serviceAccountName"], "mine");
}

#[test]
fn a_pod_knows_whose_it_is_where_it_is_and_what_sessions_are_bound_with() {
    let world = World::new(json!({}), &[]);
    assert_eq!(world.variable("VMCP_NAME")["value"], "hub");
    assert_eq!(world.variable("VMCP_NAMESPACE")["value"], "prod");
    assert_eq!(world.variable("VMCP_POD_IP")["valueFrom"]["fieldRef"]["fieldPath"], "status.podIP");
    let secret = world.variable("VMCP_SESSION_HMAC_SECRET");
    assert_eq!(secret["valueFrom"]["secretKeyRef"], json!({"name": "hub-hmac-secret", "key": "hmac-secret"}));
    let pod = world.pod();
    let container = &pod["containers"][0];
    assert_eq!(
        container["args"],
        json!(["serve", "--config=/etc/vmcp-config/config.yaml", "--host=0.0.0.0", "--port=4483"])
    );
    assert_eq!((&container["name"], &pod["terminationGracePeriodSeconds"]), (&json!("vmcp"), &json!(30)));
    assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/readyz");
    assert_eq!(container["resources"]["limits"], json!({"cpu": "500m", "memory": "512Mi"}));
}

#[test]
fn sessions_in_redis_have_their_password_in_the_pod() {
    let storage = json!({
        "provider": "redis", "address": "r:6379", "passwordRef": {"name": "redis", "key": "pw"},
    });
    let world = World::new(json!({ "sessionStorage": storage }), &[secret("redis", &["pw"])]);
    let variable = world.variable("THV_SESSION_REDIS_PASSWORD");
    assert_eq!(variable["valueFrom"]["secretKeyRef"], json!({"name": "redis", "key": "pw"}));
}

#[test]
fn a_template_of_the_user_changes_the_pods_and_not_what_they_are_known_by() {
    let template = json!({
        "metadata": {
            "labels": {"toolhive-name": "x", "team": "a"},
            "annotations": {"toolhive.stacklok.dev/runconfig-checksum": "forged", "note": "n"},
        },
        "spec": {
            "priorityClassName": "high",
            "volumes": [{"name": "scratch", "emptyDir": {"medium": "Memory"}}],
            "containers": [{"name": "sidecar", "image": "s"}, {"name": "vmcp", "env": [{"name": "A", "value": "b"}]}],
        },
    });
    let plain = World::new(json!({}), &[]);
    let world = World::new(json!({ "podTemplateSpec": template }), &[]);
    let pods = world.child(ChildKind::Deployment)["spec"]["template"].clone();
    assert_eq!(pods["metadata"]["labels"]["toolhive-name"], "hub");
    assert_eq!(pods["metadata"]["labels"]["team"], "a");
    assert_eq!(pods["metadata"]["annotations"]["note"], "n");
    let checksum = |world: &World| {
        let deployment = world.child(ChildKind::Deployment);
        let all = &deployment["spec"]["template"]["metadata"]["annotations"];
        all["toolhive.stacklok.dev/runconfig-checksum"].clone()
    };
    assert_eq!(checksum(&world), checksum(&plain));
    assert_eq!(pods["spec"]["priorityClassName"], "high");
    let (status, _, message) = world.condition("OverridesAccepted");
    assert!(status == "False" && message.contains("runconfig-checksum"), "{message}");
}

fn volume(world: &World, name: &str) -> Option<Value> {
    let pod = world.pod();
    pod["volumes"].as_array().unwrap().iter().find(|it| it["name"] == name).cloned()
}

#[test]
fn the_certificate_authorities_of_entries_are_mounted_however_backends_are_found() {
    let bundle = |name: &str| json!({"caBundleRef": {"configMapRef": {"name": name, "key": "ca.crt"}}});
    for source in ["discovered", "inline"] {
        let others = [config_map("one", json!({"ca.crt": "1"})), config_map("two", json!({"ca.crt": "2"}))];
        let mut world = World::new(json!({"outgoingAuth": {"source": source}}), &others);
        assert_eq!(volume(&world, "ca-bundle-ctx"), None);
        world.put(entry("ctx", bundle("one")));
        assert_eq!(volume(&world, "ca-bundle-ctx").unwrap()["configMap"]["name"], "one");
        world.put(entry("ctx", bundle("two")));
        assert_eq!(volume(&world, "ca-bundle-ctx").unwrap()["configMap"]["name"], "two");
        world.remove("MCPServerEntry", "ctx");
        assert_eq!(volume(&world, "ca-bundle-ctx"), None);
    }
}

#[test]
fn members_that_are_discovered_leave_the_pods_alone() {
    let mut world = World::new(json!({}), &[]);
    let before = world.children();
    world.put(server("new", json!({})));
    world.put(entry("ctx", json!({})));
    assert_eq!(world.children(), before);
}
