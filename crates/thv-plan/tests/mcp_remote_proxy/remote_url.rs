//! Which remote servers a proxy may be put in front of.

use serde_json::{Value, json};
use thv_plan::Children;

use crate::support::{Scene, condition, whole_condition};

#[test]
fn a_url_that_leads_inside_is_refused_and_what_runs_stays() {
    for url in [
        "http://localhost:8080/mcp",
        "http://127.0.0.1/mcp",
        "http://2130706433/mcp",
        "http://[::1]/mcp",
        "http://169.254.169.254/latest/meta-data",
        "https://kubernetes.default.svc/api",
        "http://metadata.google.internal/",
    ] {
        let mut scene = Scene::of(json!({"allowPrivateEndpoint": true}));
        let before = scene.settle();
        scene.set("remoteUrl", json!(url));
        let plan = scene.plan();
        assert_eq!(plan.children, Children::Keep, "{url}");
        assert_eq!(
            condition(&plan.status, "ConfigurationValid"),
            Some(("False", "RemoteURLInvalid")),
            "{url}"
        );
        assert_eq!(condition(&plan.status, "Ready"), Some(("False", "NotReady")), "{url}");
        assert_eq!(plan.status.phase.unwrap().as_str(), "Failed");
        assert_eq!(plan.status.url, before.status.url);
        scene.set("remoteUrl", json!("https://mcp.example.com/mcp"));
        assert_eq!(scene.plan().status.phase, before.status.phase, "{url}");
    }
}

#[test]
fn a_private_address_has_to_be_meant() {
    for url in ["https://10.1.2.3/mcp", "https://[fd00::1]/mcp", "http://web.team.svc.cluster.local:8080/mcp"]
    {
        let mut scene = Scene::of(json!({"remoteUrl": url}));
        let status = scene.status();
        let told = whole_condition(&status, "ConfigurationValid").unwrap();
        assert_eq!(told.reason, "RemoteURLInvalid", "{url}");
        assert!(told.message.contains("allowPrivateEndpoint"), "{}", told.message);
        scene.set("allowPrivateEndpoint", json!(true));
        assert_eq!(condition(&scene.status(), "ConfigurationValid"), Some(("True", "ConfigurationValid")));
    }
}

fn with_header(scene: &mut Scene, keys: Value) {
    scene.refer(json!({"kind": "Secret", "metadata": {"name": "keys"}, "stringData": keys}));
}

#[test]
fn headers_from_secrets_reach_the_proxy_by_reference_and_their_absence_is_told() {
    let secret = json!([{"headerName": "X-Api-Key", "valueSecretRef": {"name": "keys", "key": "token"}}]);
    let mut scene = Scene::of(json!({
        "headerForward": {"addPlaintextHeaders": {"X-Tenant": "corp"}, "addHeadersFromSecret": secret},
    }));
    assert_eq!(condition(&scene.status(), "ConfigurationValid"), Some(("False", "HeaderSecretNotFound")));
    with_header(&mut scene, json!({"other": "x"}));
    assert_eq!(condition(&scene.status(), "ConfigurationValid"), Some(("False", "HeaderSecretNotFound")));
    with_header(&mut scene, json!({"token": "hush"}));
    let plan = scene.plan();
    let name = "TOOLHIVE_SECRET_HEADER_FORWARD_X_API_KEY_WEB";
    let expected = json!({"secretKeyRef": {"name": "keys", "key": "token"}});
    assert_eq!(crate::support::variable(&plan, name).unwrap()["valueFrom"], expected);
    assert_eq!(crate::support::variable(&plan, "TOOLHIVE_SECRETS_PROVIDER").unwrap()["value"], "environment");
    let map = crate::scene::child(&plan, thv_plan::ChildKind::ConfigMap, "web-runconfig");
    let config: Value = serde_json::from_str(map["data"]["runconfig.json"].as_str().unwrap()).unwrap();
    let expected = json!({
        "add_plaintext_headers": {"X-Tenant": "corp"},
        "add_headers_from_secret": {"X-Api-Key": "HEADER_FORWARD_X_API_KEY_WEB"},
    });
    assert_eq!(config["header_forward"], expected);
    assert_eq!(config["remote_url"], "https://mcp.example.com/mcp");
    assert!(!format!("{:?}", plan.children).contains("hush"));
}

#[test]
fn headers_that_the_proxy_would_not_send_are_refused() {
    for headers in [
        json!({"addPlaintextHeaders": {"Host": "elsewhere"}}),
        json!({"addPlaintextHeaders": {"X-Forwarded-For": "1.2.3.4"}}),
        json!({"addPlaintextHeaders": {"X-A": "1\r\nX-B: 2"}}),
        json!({"addPlaintextHeaders": {"x-a": "1", "X-A": "2"}}),
    ] {
        let scene = Scene::of(json!({"headerForward": headers}));
        assert_eq!(
            condition(&scene.status(), "ConfigurationValid"),
            Some(("False", "InvalidSpec")),
            "{headers}"
        );
        assert_eq!(scene.plan().children, Children::Keep);
    }
}
