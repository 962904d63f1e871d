//! The parameters of each middleware.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::audit::AuditConfig;
use crate::json::Json;
use crate::oidc::OidcConfig;
use crate::outgoing::{AwsStsConfig, TokenExchangeConfig, UpstreamSwapConfig};
use crate::rate_limit::RateLimitConfig;
use crate::secret::Guarded;
use crate::telemetry::TelemetryConfig;
use crate::tool::ToolFace;
use crate::transport::Transport;
use crate::value::is_zero;
use crate::webhook::WebhookConfig;

/// Of `auth`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthParameters {
    /// How tokens are checked. Absent: every caller is the local user.
    #[serde(skip_serializing_if = "is_zero")]
    pub oidc_config: Option<OidcConfig>,
}

/// Of `tokenexchange`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenExchangeParameters {
    /// How tokens are exchanged.
    #[serde(skip_serializing_if = "is_zero")]
    pub token_exchange_config: Option<TokenExchangeConfig>,
}

/// Of `upstreamswap`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpstreamSwapParameters {
    /// Whose token goes where.
    #[serde(skip_serializing_if = "is_zero")]
    pub config: Option<UpstreamSwapConfig>,
}

/// Of `awssts`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AwsStsParameters {
    /// How requests are signed.
    #[serde(skip_serializing_if = "is_zero")]
    pub aws_sts_config: Option<AwsStsConfig>,

    /// The server that they are signed for.
    #[serde(skip_serializing_if = "is_zero")]
    pub target_url: Guarded<String>,
}

/// Of `bodylimit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BodyLimitParameters {
    /// How many bytes a request may have. Not more than zero: the default.
    pub max_bytes: i64,
}

impl BodyLimitParameters {
    /// The default limit: 8 MiB.
    pub const DEFAULT: i64 = 8 << 20;
}

impl Default for BodyLimitParameters {
    fn default() -> Self {
        Self { max_bytes: Self::DEFAULT }
    }
}

/// Of `tool-filter` and `tool-call-filter`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolFilterParameters {
    /// Names of tools that clients may see. `null` and none at all: every tool.
    pub filter_tools: Option<Vec<String>>,

    /// Other faces for tools, by their actual names.
    pub tools_override: Option<BTreeMap<String, ToolFace>>,
}

/// Of `ratelimit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RateLimitParameters {
    /// Namespace under which calls are counted.
    pub namespace: String,

    /// Name of the server under which calls are counted.
    pub server_name: String,

    /// The limits.
    #[serde(skip_serializing_if = "is_zero")]
    pub config: Option<RateLimitConfig>,

    /// Redis that counts, as `host:port`.
    #[serde(skip_serializing_if = "is_zero")]
    pub redis_addr: String,

    /// Number of the database.
    #[serde(skip_serializing_if = "is_zero")]
    pub redis_db: i32,
}

/// Of `telemetry`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TelemetryParameters {
    /// What is sent where.
    #[serde(skip_serializing_if = "is_zero")]
    pub config: Option<TelemetryConfig>,

    /// Name of the server in attributes.
    pub server_name: String,

    /// Transport in attributes.
    #[serde(skip_serializing_if = "is_zero")]
    pub transport: Option<Transport>,
}

/// Of `authorization`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthorizationParameters {
    /// File with an authorization document.
    #[serde(skip_serializing_if = "is_zero")]
    pub config_path: String,

    /// An authorization document: an [`AuthzDocument`](crate::authz::AuthzDocument), or one of another
    /// authorizer.
    #[serde(skip_serializing_if = "is_zero")]
    pub config_data: Option<Json>,
}

/// Of `audit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditParameters {
    /// File with a configuration.
    #[serde(skip_serializing_if = "is_zero")]
    pub config_path: String,

    /// What is recorded.
    #[serde(skip_serializing_if = "is_zero")]
    pub config_data: Option<AuditConfig>,

    /// Component that records call themselves after.
    #[serde(skip_serializing_if = "is_zero")]
    pub component: String,

    /// Transport in records.
    #[serde(skip_serializing_if = "is_zero")]
    pub transport_type: Option<Transport>,
}

/// Of `header-forward`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeaderForwardParameters {
    /// Headers with their values.
    pub add_headers: Guarded<BTreeMap<String, String>>,
}

/// Of `origin`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OriginParameters {
    /// Origins that browsers may come from.
    pub allowed_origins: Vec<String>,
}

/// Of `validating-webhook` and `mutating-webhook`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebhookParameters {
    /// Webhooks, in the order in which they are asked.
    pub webhooks: Vec<WebhookConfig>,

    /// Name of the server that webhooks are told.
    pub server_name: String,

    /// Transport that webhooks are told.
    #[serde(skip_serializing_if = "is_zero")]
    pub transport: Option<Transport>,
}
