//! `MCPWebhookConfig`: webhooks to share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object, Served, Version};
use crate::schema::cel;
use crate::shared::{ConfigStatus, SecretKeyRef};
use crate::value::{GoDuration, string_enum};

/// Webhooks that see the calls to a server.
pub type MCPWebhookConfig = Object<MCPWebhookConfigSpec>;

impl Kind for MCPWebhookConfigSpec {
    type Status = ConfigStatus;

    const KIND: &'static str = "MCPWebhookConfig";
    const PLURAL: &'static str = "mcpwebhookconfigs";
    const SINGULAR: &'static str = "mcpwebhookconfig";
    const SHORT_NAMES: &'static [&'static str] = &["mwc"];
    const VERSIONS: &'static [Served] = &[Served { version: Version::V1Alpha1, deprecation: None }];
    const STORAGE: Version = Version::V1Alpha1;
    const COLUMNS: &'static [Column] = &[Column::VALID, Column::REFERENCED, Column::REFERRERS, Column::AGE];
    const DESCRIPTION: &'static str = "Webhooks that check or change calls to a server before they reach \
         it. Servers refer to it by webhookConfigRef.";
}

/// Webhooks that see every call. At least one is required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "(has(self.validating) ? size(self.validating) : 0) + (has(self.mutating) ? \
         size(self.mutating) : 0) > 0",
        "define a webhook, validating or mutating",
    ),
])))]
pub struct MCPWebhookConfigSpec {
    /// Webhooks that may refuse a call. They run after the mutating ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validating: Option<Vec<Webhook>>,

    /// Webhooks that may change a call, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutating: Option<Vec<Webhook>>,
}

/// A webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// Name of the webhook, for messages and audit records.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,

    /// URL to call. It has to be https unless certificates are not verified.
    #[schemars(extend("format" = "uri"))]
    pub url: String,

    /// How long a call may take, from 1s to 30s. 10s when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "duration"))]
    pub timeout: Option<GoDuration>,

    /// What happens when the webhook cannot be reached.
    #[serde(default)]
    pub failure_policy: WebhookFailurePolicy,

    /// TLS towards the webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_config: Option<WebhookTls>,

    /// Key to sign calls with, so that the webhook can tell who calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hmac_secret_ref: Option<SecretKeyRef>,
}

string_enum! {
    /// What happens when a webhook cannot be reached.
    pub enum WebhookFailurePolicy {
        /// The call is refused.
        Fail = "fail",
        /// The call goes on without the webhook.
        Ignore = "ignore",
    }
    default Fail
}

/// TLS towards a webhook.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookTls {
    /// Certificate authority to trust. Those of the system when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_secret_ref: Option<SecretKeyRef>,

    /// Client certificate. Needs the key as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cert_secret_ref: Option<SecretKeyRef>,

    /// Key of the client certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_key_secret_ref: Option<SecretKeyRef>,

    /// Whether to accept any certificate, and plain http. For tests only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure_skip_verify: Option<bool>,
}
