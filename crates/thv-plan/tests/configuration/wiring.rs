//! What the pod of a proxy gets because of what its server refers to.

use std::collections::BTreeMap;

use serde_json::json;
use thv_plan::mcp_server::{resolve, run_config as build, wiring};
use thv_plan::run_config::Wiring;
use thv_plan::{EnvValue, Mount, VolumeSource};

use crate::golden::manifests;

fn secret_env(name: &str, secret: &str, key: &str) -> (String, EnvValue) {
    (name.to_owned(), EnvValue::Secret { name: secret.to_owned(), key: key.to_owned() })
}

fn volume<'a>(wiring: &'a Wiring, name: &str) -> (&'a VolumeSource, &'a Mount) {
    let volume = wiring.volumes.iter().find(|volume| volume.name == name);
    let volume = volume.unwrap_or_else(|| panic!("there is no volume {name} in {:?}", wiring.volumes));
    (&volume.source, &volume.mount)
}

fn items(key: &str, file: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(key.to_owned(), file.to_owned())])
}

#[test]
fn a_minimal_server_needs_nothing() {
    assert_eq!(wiring(&manifests("minimal").resolved("files")), Wiring::default());
}

#[test]
fn secrets_reach_the_proxy_by_reference() {
    let wiring = wiring(&manifests("everything").resolved("web"));
    let attributes = "service.name=web-front,service.namespace=fleet";
    assert_eq!(
        wiring.env,
        [
            ("OTEL_RESOURCE_ATTRIBUTES".to_owned(), EnvValue::Literal(attributes.to_owned())),
            secret_env("TOOLHIVE_OTEL_HEADER_X_API_KEY", "api-keys", "otel"),
            secret_env("TOOLHIVE_TOKEN_EXCHANGE_CLIENT_SECRET", "api-keys", "client-secret"),
            secret_env("THV_SESSION_REDIS_PASSWORD", "redis-auth", "password"),
        ]
    );
}

#[test]
fn files_are_mounted_where_the_configuration_says() {
    let wiring = wiring(&manifests("everything").resolved("web"));
    let (source, mount) = volume(&wiring, "otel-ca-bundle-otel-ca");
    assert_eq!(
        *source,
        VolumeSource::ConfigMap { name: "otel-ca".to_owned(), items: items("bundle.pem", "bundle.pem") }
    );
    assert_eq!(*mount, Mount::read_only("/config/certs/otel/otel-ca"));

    let (source, mount) = volume(&wiring, "permission-profile");
    assert_eq!(*source, VolumeSource::ConfigMap { name: "profiles".to_owned(), items: BTreeMap::new() });
    assert_eq!(*mount, Mount::read_only("/etc/toolhive/profiles"));

    let (source, mount) = volume(&wiring, "authz-config");
    assert_eq!(
        *source,
        VolumeSource::ConfigMap { name: "rules".to_owned(), items: items("rules.yaml", "authz.json") }
    );
    assert_eq!(*mount, Mount::read_only("/etc/toolhive/authz"));

    let hooks: Vec<_> = wiring.volumes.iter().filter(|volume| volume.name.starts_with("whsec-")).collect();
    assert_eq!(hooks.len(), 4);
    assert!(hooks.iter().all(|hook| hook.mount.read_only && hook.mount.sub_path.is_some()));
}

#[test]
fn rules_in_the_spec_and_certificate_authorities_are_mounted() {
    let wiring = wiring(&manifests("github").resolved("github"));
    let (source, _) = volume(&wiring, "authz-config");
    let expected = VolumeSource::ConfigMap {
        name: "github-authz-inline".to_owned(),
        items: items("authz.json", "authz.json"),
    };
    assert_eq!(*source, expected);
    let (source, mount) = volume(&wiring, "oidc-ca-bundle-corp-ca");
    assert_eq!(
        *source,
        VolumeSource::ConfigMap { name: "corp-ca".to_owned(), items: items("ca.crt", "ca.crt") }
    );
    assert_eq!(mount.path, "/config/certs/corp-ca");
}

#[test]
fn an_authorization_server_gets_its_keys() {
    let wiring = wiring(&manifests("auth-server").resolved("notes"));
    assert_eq!(
        wiring.env,
        [
            secret_env("TOOLHIVE_UPSTREAM_DCR_INITIAL_ACCESS_TOKEN_CORP_GIT", "git", "token"),
            secret_env("TOOLHIVE_DELEGATE_CLIENT_SECRET_0", "agent", "secret"),
            secret_env("TOOLHIVE_AUTH_SERVER_REDIS_USERNAME", "redis", "user"),
            secret_env("TOOLHIVE_AUTH_SERVER_REDIS_PASSWORD", "redis", "password"),
        ]
    );
    let (source, mount) = volume(&wiring, "authserver-signing-key-1");
    let expected = VolumeSource::Secret {
        name: "keys".to_owned(),
        items: items("previous", "key-1.pem"),
        mode: Some(0o400),
    };
    assert_eq!(*source, expected);
    assert_eq!(
        (mount.path.as_str(), mount.sub_path.as_deref()),
        ("/etc/toolhive/authserver/keys/key-1.pem", Some("key-1.pem"))
    );
    let (_, mount) = volume(&wiring, "authserver-hmac-secret-0");
    assert_eq!(mount.path, "/etc/toolhive/authserver/hmac/hmac-0");
    let (_, mount) = volume(&wiring, "redis-tls-ca-master");
    assert_eq!(mount.path, "/etc/toolhive/authserver/redis-tls/ca.crt");
    assert!(
        wiring.volumes.iter().all(|volume| volume.name != "redis-tls-ca-sentinel"),
        "it has no authority of its own"
    );
}

#[test]
fn a_bearer_token_reaches_the_environment_that_the_configuration_names() {
    let mut manifests = manifests("minimal");
    manifests.edit("MCPServer", "files", |it| it["spec"]["externalAuthConfigRef"] = json!({"name": "token"}));
    let token = json!({"tokenSecretRef": {"name": "api-keys", "key": "token"}});
    manifests.add(json!({
        "kind": "MCPExternalAuthConfig", "metadata": {"name": "token"},
        "spec": {"type": "bearerToken", "bearerToken": token},
    }));
    manifests.add(json!({"kind": "Secret", "metadata": {"name": "api-keys"}, "stringData": {"token": "x"}}));
    let snapshot = manifests.snapshot("files");
    let resolved = resolve(&snapshot);
    assert_eq!(wiring(&resolved).env, [secret_env("TOOLHIVE_SECRET_api-keys", "api-keys", "token")]);
    let config = build(&snapshot, &resolved, 1).unwrap();
    assert_eq!(config.remote_auth_config.unwrap().bearer_token.reference().unwrap().name, "api-keys");
}

#[test]
fn every_file_that_the_configuration_names_is_mounted() {
    for (case, server) in [("everything", "web"), ("github", "github"), ("auth-server", "notes")] {
        let snapshot = manifests(case).snapshot(server);
        let resolved = resolve(&snapshot);
        let text = String::from_utf8(build(&snapshot, &resolved, 1).unwrap().to_bytes().unwrap()).unwrap();
        let wiring = wiring(&resolved);
        let files =
            text.split('"').filter(|part| part.starts_with("/etc/toolhive/") || part.starts_with("/config/"));
        let mut count = 0;
        for file in files {
            let is_there =
                |mount: &Mount| file.starts_with(mount.path.as_str()) || mount.path.starts_with(file);
            assert!(wiring.volumes.iter().any(|volume| is_there(&volume.mount)), "{file} is not mounted");
            count += 1;
        }
        assert!(count > 0, "{case} names no files");
    }
}

#[test]
fn client_secrets_reach_the_proxy() {
    let mut identity = manifests("github");
    identity.add(json!({"kind": "Secret", "metadata": {"name": "idp"}, "stringData": {"secret": "x"}}));
    identity.edit("MCPOIDCConfig", "corp", |it| {
        it["spec"]["inline"]["clientSecretRef"] = json!({"name": "idp", "key": "secret"});
    });
    let env = wiring(&identity.resolved("github")).env;
    assert!(env.contains(&secret_env("TOOLHIVE_OIDC_CLIENT_SECRET", "idp", "secret")), "{env:?}");

    let secret = json!({"name": "git", "key": "token"});
    let oidc = json!({"issuerUrl": "https://i", "clientId": "c", "clientSecretRef": secret});
    let oauth2 = json!({
        "authorizationEndpoint": "https://a", "tokenEndpoint": "https://t", "clientId": "c", "clientSecretRef": secret,
    });
    for upstream in [
        json!({"name": "my-idp", "type": "oidc", "oidcConfig": oidc}),
        json!({"name": "my-idp", "type": "oauth2", "oauth2Config": oauth2}),
    ] {
        let mut manifests = manifests("auth-server");
        manifests.edit("MCPExternalAuthConfig", "sign-in", |it| {
            it["spec"]["embeddedAuthServer"]["upstreamProviders"] = json!([upstream]);
        });
        let snapshot = manifests.snapshot("notes");
        let resolved = resolve(&snapshot);
        let env = wiring(&resolved).env;
        assert!(
            env.contains(&secret_env("TOOLHIVE_UPSTREAM_CLIENT_SECRET_MY_IDP", "git", "token")),
            "{env:?}"
        );
        let text = String::from_utf8(build(&snapshot, &resolved, 1).unwrap().to_bytes().unwrap()).unwrap();
        assert!(
            text.contains(r#""client_secret_env_var": "TOOLHIVE_UPSTREAM_CLIENT_SECRET_MY_IDP""#),
            "{text}"
        );
    }
}

#[test]
fn the_authority_of_a_sentinel_is_mounted() {
    let mut manifests = manifests("auth-server");
    manifests.edit("MCPExternalAuthConfig", "sign-in", |it| {
        let redis = &mut it["spec"]["embeddedAuthServer"]["storage"]["redis"];
        redis["sentinelTls"] = json!({"caCertSecretRef": {"name": "redis", "key": "ca"}});
    });
    let wiring = wiring(&manifests.resolved("notes"));
    let (source, mount) = volume(&wiring, "redis-tls-ca-sentinel");
    let expected = VolumeSource::Secret {
        name: "redis".to_owned(),
        items: items("ca", "sentinel-ca.crt"),
        mode: Some(0o400),
    };
    assert_eq!(*source, expected);
    assert_eq!(mount.path, "/etc/toolhive/authserver/redis-tls/sentinel-ca.crt");
}

#[test]
fn the_secrets_of_webhooks_are_mounted_under_the_names_of_the_go_operator() {
    let mut manifests = manifests("everything");
    manifests.add(
        json!({"kind": "Secret", "metadata": {"name": "hook-secrets"}, "stringData": {"hmac-key": "x"}}),
    );
    manifests.edit("MCPWebhookConfig", "hooks", |it| {
        it["spec"]["validating"][0]["hmacSecretRef"] = json!({"name": "hook-secrets", "key": "hmac-key"});
    });
    let wiring = wiring(&manifests.resolved("web"));
    let (source, mount) = volume(&wiring, "whsec-866a2f1e");
    let expected = VolumeSource::Secret {
        name: "hook-secrets".to_owned(),
        items: items("hmac-key", "hmac"),
        mode: None,
    };
    assert_eq!(*source, expected);
    assert_eq!(mount.path, "/etc/toolhive/webhooks/webhook_validating_policy_check_hmac_8afca74e/hmac");
}
