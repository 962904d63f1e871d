//! What no proxy is configured with.

use serde_json::{Value, json};
use thv_plan::InvalidList;
use thv_plan::mcp_server::{resolve, run_config as build};

use crate::golden::manifests;

fn problems(case: &str, server: &str, change: impl FnOnce(&mut Value)) -> InvalidList {
    let mut manifests = manifests(case);
    manifests.edit("MCPServer", server, |server| change(&mut server["spec"]));
    let snapshot = manifests.snapshot(server);
    build(&snapshot, &resolve(&snapshot), 1).unwrap_err()
}

#[test]
fn problems_name_the_field_that_causes_them_and_no_values() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 7] = [
        (|spec| spec["image"] = json!(""), "spec.image"),
        (|spec| spec["env"] = json!([{"name": "KEY", "value": "hunter2\n"}]), "spec.env.KEY"),
        (|spec| spec["env"] = json!([{"name": "a=b", "value": "hunter2"}]), "spec.env.a=b"),
        (
            |spec| spec["volumes"] = json!([{"name": "v", "hostPath": "/a:/b", "mountPath": "/c"}]),
            "spec.volumes[v].hostPath",
        ),
        (
            |spec| spec["volumes"] = json!([{"name": "v", "hostPath": "/a", "mountPath": "/$(rm)"}]),
            "spec.volumes[v].mountPath",
        ),
        (
            |spec| spec["rateLimiting"] = json!({"shared": {"maxTokens": 1, "refillPeriod": "1s"}}),
            "spec.rateLimiting",
        ),
        (
            |spec| spec["permissionProfile"] = json!({"type": "builtin", "name": "x"}),
            "spec.permissionProfile",
        ),
    ];
    for (change, path) in cases {
        let problems = problems("minimal", "files", change);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].path, path, "{problems:?}");
        assert!(!problems[0].to_string().contains("hunter2"), "{problems:?}");
    }
}

#[test]
fn two_sources_of_rules_are_refused() {
    let problems = problems("auth-server", "notes", |spec| {
        spec["authzConfig"] =
            json!({"type": "inline", "inline": {"policies": ["permit(principal, action, resource);"]}});
    });
    assert_eq!(problems[0].path, "spec.authzConfig");
}

#[test]
fn a_token_that_is_removed_cannot_be_exchanged() {
    let mut manifests = manifests("auth-server");
    manifests
        .edit("MCPServer", "notes", |it| it["spec"]["externalAuthConfigRef"] = json!({"name": "exchange"}));
    manifests.edit("MCPExternalAuthConfig", "sign-in", |it| {
        it["spec"]["embeddedAuthServer"]["disableUpstreamTokenInjection"] = json!(true);
    });
    manifests.add(json!({"kind": "MCPExternalAuthConfig", "metadata": {"name": "exchange"}, "spec": {
        "type": "tokenExchange", "tokenExchange": {"tokenUrl": "https://t", "audience": "a"},
    }}));
    let snapshot = manifests.snapshot("notes");
    let problems = build(&snapshot, &resolve(&snapshot), 1).unwrap_err();
    assert_eq!(problems[0].path, "spec.externalAuthConfigRef");
}

#[test]
fn without_injection_the_token_is_removed() {
    let mut manifests = manifests("auth-server");
    manifests.edit("MCPExternalAuthConfig", "sign-in", |it| {
        it["spec"]["embeddedAuthServer"]["disableUpstreamTokenInjection"] = json!(true);
    });
    let snapshot = manifests.snapshot("notes");
    let config = build(&snapshot, &resolve(&snapshot), 1).unwrap();
    let chain: Vec<_> = config.middleware_configs.iter().map(|entry| entry.type_.as_str()).collect();
    assert_eq!(chain, ["bodylimit", "auth", "strip-auth", "mcp-parser", "authorization", "recovery"]);
}

#[test]
fn mounts_with_one_target_count_once() {
    let mut manifests = manifests("minimal");
    manifests.edit("MCPServer", "files", |it| {
        it["spec"]["volumes"] = json!([
            {"name": "b", "hostPath": "/two", "mountPath": "/data"},
            {"name": "a", "hostPath": "/one", "mountPath": "/data", "readOnly": true},
        ]);
    });
    let snapshot = manifests.snapshot("files");
    let profile = build(&snapshot, &resolve(&snapshot), 1).unwrap().permission_profile.unwrap();
    assert_eq!((profile.read, profile.write), (vec!["/one:/data".to_owned()], vec![]));
}

#[test]
fn a_stdio_server_speaks_to_clients_as_its_mode_says() {
    for (transport, mode, spoken) in [
        ("stdio", "sse", "sse"),
        ("stdio", "streamable-http", "streamable-http"),
        ("sse", "streamable-http", "sse"),
    ] {
        let mut manifests = manifests("minimal");
        manifests.edit("MCPServer", "files", |it| {
            it["spec"]["transport"] = json!(transport);
            it["spec"]["proxyMode"] = json!(mode);
        });
        let snapshot = manifests.snapshot("files");
        let config = build(&snapshot, &resolve(&snapshot), 1).unwrap();
        assert_eq!(config.proxy_mode.unwrap().as_str(), spoken);
        assert_eq!(config.env_vars.contains_key("MCP_PORT"), transport != "stdio");
    }
}
