//! The keys of the authorization server in a proxy.

use serde_json::{Value, json};
use thv_api::kinds::MCPExternalAuthConfigSpec;
use thv_testbed::in_namespace;

use super::Operator;
use super::drift::{all, in_pods, shift};
use super::rollout::{config, minted, secret, variable};

/// An authorization server with these Secrets.
fn auth_server(signing: &str, hmac: &str, client: &str) -> Value {
    let key = |name: &str, key: &str| json!({"name": name, "key": key});
    let provider = json!({
        "issuerUrl": "https://idp.example", "clientId": "c", "clientSecretRef": key(client, "client"),
    });
    json!({"type": "embeddedAuthServer", "embeddedAuthServer": {
        "issuer": "https://auth.example",
        "upstreamProviders": [{"name": "main", "type": "oidc", "oidcConfig": provider}],
        "signingKeySecretRefs": [key(signing, "signing")],
        "hmacSecretRefs": [key(hmac, "hmac")],
    }})
}

#[tokio::test]
async fn s4_11_s4_02_another_signing_key_reaches_the_pods() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        for name in ["keys-v1", "keys-v2"] {
            secret(&space, name, json!({"signing": name, "hmac": name, "client": name})).await?;
        }
        let before = auth_server("keys-v1", "keys-v1", "keys-v1");
        config::<MCPExternalAuthConfigSpec>(&space, "auth", before).await?;
        let oidc = json!({"type": "inline", "inline": {"issuer": "https://auth.example"}});
        config::<thv_api::kinds::MCPOIDCConfigSpec>(&space, "oidc", oidc).await?;
        let spec = json!({
            "image": "localhost/server:1", "transport": "streamable-http",
            "authServerRef": {"kind": "MCPExternalAuthConfig", "name": "auth"},
            "oidcConfigRef": {"name": "oidc", "audience": "https://s.example", "resourceUrl": "https://s.example"},
        });
        let server = operator.server("s", spec).await?;
        assert!(operator.deployment("s").await.is_ok(), "{:?}", server.status.and_then(|status| status.message));

        // The files keep their places, so the configuration stays as it is.
        let after = auth_server("keys-v2", "keys-v1", "keys-v1");
        let changed = shift(&operator, config::<MCPExternalAuthConfigSpec>(&space, "auth", after)).await?;
        let source = in_pods(["volumes[authserver-signing-key-0].secret.secretName"]);
        assert_eq!(changed, all([minted(), source]));
        let after = auth_server("keys-v2", "keys-v2", "keys-v1");
        let changed = shift(&operator, config::<MCPExternalAuthConfigSpec>(&space, "auth", after)).await?;
        let source = in_pods(["volumes[authserver-hmac-secret-0].secret.secretName"]);
        assert_eq!(changed, all([minted(), source]));
        let after = auth_server("keys-v2", "keys-v2", "keys-v2");
        let changed = shift(&operator, config::<MCPExternalAuthConfigSpec>(&space, "auth", after)).await?;
        let name = "TOOLHIVE_UPSTREAM_CLIENT_SECRET_MAIN";
        let place = format!("containers[toolhive].env[{name}].valueFrom.secretKeyRef.name");
        assert_eq!(changed, all([minted(), in_pods([&place])]));
        let source = &variable(&operator.deployment("s").await?, name)["valueFrom"]["secretKeyRef"];
        assert_eq!(*source, json!({"name": "keys-v2", "key": "client"}));
        Ok(())
    })
    .await;
}
