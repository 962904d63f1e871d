//! What is said about a server.

use serde_json::{Value, json};
use thv_api::kinds::{MCPToolConfig, MCPToolConfigSpec};
use thv_plan::{Children, PodHealth, Read, Reference, Referent};

use crate::support::{Scene, condition, controller, failing, whole_condition};

fn phase(scene: &Scene) -> (String, String) {
    let status = scene.status();
    (status.phase.unwrap().to_string(), status.message.unwrap())
}

#[test]
fn the_phase_is_what_the_pods_say() {
    use PodHealth::{Ended, Pending, Ready, Terminating};
    let crash = || failing("CrashLoopBackOff", Some(1), true);
    for (pods, backend, expected, ready) in [
        (vec![], None, "Pending", 0),
        (vec![Terminating], None, "Pending", 0),
        (vec![Pending], None, "Pending", 0),
        (vec![Ended, Pending], None, "Pending", 0),
        (vec![crash(), Pending], None, "Failed", 0),
        (vec![failing("ErrImagePull", None, false)], None, "Pending", 0),
        (vec![Ready], None, "Pending", 1),
        (vec![Ready], Some((1, 0)), "Pending", 1),
        (vec![Ready], Some((0, 0)), "Stopped", 1),
        (vec![Ready, Ready, crash()], Some((2, 1)), "Ready", 2),
    ] {
        let mut scene = Scene::of(json!({"transport": "sse"}));
        scene.with_pods(&pods);
        if let Some((replicas, ready)) = backend {
            scene.with_backend(replicas, ready);
        }
        let status = scene.settle().status;
        assert_eq!(status.phase.unwrap().as_str(), expected, "{pods:?} {backend:?}");
        assert_eq!(status.ready_replicas, Some(ready));
        assert_eq!(status.observed_generation, Some(1));
        let ready = if expected == "Ready" { ("True", "Ready") } else { ("False", "NotReady") };
        assert_eq!(condition(&status, "Ready"), Some(ready));
    }
}

#[test]
fn a_rollout_that_is_stuck_is_not_ready_although_older_pods_serve() {
    let mut scene = Scene::of(json!({"transport": "sse"}));
    scene.with_pods(&[PodHealth::Ready]);
    scene.with_backend(1, 1);
    assert_eq!(scene.settle().status.phase.unwrap().as_str(), "Ready");
    scene.set("image", json!("ghcr.io/example/web:2"));
    let (phase_before, message) = phase(&scene);
    assert_eq!(
        (phase_before.as_str(), message.as_str()),
        ("Pending", "the proxy is starting; older pods still serve")
    );

    // The new pod crashes, and the old one stays.
    scene.settle();
    scene.with_pods(&[PodHealth::Ready, failing("CrashLoopBackOff", Some(2), true)]);
    scene.snapshot.live.proxy.pods[0].revision = Some("an-older-one".to_owned());
    let rollout = &mut scene.snapshot.live.proxy.deployment.as_mut().unwrap().rollout;
    (rollout.updated, rollout.available) = (1, 1);
    let (now, message) = phase(&scene);
    assert_eq!(now, "Failed");
    for part in [
        "container c of pod web-1: CrashLoopBackOff, exit code 2",
        "kubectl logs --previous --namespace fleet web-1 --container c",
        "older pods still serve",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }

    // Kubernetes gives up on it.
    scene.snapshot.live.proxy.pods[1].health = PodHealth::Pending;
    assert_eq!(phase(&scene).0, "Pending");
    let rollout = &mut scene.snapshot.live.proxy.deployment.as_mut().unwrap().rollout;
    rollout.gave_up = Some("ProgressDeadlineExceeded".to_owned());
    let (now, message) = phase(&scene);
    assert!(now == "Failed" && message.contains("ProgressDeadlineExceeded"), "{message}");
}

#[test]
fn a_backend_that_does_not_run_says_why() {
    let mut scene = Scene::of(json!({"transport": "sse"}));
    scene.with_pods(&[PodHealth::Ready]);
    scene.with_backend(1, 0);
    scene.with_backend_pods(&[failing("ImagePullBackOff", None, true)]);
    scene.settle();
    let (now, message) = phase(&scene);
    assert_eq!(now, "Failed");
    let parts = [
        "the server does not run",
        "ImagePullBackOff",
        "kubectl describe pod --namespace fleet web-backend-0",
    ];
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    scene.with_backend_pods(&[PodHealth::Unschedulable]);
    let (now, message) = phase(&scene);
    assert!(now == "Pending" && message.contains("no node takes its pod"), "{message}");

    // A backend that the newest proxy has not applied yet is not the one to tell of.
    scene.with_backend_pods(&[PodHealth::Ready]);
    scene.with_backend(1, 1);
    assert_eq!(phase(&scene).0, "Ready");
    scene.snapshot.live.backend.as_mut().unwrap().applied.as_mut().unwrap().number -= 1;
    let (now, message) = phase(&scene);
    let expected = "the proxy runs and brings the server up; older pods still serve";
    assert_eq!((now.as_str(), message.as_str()), ("Pending", expected));
}

#[test]
fn scaling_is_no_rollout() {
    let mut scene = Scene::of(json!({"transport": "sse"}));
    scene.with_pods(&[PodHealth::Ready]);
    scene.with_backend(1, 1);
    assert_eq!(scene.settle().status.phase.unwrap().as_str(), "Ready");
    let live = scene.snapshot.live.proxy.deployment.as_mut().unwrap();
    live.replicas = 3;
    live.rollout.observed = false;
    assert_eq!(phase(&scene), ("Ready".to_owned(), "the server runs; 1 of 3 proxies are ready".to_owned()));
    scene.snapshot.live.proxy.deployment.as_mut().unwrap().rollout.available = 0;
    assert_eq!(phase(&scene).0, "Pending");
}

#[test]
fn fewer_proxies_than_wanted_are_told_of_and_still_ready() {
    let mut scene = Scene::of(json!({"transport": "sse", "replicas": 2}));
    scene.with_pods(&[PodHealth::Ready, PodHealth::Pending]);
    scene.with_backend(1, 1);
    scene.settle();
    assert_eq!(phase(&scene), ("Ready".to_owned(), "the server runs; 1 of 2 proxies are ready".to_owned()));
}

#[test]
fn the_reason_of_a_failure_does_not_follow_the_order_of_pods() {
    let mut scene = Scene::of(json!({}));
    scene.with_pods(&[failing("b", None, true), failing("a", None, true)]);
    scene.settle();
    let one = phase(&scene);
    scene.snapshot.live.proxy.pods.reverse();
    assert_eq!(one, phase(&scene));
    assert!(one.1.contains("pod web-0: b"), "{}", one.1);
}

#[test]
fn scaled_to_zero_is_stopped_and_not_a_failure() {
    let mut scene = Scene::of(json!({"transport": "sse", "replicas": 0}));
    assert_eq!(phase(&scene).0, "Stopped");
    scene.set("replicas", Value::Null);
    scene.settle();
    scene.snapshot.live.proxy.deployment.as_mut().unwrap().replicas = 0;
    assert_eq!(phase(&scene).0, "Stopped", "also when someone else did it");
}

#[test]
fn the_url_follows_port_and_transport() {
    let mut scene = Scene::of(json!({}));
    let url = |scene: &mut Scene| scene.settle().status.url.unwrap();
    assert_eq!(url(&mut scene), "http://mcp-web-proxy.fleet.svc.cluster.local:8080/mcp");
    scene.set("proxyPort", json!(9000));
    assert_eq!(url(&mut scene), "http://mcp-web-proxy.fleet.svc.cluster.local:9000/mcp");
    scene.set("proxyMode", json!("sse"));
    assert_eq!(url(&mut scene), "http://mcp-web-proxy.fleet.svc.cluster.local:9000/sse#web");
    scene.set("transport", json!("streamable-http"));
    assert_eq!(url(&mut scene), "http://mcp-web-proxy.fleet.svc.cluster.local:9000/mcp");
    scene.set("transport", json!("sse"));
    assert_eq!(url(&mut scene), "http://mcp-web-proxy.fleet.svc.cluster.local:9000/sse#web");
}

#[test]
fn what_cannot_be_applied_leaves_everything_as_it_was() {
    let good = || {
        let mut scene = Scene::of(json!({"transport": "sse", "replicas": 2}));
        let before = scene.settle();
        (scene, before)
    };
    let bad_template = json!({"spec": {"containers": "none"}});
    for (field, value, type_, reason) in [
        ("podTemplateSpec", bad_template, "PodTemplateValid", "InvalidPodTemplateSpec"),
        ("resources", json!({"limits": {"memory": "1gb"}}), "SpecValid", "InvalidSpec"),
        (
            "oidcConfigRef",
            json!({"name": "gone", "audience": "a"}),
            "OIDCConfigRefValidated",
            "OIDCConfigRefNotFound",
        ),
        (
            "telemetryConfigRef",
            json!({"name": "gone"}),
            "TelemetryConfigRefValidated",
            "TelemetryConfigRefNotFound",
        ),
        ("authzConfigRef", json!({"name": "gone"}), "AuthzConfigRefValidated", "AuthzConfigRefNotFound"),
    ] {
        let (mut scene, before) = good();
        scene.edit(|spec| {
            spec[field] = value;
            spec["proxyPort"] = json!(9999);
            spec["replicas"] = Value::Null;
        });
        let plan = scene.plan();
        assert_eq!((&plan.children, &plan.revision), (&Children::Keep, &None), "{field}");
        assert!(plan.scalings.is_empty(), "{field}");
        assert_eq!(condition(&plan.status, type_), Some(("False", reason)), "{field}");
        assert_eq!(condition(&plan.status, "Ready"), Some(("False", "NotReady")));
        assert_eq!(plan.status.phase.unwrap().as_str(), "Failed");
        assert_eq!(plan.status.url, before.status.url, "what runs still runs there");
        assert_eq!(plan.status.observed_generation, Some(2));
        let why = &whole_condition(&plan.status, type_).unwrap().message;
        assert!(plan.status.message.as_ref().unwrap().contains(why.as_str()), "{why}");

        scene.edit(|spec| spec[field] = Value::Null);
        let after = scene.plan();
        assert!(matches!(after.children, Children::Exactly(_)), "{field}");
        assert_ne!(condition(&after.status, type_).map(|(status, _)| status), Some("False"), "{field}");
    }
}

#[test]
fn what_was_said_about_overrides_stays_while_they_stay() {
    let overrides = json!({"proxyDeployment": {"labels": {"app": "mine"}}});
    let mut scene = Scene::of(json!({"resourceOverrides": overrides}));
    let before = scene.settle().status;
    scene.set("toolConfigRef", json!({"name": "gone"}));
    let plan = scene.plan();
    assert_eq!(plan.children, Children::Keep);
    let type_ = "OverridesAccepted";
    assert_eq!(whole_condition(&plan.status, type_), whole_condition(&before, type_));
}

#[test]
fn conditions_go_with_what_they_are_about() {
    let mut scene = Scene::example("full.yaml", "web");
    let status = scene.settle().status;
    for type_ in [
        "OIDCConfigRefValidated",
        "CABundleRefValidated",
        "TelemetryConfigRefValidated",
        "GroupRefValidated",
        "PodTemplateValid",
        "RateLimitConfigValid",
        "SpecValid",
        "OverridesAccepted",
    ] {
        assert_eq!(condition(&status, type_).map(|(status, _)| status), Some("True"), "{type_}: {status:#?}");
    }
    for hash in [
        &status.oidc_config_hash,
        &status.telemetry_config_hash,
        &status.tool_config_hash,
        &status.external_auth_config_hash,
        &status.webhook_config_hash,
    ] {
        assert!(hash.is_some());
    }
    let image = scene.snapshot.owner.spec.image.clone();
    scene.edit(|spec| *spec = json!({"image": image}));
    let status = scene.settle().status;
    let types: Vec<_> =
        status.conditions.iter().flatten().map(|condition| condition.type_.as_str()).collect();
    let always =
        ["RateLimitConfigValid", "Ready", "SessionStorageWarning", "SpecValid", "StdioReplicaCapped"];
    assert_eq!(types, always);
    assert_eq!((status.oidc_config_hash, status.tool_config_hash), (None, None));
}

#[test]
fn times_move_when_a_status_flips_and_only_then() {
    let mut scene = Scene::of(json!({}));
    scene.with_backend(1, 1);
    scene.with_pods(&[PodHealth::Pending]);
    scene.settle();
    let since =
        |scene: &Scene| whole_condition(&scene.status(), "Ready").unwrap().last_transition_time.0.to_string();
    let first = since(&scene);
    scene.later("2026-11-15T11:00:00Z");
    assert_eq!(since(&scene), first);
    assert_eq!(scene.status(), scene.snapshot.owner.status.clone().unwrap(), "nothing to write");
    scene.with_pods(&[PodHealth::Ready]);
    assert_eq!(since(&scene), "2026-11-15T11:00:00Z");
}

#[test]
fn a_group_stops_nothing() {
    let scene = Scene::of(json!({"groupRef": {"name": "gone"}}));
    let plan = scene.plan();
    assert!(matches!(plan.children, Children::Exactly(_)));
    assert_eq!(condition(&plan.status, "GroupRefValidated"), Some(("False", "GroupRefNotFound")));
}

#[test]
fn a_deployment_of_something_else_is_not_taken() {
    let mut scene = Scene::of(json!({}));
    scene.settle();
    scene.snapshot.live.proxy.deployment.as_mut().unwrap().controller =
        Some(controller("VirtualMCPServer", "someone-else"));
    let plan = scene.plan();
    assert_eq!(plan.children, Children::Keep);
    assert_eq!(condition(&plan.status, "SpecValid"), Some(("False", "NameTaken")));
    let message = plan.status.message.unwrap();
    assert!(message.contains("belongs to VirtualMCPServer \"x\""), "{message}");
    scene.snapshot.live.proxy.deployment.as_mut().unwrap().controller = None;
    assert!(matches!(scene.plan().children, Children::Exactly(_)), "an orphan is adopted");
}

#[test]
fn limits_per_user_need_users() {
    let limits = json!({"perUser": {"maxTokens": 1, "refillPeriod": "1s"}});
    let redis = json!({"provider": "redis", "address": "r:1"});
    let mut scene = Scene::of(json!({"rateLimiting": limits, "sessionStorage": redis}));
    assert_eq!(condition(&scene.status(), "RateLimitConfigValid"), Some(("False", "PerUserRequiresAuth")));
    scene.set("rateLimiting", json!({"shared": {"maxTokens": 1, "refillPeriod": "1s"}}));
    assert_eq!(condition(&scene.status(), "RateLimitConfigValid"), Some(("True", "RateLimitConfigValid")));
    scene.set("rateLimiting", Value::Null);
    assert_eq!(condition(&scene.status(), "RateLimitConfigValid"), Some(("True", "RateLimitNotApplicable")));
}

#[test]
fn settings_without_effect_are_told() {
    let rules = json!({"policies": ["permit(principal, action, resource);"], "primaryUpstreamProvider": "x"});
    let mut scene = Scene::of(json!({
        "toolConfigRef": {"name": "t"}, "authzConfig": {"type": "inline", "inline": rules},
    }));
    let tools = json!({
        "metadata": {"name": "t"},
        "spec": {"toolsOverride": {"add": {"name": "sum", "annotations": {"readOnlyHint": true}}}},
    });
    let tools = Referent::object(serde_json::from_value::<MCPToolConfig>(tools).unwrap());
    scene.snapshot.references.insert(Reference::object::<MCPToolConfigSpec>("t"), Read::Found(tools));
    let status = scene.status();
    assert_eq!(condition(&status, "SettingsIgnored"), Some(("True", "SettingsWithoutEffect")));
    let storage = json!({"provider": "memory", "address": "r:1"});
    let told = Scene::of(json!({"sessionStorage": storage})).status();
    assert_eq!(condition(&told, "SettingsIgnored"), Some(("True", "SettingsWithoutEffect")));
    let ignored = "AuthzPrimaryUpstreamProviderIgnored";
    assert_eq!(condition(&status, ignored), Some(("True", "PrimaryUpstreamProviderIgnored")));
}
