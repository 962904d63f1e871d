//! Conditions of `MCPServer`.

pub use super::common::{
    AuthServerRefValidated, AuthzConfigRefValidated, AuthzPrimaryUpstreamProviderIgnored,
    CABundleRefValidated, GroupRefValidated, OIDCConfigRefValidated, PodTemplateValid, SessionStorageWarning,
};
use super::condition;

condition! {
    /// Whether the server can be called.
    Ready = "Ready" {
        /// It can.
        True Ready = "Ready",
        /// It cannot.
        False NotReady = "NotReady",
    }
}

condition! {
    /// Whether fewer replicas run than asked for, because the transport allows one only.
    StdioReplicaCapped = "StdioReplicaCapped" {
        /// One replica runs in place of several.
        True CapAt1 = "StdioTransportCapAt1",
        /// As many run as asked for.
        False NotActive = "StdioReplicaCapNotActive",
    }
}

condition! {
    /// Whether the rate limits can be enforced.
    RateLimitConfigValid = "RateLimitConfigValid" {
        /// They can.
        True Valid = "RateLimitConfigValid",
        /// There are none.
        True NotApplicable = "RateLimitNotApplicable",
        /// There is a limit for every caller, but callers are not identified.
        False PerUserRequiresAuth = "PerUserRequiresAuth",
    }
}

condition! {
    /// Whether the telemetry settings referred to can be used.
    TelemetryConfigRefValidated = "TelemetryConfigRefValidated" {
        /// They can.
        True Valid = "TelemetryConfigRefValid",
        /// They are not there.
        False NotFound = "TelemetryConfigRefNotFound",
        /// They are there, but not valid.
        False Invalid = "TelemetryConfigRefInvalid",
        /// They could not be read.
        False Error = "TelemetryConfigRefError",
    }
}

condition! {
    /// Whether the external authentication settings referred to can be used. There only when they cannot.
    ExternalAuthConfigValidated = "ExternalAuthConfigValidated" {
        /// They are not valid, for a reason that they do not tell.
        False InvalidExternalAuthConfig = "InvalidExternalAuthConfig",
        /// They are not valid.
        False ValidationFailed = "ValidationFailed",
        /// They need something that this build does not have.
        False EnterpriseRequired = "EnterpriseRequired",
        /// They do not fit this server, or are not valid.
        False InvalidConfig = "InvalidConfig",
        /// They name more than one upstream provider.
        False MultiUpstreamNotSupported = "MultiUpstreamNotSupported",
    }
}

condition! {
    /// Whether the webhooks referred to can be used.
    WebhookConfigValidated = "WebhookConfigValidated" {
        /// They cannot.
        False Invalid = "WebhookConfigInvalid",
    }
}
