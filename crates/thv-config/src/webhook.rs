//! Webhooks that are asked about requests.

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use crate::nanoseconds::Nanoseconds;
use crate::secret::Guarded;
use crate::value::is_zero;

string_enum! {
    /// What to do with a request when its webhook cannot be asked.
    #[derive(Default)]
    pub enum FailurePolicy {
        /// Refuse it.
        #[default]
        Fail = "fail",
        /// Let it pass.
        Ignore = "ignore",
    }
}

/// A webhook that is asked about requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebhookConfig {
    /// Name of the webhook.
    pub name: String,

    /// Where it is.
    pub url: Guarded<String>,

    /// How long an answer may take. Ten seconds when zero.
    pub timeout: Nanoseconds,

    /// What to do when it cannot be asked.
    pub failure_policy: FailurePolicy,

    /// TLS towards it.
    #[serde(skip_serializing_if = "is_zero")]
    pub tls_config: Option<WebhookTls>,

    /// File with the key that requests are signed with, or the name of that key at the secrets provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub hmac_secret_ref: String,
}

/// TLS towards a webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebhookTls {
    /// File with the certificate authorities to trust.
    #[serde(skip_serializing_if = "is_zero")]
    pub ca_bundle_path: String,

    /// File with the certificate of the proxy.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_cert_path: String,

    /// File with the key of that certificate.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_key_path: String,

    /// Whether any certificate is accepted. For tests only.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_skip_verify: bool,
}
