//! Which condition says that a reference cannot be used, and with which reason.

use serde_json::{Value, json};
use thv_plan::mcp_server::plan;

use crate::golden::manifests;
use crate::support::Manifests;

/// The status and the reason of a condition of a server.
fn condition(manifests: &Manifests, server: &str, type_: &str) -> Option<(String, String)> {
    let status = plan(&manifests.snapshot(server)).status;
    let mut conditions = status.conditions.into_iter().flatten();
    conditions.find(|condition| condition.type_ == type_).map(|it| (it.status, it.reason))
}

/// Changes one thing about a golden case, and asserts that this condition turns false for this reason.
fn assert_reason(case: &str, server: &str, change: impl FnOnce(&mut Manifests), type_: &str, reason: &str) {
    let mut manifests = manifests(case);
    let before = condition(&manifests, server, type_);
    assert!(before.is_none_or(|(status, _)| status == "True"), "{type_} is false before the change");
    change(&mut manifests);
    let after = condition(&manifests, server, type_);
    assert_eq!(after, Some(("False".to_owned(), reason.to_owned())), "{case}: {type_}");
}

#[test]
fn an_absent_object_is_not_found_where_the_condition_can_say_so() {
    for (case, server, kind, name, type_, reason) in [
        ("everything", "web", "MCPOIDCConfig", "cluster", "OIDCConfigRefValidated", "OIDCConfigRefNotFound"),
        (
            "everything",
            "web",
            "MCPTelemetryConfig",
            "otel",
            "TelemetryConfigRefValidated",
            "TelemetryConfigRefNotFound",
        ),
        ("everything", "web", "MCPWebhookConfig", "hooks", "WebhookConfigValidated", "WebhookConfigInvalid"),
        (
            "everything",
            "web",
            "MCPExternalAuthConfig",
            "exchange",
            "ExternalAuthConfigValidated",
            "InvalidExternalAuthConfig",
        ),
        ("everything", "web", "MCPGroup", "tools", "GroupRefValidated", "GroupRefNotFound"),
        ("github", "github", "ConfigMap", "corp-ca", "CABundleRefValidated", "CABundleRefNotFound"),
        (
            "auth-server",
            "notes",
            "MCPAuthzConfig",
            "rules",
            "AuthzConfigRefValidated",
            "AuthzConfigRefNotFound",
        ),
        (
            "auth-server",
            "notes",
            "MCPExternalAuthConfig",
            "sign-in",
            "AuthServerRefValidated",
            "AuthServerRefNotFound",
        ),
    ] {
        assert_reason(case, server, |it| it.remove(kind, name), type_, reason);
    }
}

#[test]
fn an_object_that_cannot_be_used_as_it_is_is_not_valid() {
    type Change = fn(&mut Value);
    let cases: [(&str, &str, &str, &str, Change, &str, &str); 9] = [
        (
            "everything",
            "web",
            "MCPOIDCConfig",
            "cluster",
            |it| it["spec"]["kubernetesServiceAccount"]["issuer"] = json!("nowhere"),
            "OIDCConfigRefValidated",
            "OIDCConfigRefNotValid",
        ),
        (
            "everything",
            "web",
            "MCPOIDCConfig",
            "cluster",
            |it| it["spec"]["type"] = json!("magic"),
            "OIDCConfigRefValidated",
            "OIDCConfigRefNotValid",
        ),
        (
            "everything",
            "web",
            "MCPTelemetryConfig",
            "otel",
            |it| it["spec"]["openTelemetry"]["insecure"] = json!(true),
            "TelemetryConfigRefValidated",
            "TelemetryConfigRefInvalid",
        ),
        (
            "everything",
            "web",
            "MCPWebhookConfig",
            "hooks",
            |it| it["spec"]["validating"][0]["url"] = json!("http://plain"),
            "WebhookConfigValidated",
            "WebhookConfigInvalid",
        ),
        (
            "everything",
            "web",
            "MCPGroup",
            "tools",
            |it| it["spec"] = json!({"description": 1}),
            "GroupRefValidated",
            "GroupRefNotReady",
        ),
        (
            "everything",
            "web",
            "MCPGroup",
            "tools",
            |it| it["metadata"]["deletionTimestamp"] = json!("2026-11-15T00:00:00Z"),
            "GroupRefValidated",
            "GroupRefNotFound",
        ),
        (
            "auth-server",
            "notes",
            "MCPAuthzConfig",
            "rules",
            |it| it["spec"]["config"]["policies"] = json!([]),
            "AuthzConfigRefValidated",
            "AuthzConfigRefNotValid",
        ),
        (
            "auth-server",
            "notes",
            "MCPExternalAuthConfig",
            "sign-in",
            |it| it["spec"] = json!({"type": "unauthenticated"}),
            "AuthServerRefValidated",
            "AuthServerRefInvalidType",
        ),
        (
            "auth-server",
            "notes",
            "MCPExternalAuthConfig",
            "sign-in",
            |it| {
                let upstreams = &mut it["spec"]["embeddedAuthServer"]["upstreamProviders"];
                let oidc = json!({"issuerUrl": "https://i", "clientId": "c"});
                let second = json!({"name": "two", "type": "oidc", "oidcConfig": oidc});
                upstreams.as_array_mut().unwrap().push(second);
            },
            "AuthServerRefValidated",
            "MultiUpstreamNotSupported",
        ),
    ];
    for (case, server, kind, name, change, type_, reason) in cases {
        assert_reason(case, server, |it| it.edit(kind, name, change), type_, reason);
    }
}

#[test]
fn an_authorization_server_that_does_not_fit_is_told_where_it_was_referred_to() {
    let wrong_audience = |spec: &mut Value| spec["oidcConfigRef"]["audience"] = json!("other");
    let change = |it: &mut Manifests| it.edit("MCPServer", "notes", |it| wrong_audience(&mut it["spec"]));
    assert_reason("auth-server", "notes", change, "AuthServerRefValidated", "AuthServerRefInvalidConfig");
    let change = |it: &mut Manifests| {
        it.edit("MCPServer", "notes", |it| {
            it["spec"]["authServerRef"] = Value::Null;
            it["spec"]["externalAuthConfigRef"] = json!({"name": "sign-in"});
            wrong_audience(&mut it["spec"]);
        });
    };
    assert_reason("auth-server", "notes", change, "ExternalAuthConfigValidated", "InvalidConfig");
}

#[test]
fn external_authentication_says_why_it_cannot_be_used() {
    let exchange = |secret: Value| {
        let exchange = json!({"tokenUrl": "https://t", "audience": "a", "clientSecretRef": secret});
        json!({"type": "tokenExchange", "tokenExchange": exchange})
    };
    let sts = json!({"region": "eu-central-1", "fallbackRoleArn": "arn:aws:iam::123456789012:role/x"});
    for (spec, reason) in [
        (exchange(json!({"name": "gone", "key": "k"})), "InvalidConfig"),
        (exchange(json!({"name": "", "key": "k"})), "InvalidConfig"),
        (json!({"type": "awsSts", "awsSts": sts}), "InvalidConfig"),
        (json!({"type": "bearerToken"}), "ValidationFailed"),
        (json!({"type": "obo", "obo": {}}), "EnterpriseRequired"),
    ] {
        let change = |it: &mut Manifests| {
            it.edit("MCPServer", "files", |it| it["spec"]["externalAuthConfigRef"] = json!({"name": "ext"}));
            it.add(json!({"kind": "MCPExternalAuthConfig", "metadata": {"name": "ext"}, "spec": spec}));
        };
        assert_reason("minimal", "files", change, "ExternalAuthConfigValidated", reason);
    }
}
