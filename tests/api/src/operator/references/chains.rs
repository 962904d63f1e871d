//! Chains of references: what changes at the far end is seen at the near one.

use anyhow::Result;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, DynamicObject};
use serde_json::{Value, json};
use thv_testbed::{Mark, in_namespace};

use super::super::difference::{Children, Places};
use super::super::drift::{all, in_pods};
use super::super::rollout::{minted, secret};
use super::{Stage, condition, server};

/// A way to sign in with a client secret from this Secret.
fn exchange(secret: &str) -> Value {
    json!({"type": "tokenExchange", "tokenExchange": {
        "tokenUrl": "https://login.example.com/token", "audience": "backend", "clientId": "proxy",
        "clientSecretRef": {"name": secret, "key": "k"},
    }})
}

/// A server that belongs to a group and signs in.
fn signing_in() -> Value {
    server(json!({"groupRef": {"name": "g"}, "externalAuthConfigRef": {"name": "auth"}}))
}

/// An authorization server that uses every Secret that one can name but keys: two names for each.
fn auth_server(names: &[&str; 7]) -> Value {
    let key = |index: usize| json!({"name": names[index], "key": "k"});
    json!({"type": "embeddedAuthServer", "embeddedAuthServer": {
        "issuer": "https://auth.example.com",
        "upstreamProviders": [{"name": "main", "type": "oauth2", "oauth2Config": {
            "authorizationEndpoint": "https://idp.example.com/authorize",
            "tokenEndpoint": "https://idp.example.com/token",
            "dcrConfig": {
                "registrationEndpoint": "https://idp.example.com/register", "initialAccessTokenRef": key(0),
            },
            "userInfo": {"endpointUrl": "https://idp.example.com/user"},
        }}],
        "hmacSecretRefs": [key(1)],
        "delegateClients": [{
            "clientId": "agent", "clientSecretRef": key(2), "scopes": ["openid"],
            "audiences": ["https://s.example.com"],
        }],
        "storage": {"type": "redis", "redis": {
            "sentinelConfig": {"masterName": "main", "sentinelAddrs": ["sentinel:26379"]},
            "aclUserConfig": {"usernameSecretRef": key(3), "passwordSecretRef": key(4)},
            "tls": {"caCertSecretRef": key(5)},
            "sentinelTls": {"caCertSecretRef": key(6)},
        }},
    }})
}

/// Where each of the Secrets of [`auth_server`] is in the pods.
const IN_PODS: [&str; 7] = [
    "containers[toolhive].env[TOOLHIVE_UPSTREAM_DCR_INITIAL_ACCESS_TOKEN_MAIN].valueFrom.secretKeyRef.name",
    "volumes[authserver-hmac-secret-0].secret.secretName",
    "containers[toolhive].env[TOOLHIVE_DELEGATE_CLIENT_SECRET_0].valueFrom.secretKeyRef.name",
    "containers[toolhive].env[TOOLHIVE_AUTH_SERVER_REDIS_USERNAME].valueFrom.secretKeyRef.name",
    "containers[toolhive].env[TOOLHIVE_AUTH_SERVER_REDIS_PASSWORD].valueFrom.secretKeyRef.name",
    "volumes[redis-tls-ca-master].secret.secretName",
    "volumes[redis-tls-ca-sentinel].secret.secretName",
];

impl Stage {
    /// Edits something that the server `s` refers to, and returns what changes of the server's children with that.
    async fn follows(&self, (kind, name): (&str, &str), spec: Value) -> Result<Places> {
        let (before, old) = (self.operator.children().await?, self.operator.deployment("s").await?);
        let mark = self.operator.recorder.mark();
        self.make(kind, name, spec).await?;
        self.operator.rolled(&old).await?;
        self.calm().await?;
        self.operator.assert_applies(mark, 1);
        Ok(before.changes(&self.operator.children().await?))
    }
}

#[tokio::test]
async fn s4_11_s4_02_another_secret_of_an_authorization_server_reaches_the_pods() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        for name in ["v1", "v2"] {
            secret(&space, name, json!({"k": name})).await?;
        }
        let mut names = ["v1"; 7];
        stage.settle("MCPExternalAuthConfig", "auth", auth_server(&names)).await?;
        let oidc = json!({"type": "inline", "inline": {"issuer": "https://auth.example.com"}});
        stage.settle("MCPOIDCConfig", "oidc", oidc).await?;
        let spec = server(json!({
            "authServerRef": {"kind": "MCPExternalAuthConfig", "name": "auth"},
            "oidcConfigRef": {
                "name": "oidc", "audience": "https://s.example.com", "resourceUrl": "https://s.example.com",
            },
        }));
        let made = stage.settle("MCPServer", "s", spec).await?;
        assert_eq!(condition(&made, "AuthServerRefValidated")["status"], "True", "{:?}", made.data["status"]);

        for (index, place) in IN_PODS.iter().enumerate() {
            names[index] = "v2";
            let changed = stage.follows(("MCPExternalAuthConfig", "auth"), auth_server(&names)).await?;
            assert_eq!(changed, all([minted(), in_pods([place])]), "{place}");
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s4_11_s4_02_another_secret_at_the_end_of_a_chain_of_three_reaches_the_pods_and_nobody_else() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        for name in ["v1", "v2"] {
            secret(&space, name, json!({"k": name})).await?;
        }
        stage.settle("MCPGroup", "g", json!({})).await?;
        stage.settle("MCPExternalAuthConfig", "auth", exchange("v1")).await?;
        stage.settle("MCPServer", "s", signing_in()).await?;
        stage.settle("MCPServer", "other", server(json!({"groupRef": {"name": "g"}}))).await?;
        stage.calm().await?;
        let mark = stage.operator.recorder.mark();

        let changed = stage.follows(("MCPExternalAuthConfig", "auth"), exchange("v2")).await?;
        let place =
            "containers[toolhive].env[TOOLHIVE_TOKEN_EXCHANGE_CLIENT_SECRET].valueFrom.secretKeyRef.name";
        assert_eq!(changed, all([minted(), in_pods([place])]));
        assert_eq!(stage.writes(mark, "MCPExternalAuthConfig", "auth"), ["Apply status"]);
        for (kind, name) in [("MCPGroup", "g"), ("MCPServer", "other")] {
            stage.requests(mark, kind, name).assert_empty("request about a neighbour");
        }
        Ok(())
    })
    .await;
}

/// Waits until the server `s` says this of its way to sign in, or has nothing to say of it, with its own status as the
/// only write.
async fn says(stage: &Stage, mark: Mark, part: Option<&str>) -> Result<()> {
    let is_told = |server: &DynamicObject| {
        let found = condition(server, "ExternalAuthConfigValidated");
        let message = found["message"].as_str();
        message
            .zip(part)
            .map_or(message.is_none() == part.is_none(), |(message, part)| message.contains(part))
    };
    stage.until("MCPServer", "s", &format!("it says {part:?}"), is_told).await?;
    stage.calm().await?;
    assert_eq!(stage.writes(mark, "MCPServer", "s"), ["Apply status"], "{part:?}");
    stage.operator.assert_applies(mark, 0);
    stage
        .requests(mark, "MCPExternalAuthConfig", "auth")
        .writes()
        .assert_empty("write on what is in between");
    Ok(())
}

#[tokio::test]
async fn a_secret_that_goes_and_comes_back_at_the_end_of_a_chain_is_told_by_the_server() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        secret(&space, "v1", json!({"k": "1"})).await?;
        stage.settle("MCPGroup", "g", json!({})).await?;
        stage.settle("MCPExternalAuthConfig", "auth", exchange("v1")).await?;
        let made = stage.settle("MCPServer", "s", signing_in()).await?;
        assert_eq!(condition(&made, "ExternalAuthConfigValidated"), Value::Null);
        stage.calm().await?;
        let before = stage.operator.children().await?;

        let mark = stage.operator.recorder.mark();
        space.api::<Secret>().delete("v1", &DeleteParams::default()).await?;
        says(&stage, mark, Some("the Secret \"v1\", which does not exist")).await?;
        let mark = stage.operator.recorder.mark();
        secret(&space, "v1", json!({"other": "1"})).await?;
        says(&stage, mark, Some("has no such key")).await?;
        let mark = stage.operator.recorder.mark();
        secret(&space, "v1", json!({"other": "1", "k": "1"})).await?;
        says(&stage, mark, None).await?;
        let after: Children = stage.operator.children().await?;
        assert_eq!((before.versions(), before.changes(&after)), (after.versions(), Places::new()));
        Ok(())
    })
    .await;
}
