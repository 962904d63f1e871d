//! Volumes, mounts and Secrets of objects with pods: whatever is rendered is kept that way.
//!
//! What only an `MCPServer` has is in `drift`, `signing_keys` and `references`.

mod reads;
mod referenced;
mod rotation;
mod siblings;
mod template;

use anyhow::Result;
use serde_json::{Value, json};
use thv_testbed::Space;

use super::rollout::{config_map, secret};
use super::shift::{EMBEDDING_SERVER, Pods, REGISTRY, REMOTE_PROXY, VIRTUAL_SERVER};
use super::stage::{Stage, with};

/// The kinds whose pods take a template of the user's.
const TEMPLATED: [Pods; 4] = [VIRTUAL_SERVER, EMBEDDING_SERVER, REGISTRY, REMOTE_PROXY];

/// An identity provider with certificate authorities from this ConfigMap.
fn oidc(map: &str, key: &str) -> Value {
    let bundle = json!({"configMapRef": {"name": map, "key": key}});
    json!({"type": "inline", "inline": {"issuer": "https://auth.example.com", "caBundleRef": bundle}})
}

/// Telemetry with certificate authorities from this ConfigMap.
fn telemetry(map: &str) -> Value {
    json!({"openTelemetry": {
        "enabled": true, "endpoint": "otel:4318", "tracing": {"enabled": true},
        "caBundleRef": {"configMapRef": {"name": map, "key": "ca.crt"}},
    }})
}

/// A remote server with certificate authorities from this ConfigMap, as a member of the group.
fn entry(map: &str, key: &str) -> Value {
    json!({
        "groupRef": {"name": "g"}, "remoteUrl": "https://mcp.example.com", "transport": "streamable-http",
        "caBundleRef": {"configMapRef": {"name": map, "key": key}},
    })
}

/// An authorization server with these Secrets.
fn auth_server(signing: &str, hmac: &str, client: &str) -> Value {
    let key = |name: &str, key: &str| json!({"name": name, "key": key});
    let provider = json!({
        "issuerUrl": "https://idp.example.com", "clientId": "c", "clientSecretRef": key(client, "client"),
    });
    json!({
        "issuer": "https://auth.example.com",
        "upstreamProviders": [{"name": "main", "type": "oidc", "oidcConfig": provider}],
        "signingKeySecretRefs": [key(signing, "signing")],
        "hmacSecretRefs": [key(hmac, "hmac")],
    })
}

/// A virtual server that uses everything that one can, with a member that has certificate authorities.
async fn everything(space: &Space) -> Result<Stage> {
    let stage = Stage::start(space).await?;
    for map in ["ca-v1", "ca-v2"] {
        config_map(space, map, json!({"ca.crt": map, "other.crt": map})).await?;
    }
    for name in ["keys-v1", "keys-v2"] {
        let keys = json!({"signing": name, "hmac": name, "client": name, "redis": name});
        secret(space, name, keys).await?;
    }
    stage.settle("MCPGroup", "g", json!({})).await?;
    stage.settle("MCPOIDCConfig", "oidc", oidc("ca-v1", "ca.crt")).await?;
    stage.settle("MCPTelemetryConfig", "otel", telemetry("ca-v1")).await?;
    stage.make("MCPServerEntry", "ctx", entry("ca-v1", "ca.crt")).await?;
    let url = format!("http://vmcp-s.{}.svc.cluster.local:4483", space.namespace());
    let spec = json!({
        "incomingAuth": {"type": "oidc", "oidcConfigRef": {"name": "oidc", "audience": url}},
        "outgoingAuth": {"source": "inline"},
        "telemetryConfigRef": {"name": "otel"},
        "authServerConfig": auth_server("keys-v1", "keys-v1", "keys-v1"),
        "sessionStorage": {
            "provider": "redis", "address": "redis:6379", "passwordRef": {"name": "keys-v1", "key": "redis"},
        },
        "imagePullSecrets": [{"name": "pull-v1"}],
    });
    let made = stage.settle(VIRTUAL_SERVER.kind, "s", with((VIRTUAL_SERVER.spec)(), &spec)).await?;
    assert_eq!(made.data["status"]["phase"], "Pending", "{:#}", made.data["status"]);
    Ok(stage)
}

/// An operator, and an object of a kind with no more than it needs and these fields.
async fn with_fields(space: &Space, pods: &Pods, fields: &Value) -> Result<Stage> {
    let stage = Stage::start(space).await?;
    stage.settle("MCPGroup", "g", json!({})).await?;
    stage.settle(pods.kind, "s", with((pods.spec)(), fields)).await?;
    Ok(stage)
}
