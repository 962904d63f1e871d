//! Documents are read and written back as they are.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper fails by panicking"
)]

mod support;

use support::{EVERY_KEY, GOLDEN, fields_of, parse, text};
use thv_config::middleware::{Middleware, ToolFilterParameters};
use thv_config::{
    Json, RunConfig, audit, auth_server, authz, oidc, outgoing, permission, rate_limit, remote, run_config,
    scaling, telemetry, tool, webhook,
};

#[test]
fn documents_come_back_byte_for_byte() {
    for (name, golden) in GOLDEN {
        assert_eq!(text(&parse(golden)), *golden, "{name}");
    }
}

#[test]
fn the_order_of_keys_in_a_file_does_not_matter() {
    // serde_json sorts keys; what we write is in our order again.
    for (name, golden) in GOLDEN {
        let mut document: serde_json::Value = serde_json::from_str(golden).unwrap();
        // These parts are ours to keep, not to order.
        for raw in ["authz_config", "middleware_configs", "runtime_config"] {
            document.as_object_mut().unwrap().remove(raw);
        }
        let mut expected = parse(golden);
        expected.authz_config = None;
        expected.middleware_configs = Vec::new();
        expected.runtime_config = None;
        assert_eq!(text(&parse(&document.to_string())), text(&expected), "{name}");
    }
}

#[test]
fn every_middleware_is_understood_and_written_back() {
    let mut seen = Vec::new();
    for (name, golden) in GOLDEN {
        for config in parse(golden).middleware_configs {
            let decoded = config.decode().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(decoded.unknown, Vec::<String>::new(), "{name}: {}", config.type_);
            assert_eq!(decoded.value.to_config().unwrap(), config, "{name}");
            seen.push(decoded.value.type_name());
        }
    }
    for type_ in Middleware::TYPES {
        assert!(seen.contains(type_), "no golden file has {type_}");
    }
}

#[test]
fn an_absent_filter_is_null() {
    let config = Middleware::ToolFilter(ToolFilterParameters::default()).to_config().unwrap();
    assert_eq!(
        serde_json::to_string(&config).unwrap(),
        r#"{"type":"tool-filter","parameters":{"filter_tools":null,"tools_override":null}}"#
    );
}

/// Says that the object at a JSON pointer of the document with every key has all keys of a type, in order.
macro_rules! has_every_key {
    ($( $pointer:literal $type:ty ),+ $(,)?) => {{
        let document: Json = serde_json::from_str(EVERY_KEY).unwrap();
        $(
            let object = $pointer.split('/').skip(1).fold(&document, |json, step| match json {
                Json::Array(items) => &items[step.parse::<usize>().unwrap()],
                _ => json.get(step).unwrap_or_else(|| panic!("no {} in {}", step, $pointer)),
            });
            let Json::Object(members) = object else { panic!("{} is no object", $pointer) };
            let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
            assert_eq!(keys, fields_of::<$type>(), "{}", $pointer);
        )+
    }};
}

#[test]
fn every_key_is_tried() {
    has_every_key! {
        "" RunConfig,
        "/permission_profile" permission::PermissionProfile,
        "/permission_profile/network" permission::NetworkPermissions,
        "/permission_profile/network/outbound" permission::OutboundPermissions,
        "/permission_profile/network/inbound" permission::InboundPermissions,
        "/oidc_config" oidc::OidcConfig,
        "/token_exchange_config" outgoing::TokenExchangeConfig,
        "/upstream_swap_config" outgoing::UpstreamSwapConfig,
        "/aws_sts_config" outgoing::AwsStsConfig,
        "/aws_sts_config/role_mappings/0" outgoing::RoleMapping,
        "/authz_config/pdp" authz::PdpConfig,
        "/authz_config/pdp/http" authz::PdpHttp,
        "/authz_config/pdp/context" authz::PdpContext,
        "/audit_config" audit::AuditConfig,
        "/telemetry_config" telemetry::TelemetryConfig,
        "/rate_limit_config" rate_limit::RateLimitConfig,
        "/rate_limit_config/shared" rate_limit::RateLimitBucket,
        "/rate_limit_config/tools/0" rate_limit::ToolRateLimit,
        "/tools_override/find_tickets" tool::ToolOverride,
        "/ignore_config" run_config::IgnoreConfig,
        "/validating_webhooks/0" webhook::WebhookConfig,
        "/validating_webhooks/0/tls_config" webhook::WebhookTls,
        "/runtime_config" run_config::RuntimeConfig,
        "/header_forward" remote::HeaderForwardConfig,
        "/scaling_config" scaling::ScalingConfig,
        "/scaling_config/session_redis" scaling::SessionRedis,
        "/embedded_auth_server_config" auth_server::AuthServerConfig,
        "/embedded_auth_server_config/signing_key_config" auth_server::SigningKeys,
        "/embedded_auth_server_config/token_lifespans" auth_server::TokenLifespans,
        "/embedded_auth_server_config/upstreams/0/oidc_config" auth_server::OidcUpstream,
        "/embedded_auth_server_config/upstreams/0/oidc_config/userinfo_override" auth_server::UserInfo,
        "/embedded_auth_server_config/upstreams/0/oidc_config/userinfo_override/field_mapping" auth_server::UserInfoFields,
        "/embedded_auth_server_config/upstreams/1/oauth2_config" auth_server::Oauth2Upstream,
        "/embedded_auth_server_config/upstreams/1/oauth2_config/token_response_mapping" auth_server::TokenResponseMapping,
        "/embedded_auth_server_config/upstreams/1/oauth2_config/identity_from_token" auth_server::IdentityFromToken,
        "/embedded_auth_server_config/upstreams/1/oauth2_config/dcr_config" auth_server::ClientRegistration,
        "/embedded_auth_server_config/storage" auth_server::AuthServerStorage,
        "/embedded_auth_server_config/storage/redis_config" auth_server::RedisStorage,
        "/embedded_auth_server_config/storage/redis_config/sentinel_config" auth_server::RedisSentinel,
        "/embedded_auth_server_config/storage/redis_config/acl_user_config" auth_server::RedisUser,
        "/embedded_auth_server_config/storage/redis_config/tls" auth_server::RedisTls,
        "/embedded_auth_server_config/cimd" auth_server::ClientIdMetadata,
        "/embedded_auth_server_config/trusted_issuers/0" auth_server::TrustedIssuer,
        "/embedded_auth_server_config/trusted_issuers/0/jwt_bearer_grant" auth_server::JwtBearerGrant,
        "/embedded_auth_server_config/trusted_issuers/0/jwt_bearer_grant/subject_bindings/0" auth_server::SubjectBinding,
        "/embedded_auth_server_config/delegate_clients/0" auth_server::DelegateClient,
    }
}

#[test]
fn every_key_of_remote_sign_in_is_tried() {
    let document: Json = serde_json::from_str(EVERY_KEY).unwrap();
    let Some(Json::Object(members)) = document.get("remote_auth_config") else { panic!("no object") };
    let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    // Older spellings are capitalised.
    let fields = fields_of::<remote::RemoteAuthConfig>();
    let present: Vec<&str> =
        fields.into_iter().filter(|field| field.starts_with(|c: char| c.is_lowercase())).collect();
    assert_eq!(keys, present);
}
