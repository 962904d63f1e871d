//! What becomes of references: every one of them missing, wrong and right again.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use thv_api::kinds::{
    MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPTelemetryConfigSpec, MCPToolConfigSpec,
    MCPWebhookConfigSpec,
};
use thv_plan::mcp_server::{refs, resolve, run_config as build};
use thv_plan::resolve::{Cause, ExternalAuthMethod, Unusable};
use thv_plan::{DefaultRedis, Read, Reference, References, Settings};

use crate::golden::manifests;
use crate::support::{Manifests, unusable};

fn external(spec: Value) -> Manifests {
    let mut manifests = manifests("minimal");
    manifests.edit("MCPServer", "files", |server| {
        server["spec"]["externalAuthConfigRef"] = json!({"name": "ext"});
    });
    manifests.add(json!({"kind": "MCPExternalAuthConfig", "metadata": {"name": "ext"}, "spec": spec}));
    manifests
}

fn secret(name: &str, keys: &[&str]) -> Value {
    let data: serde_json::Map<_, _> = keys.iter().map(|key| ((*key).to_owned(), json!("x"))).collect();
    json!({"kind": "Secret", "metadata": {"name": name}, "stringData": data})
}

#[test]
fn everything_that_is_referred_to_is_asked_for() {
    let snapshot = manifests("everything").snapshot("web");
    let found = refs(&snapshot.owner, &snapshot.references);
    let mut expected = BTreeSet::from([
        Reference::object::<MCPExternalAuthConfigSpec>("exchange"),
        Reference::object::<MCPGroupSpec>("tools"),
        Reference::object::<MCPOIDCConfigSpec>("cluster"),
        Reference::object::<MCPTelemetryConfigSpec>("otel"),
        Reference::object::<MCPToolConfigSpec>("few-tools"),
        Reference::object::<MCPWebhookConfigSpec>("hooks"),
    ]);
    expected.extend(["otel-ca", "profiles", "rules"].map(Reference::config_map));
    expected.extend(["api-keys", "hook-tls", "redis-auth"].map(Reference::secret));
    assert_eq!(found, expected);
    let without = refs(&snapshot.owner, &References::new());
    assert!(!without.contains(&Reference::secret("hook-tls")), "nobody has read the webhooks yet");
}

#[test]
fn the_secrets_of_an_authorization_server_are_asked_for() {
    let snapshot = manifests("auth-server").snapshot("notes");
    let secrets = refs(&snapshot.owner, &snapshot.references);
    let secrets: BTreeSet<_> = secrets.into_iter().filter(|it| matches!(it, Reference::Secret(_))).collect();
    assert_eq!(secrets, ["agent", "git", "keys", "redis"].map(Reference::secret).into());
}

/// Every object that the two large examples refer to.
#[test]
fn an_absent_object_is_waited_for_and_no_configuration_is_built_without_it() {
    let cases = [
        (
            "everything",
            "web",
            vec![
                ("ConfigMap", "otel-ca"),
                ("ConfigMap", "profiles"),
                ("ConfigMap", "rules"),
                ("MCPExternalAuthConfig", "exchange"),
                ("MCPOIDCConfig", "cluster"),
                ("Secret", "api-keys"),
                ("Secret", "hook-tls"),
                ("Secret", "redis-auth"),
                ("MCPTelemetryConfig", "otel"),
                ("MCPToolConfig", "few-tools"),
                ("MCPWebhookConfig", "hooks"),
            ],
        ),
        ("github", "github", vec![("ConfigMap", "corp-ca"), ("MCPOIDCConfig", "corp")]),
        (
            "auth-server",
            "notes",
            vec![
                ("MCPAuthzConfig", "rules"),
                ("MCPExternalAuthConfig", "sign-in"),
                ("Secret", "keys"),
                ("Secret", "git"),
                ("Secret", "redis"),
                ("Secret", "agent"),
            ],
        ),
    ];
    for (case, server, objects) in cases {
        assert_eq!(manifests(case).resolved(server).invalid().finish(), Ok(()));
        for (kind, name) in objects {
            let mut manifests = manifests(case);
            manifests.remove(kind, name);
            let snapshot = manifests.snapshot(server);
            let resolved = resolve(&snapshot);
            let missing = resolved.unusable();
            assert!(!missing.is_empty(), "{kind} {name}");
            for Unusable { cause, invalid } in missing.iter().copied() {
                assert!(matches!(cause, Cause::Absent | Cause::Incomplete), "{kind} {name}: {invalid}");
                assert!(invalid.message.contains(name), "{kind} {name}: {invalid}");
            }
            let invalid = build(&snapshot, &resolved, 1).unwrap_err();
            assert_eq!(invalid, resolved.invalid());
            assert_eq!(invalid.len(), missing.len());
        }
    }
}

#[test]
fn the_cause_tells_missing_from_invalid() {
    let mut missing = manifests("everything");
    for (kind, name) in
        [("MCPOIDCConfig", "cluster"), ("MCPTelemetryConfig", "otel"), ("MCPWebhookConfig", "hooks")]
    {
        missing.remove(kind, name);
    }
    missing.remove("MCPGroup", "tools");
    let resolved = missing.resolved("web");
    assert_eq!(unusable(&resolved.oidc).0, Cause::Absent);
    assert_eq!(unusable(&resolved.telemetry).0, Cause::Absent);
    assert_eq!(unusable(&resolved.webhooks).0, Cause::Absent);
    assert_eq!(unusable(&resolved.group).0, Cause::Absent);

    let mut invalid = manifests("everything");
    invalid.edit("MCPOIDCConfig", "cluster", |it| {
        it["spec"]["kubernetesServiceAccount"]["issuer"] = json!("nowhere");
    });
    invalid.edit("MCPTelemetryConfig", "otel", |it| it["spec"]["openTelemetry"]["insecure"] = json!(true));
    invalid
        .edit("MCPWebhookConfig", "hooks", |it| it["spec"]["validating"][0]["url"] = json!("http://plain"));
    let resolved = invalid.resolved("web");
    for cause in [unusable(&resolved.oidc).0, unusable(&resolved.telemetry).0, unusable(&resolved.webhooks).0]
    {
        assert_eq!(cause, Cause::Invalid);
    }
}

#[test]
fn an_object_that_its_schema_does_not_describe_is_invalid() {
    let mut manifests = manifests("everything");
    manifests.edit("MCPOIDCConfig", "cluster", |it| it["spec"]["type"] = json!("magic"));
    let (cause, message) = unusable(&manifests.resolved("web").oidc);
    assert_eq!(cause, Cause::Invalid);
    assert!(message.contains("cannot be read"), "{message}");
}

#[test]
fn a_group_does_not_keep_a_server_from_running() {
    let mut manifests = manifests("everything");
    manifests.remove("MCPGroup", "tools");
    let snapshot = manifests.snapshot("web");
    let resolved = resolve(&snapshot);
    assert!(resolved.group.usable().is_none());
    build(&snapshot, &resolved, 1).unwrap();
    manifests.add(json!({"kind": "MCPGroup", "metadata": {"name": "tools", "deletionTimestamp": "2026-11-15T00:00:00Z"}, "spec": {}}));
    assert_eq!(unusable(&manifests.resolved("web").group).0, Cause::Absent);
    manifests.add(
        json!({"kind": "MCPGroup", "metadata": {"name": "tools"}, "spec": {}, "status": {"phase": "Failed"}}),
    );
    assert!(manifests.resolved("web").group.usable().is_some(), "what its status says is its own affair");
}

#[test]
fn a_missing_client_secret_is_reported_and_not_left_out() {
    let exchange =
        json!({"tokenUrl": "https://t", "audience": "a", "clientSecretRef": {"name": "s", "key": "k"}});
    let mut manifests = external(json!({"type": "tokenExchange", "tokenExchange": exchange}));
    let (cause, message) = unusable(&manifests.resolved("files").external_auth);
    assert_eq!(cause, Cause::Incomplete);
    assert!(message.contains("tokenExchange.clientSecretRef"), "{message}");
    manifests.add(secret("s", &["other"]));
    assert!(unusable(&manifests.resolved("files").external_auth).1.contains("no such key"));
    manifests.add(secret("s", &["k"]));
    assert!(manifests.resolved("files").external_auth.usable().is_some());
}

#[test]
fn aws_sts_does_not_apply_to_a_server_in_the_cluster() {
    let sts = json!({"region": "eu-central-1", "fallbackRoleArn": "arn:aws:iam::123456789012:role/x"});
    let manifests = external(json!({"type": "awsSts", "awsSts": sts}));
    let (cause, message) = unusable(&manifests.resolved("files").external_auth);
    assert_eq!(cause, Cause::WrongType);
    assert!(message.contains("remote server"), "{message}");
}

#[test]
fn on_behalf_of_is_refused_because_nothing_would_enforce_it() {
    let manifests = external(json!({"type": "obo", "obo": {}}));
    assert_eq!(unusable(&manifests.resolved("files").external_auth).0, Cause::Unsupported);
}

#[test]
fn what_only_a_gateway_uses_does_not_concern_the_proxy() {
    let header = json!({"headerName": "x", "valueSecretRef": {"name": "nowhere", "key": "k"}});
    for spec in [
        json!({"type": "unauthenticated"}),
        json!({"type": "headerInjection", "headerInjection": header}),
        json!({"type": "upstreamInject", "upstreamInject": {"providerName": "p"}}),
    ] {
        let manifests = external(spec);
        let resolved = manifests.resolved("files");
        assert!(matches!(resolved.external_auth.usable().unwrap().method, ExternalAuthMethod::ByGateway(_)));
        assert_eq!(resolved.invalid().finish(), Ok(()));
    }
}

#[test]
fn an_authorization_server_has_to_fit_the_server() {
    type Change = fn(&mut Manifests);
    let cases: [(Change, Cause, &str); 6] = [
        (
            |it| it.edit("MCPServer", "notes", |it| it["spec"]["oidcConfigRef"] = Value::Null),
            Cause::Unfit,
            "spec.oidcConfigRef: is missing",
        ),
        (
            |it| it.edit("MCPServer", "notes", |it| it["spec"]["oidcConfigRef"]["audience"] = json!("other")),
            Cause::Unfit,
            "spec.oidcConfigRef.audience",
        ),
        (
            |it| {
                it.edit("MCPServer", "notes", |it| {
                    it["spec"]["oidcConfigRef"]["scopes"] = json!(["profile"]);
                });
            },
            Cause::Unfit,
            "delegateClients[0].scopes",
        ),
        (
            |it| {
                let second = json!({"name": "two", "type": "oidc", "oidcConfig": {"issuerUrl": "https://i", "clientId": "c"}});
                let change = |it: &mut Value| {
                    let list = &mut it["spec"]["embeddedAuthServer"]["upstreamProviders"];
                    list.as_array_mut().unwrap().push(second);
                };
                it.edit("MCPExternalAuthConfig", "sign-in", change);
            },
            Cause::SeveralUpstreams,
            "2 upstream providers",
        ),
        (
            |it| {
                it.edit("MCPExternalAuthConfig", "sign-in", |it| {
                    it["spec"] = json!({"type": "unauthenticated"});
                });
            },
            Cause::WrongType,
            "of type unauthenticated",
        ),
        (
            |it| {
                let change =
                    |it: &mut Value| it["spec"]["externalAuthConfigRef"] = json!({"name": "sign-in"});
                it.edit("MCPServer", "notes", change);
            },
            Cause::Unfit,
            "both name an authorization server",
        ),
    ];
    for (change, cause, part) in cases {
        let mut manifests = manifests("auth-server");
        change(&mut manifests);
        let snapshot = manifests.snapshot("notes");
        let resolved = resolve(&snapshot);
        let (found, message) = unusable(&resolved.auth_server);
        assert_eq!(found, cause, "{message}");
        assert!(message.contains(part), "{message}");
        assert!(build(&snapshot, &resolved, 1).is_err());
    }
}

#[test]
fn an_authorization_server_may_come_by_either_reference() {
    let mut manifests = manifests("auth-server");
    let by_ref = manifests.snapshot("notes");
    manifests.edit("MCPServer", "notes", |it| {
        it["spec"]["authServerRef"] = Value::Null;
        it["spec"]["externalAuthConfigRef"] = json!({"name": "sign-in"});
    });
    let by_external = manifests.snapshot("notes");
    let config = |snapshot| build(snapshot, &resolve(snapshot), 7).unwrap();
    assert_eq!(config(&by_ref), config(&by_external));
    manifests.edit("MCPServer", "notes", |it| it["spec"]["oidcConfigRef"]["audience"] = json!("other"));
    assert_eq!(unusable(&manifests.resolved("notes").external_auth).0, Cause::Unfit);
}

#[test]
fn certificate_authorities_that_are_missing_are_told_apart_from_the_identity_provider() {
    let mut manifests = manifests("github");
    manifests.remove("ConfigMap", "corp-ca");
    let resolved = manifests.resolved("github");
    assert!(resolved.oidc.usable().is_some());
    assert_eq!(unusable(&resolved.oidc_ca_bundle).0, Cause::Absent);
}

#[test]
fn shared_rules_that_are_missing_or_wrong_stop_the_server() {
    let mut manifests = manifests("auth-server");
    manifests.edit("MCPAuthzConfig", "rules", |it| it["spec"]["config"]["policies"] = json!([]));
    assert_eq!(unusable(&manifests.resolved("notes").authz_config_ref).0, Cause::Invalid);
    manifests.remove("MCPAuthzConfig", "rules");
    assert_eq!(unusable(&manifests.resolved("notes").authz_config_ref).0, Cause::Absent);
}

#[test]
fn the_password_of_the_default_redis_is_looked_for_in_the_namespace_of_the_server() {
    let password = Some(("redis".to_owned(), "redis-password".to_owned()));
    let default_redis = Some(DefaultRedis { address: "shared:6379".to_owned(), password });
    let settings = Settings { default_redis, ..Settings::default() };
    let mut manifests = manifests("minimal");
    let missing = resolve(&manifests.snapshot_with("files", settings.clone()));
    assert_eq!(unusable(&missing.session_redis).0, Cause::Incomplete);
    manifests.add(secret("redis", &["redis-password"]));
    let snapshot = manifests.snapshot_with("files", settings);
    let config = build(&snapshot, &resolve(&snapshot), 1).unwrap();
    assert_eq!(config.scaling_config.unwrap().session_redis.unwrap().address, "shared:6379");
}

#[test]
fn hashes_follow_specs_and_nothing_else() {
    let mut manifests = manifests("everything");
    let before = manifests.resolved("web").hashes();
    assert!(before.tool_config.as_ref().is_some_and(|hash| hash.len() == 8));
    manifests.edit("MCPToolConfig", "few-tools", |it| {
        it["metadata"]["labels"] = json!({"a": "b"});
        it["status"] = json!({"configHash": "whatever"});
    });
    assert_eq!(manifests.resolved("web").hashes(), before);
    manifests.edit("MCPToolConfig", "few-tools", |it| it["spec"]["toolsFilter"] = json!(["echo"]));
    let after = manifests.resolved("web").hashes();
    assert_ne!(after.tool_config, before.tool_config);
    assert_eq!(after.oidc_config, before.oidc_config);
}

#[test]
fn what_was_read_for_someone_else_does_not_count() {
    let mut snapshot = manifests("github").snapshot("github");
    snapshot.references.insert(Reference::object::<MCPOIDCConfigSpec>("corp"), Read::Absent);
    assert_eq!(unusable(&resolve(&snapshot).oidc).0, Cause::Absent);
}

#[test]
fn what_has_no_effect_is_noted() {
    let resolved = manifests("everything").resolved("web");
    let notes = &resolved.tool_config.usable().unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("annotations of the tool \"echo\"")), "{notes:?}");
    let server = manifests("everything").server("web");
    assert_eq!(thv_plan::mcp_server::overruled_env(&server.spec), ["MCP_PORT"]);
}
