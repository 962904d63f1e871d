//! Conditions of `MCPServer`.

pub use super::common::{
    AuthServerRefValidated, AuthzConfigRefValidated, AuthzPrimaryUpstreamProviderIgnored, AutoscalerConflict,
    CABundleRefValidated, GroupRefValidated, OIDCConfigRefValidated, OverridesAccepted, PodTemplateValid,
    SessionStorageWarning, SettingsIgnored,
};
use super::{condition, polarities};

condition! {
    /// Whether the server can be called.
    Ready = Good "Ready" {
        /// It can.
        True Ready = "Ready",
        /// It cannot.
        False NotReady = "NotReady",
    }
}

condition! {
    /// Whether fewer replicas run than asked for, because the transport allows one only.
    StdioReplicaCapped = Bad "StdioReplicaCapped" {
        /// One replica runs in place of several.
        True CapAt1 = "StdioTransportCapAt1",
        /// As many run as asked for.
        False NotActive = "StdioReplicaCapNotActive",
    }
}

condition! {
    /// Whether the spec makes sense by itself. What it refers to has conditions of its own.
    SpecValid = Good "SpecValid" {
        /// It does.
        True Valid = "ValidSpec",
        /// It does not, and what was there before stays until it does.
        False Invalid = "InvalidSpec",
        /// Another object has a Deployment of this name already.
        False NameTaken = "NameTaken",
    }
}

condition! {
    /// Whether the rate limits can be enforced.
    RateLimitConfigValid = Good "RateLimitConfigValid" {
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
    TelemetryConfigRefValidated = Good "TelemetryConfigRefValidated" {
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
    ExternalAuthConfigValidated = Good "ExternalAuthConfigValidated" {
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
    WebhookConfigValidated = Good "WebhookConfigValidated" {
        /// They cannot.
        False Invalid = "WebhookConfigInvalid",
    }
}

polarities![
    AuthServerRefValidated,
    AuthzConfigRefValidated,
    AuthzPrimaryUpstreamProviderIgnored,
    AutoscalerConflict,
    CABundleRefValidated,
    ExternalAuthConfigValidated,
    GroupRefValidated,
    OIDCConfigRefValidated,
    OverridesAccepted,
    PodTemplateValid,
    RateLimitConfigValid,
    Ready,
    SessionStorageWarning,
    SettingsIgnored,
    SpecValid,
    StdioReplicaCapped,
    TelemetryConfigRefValidated,
    WebhookConfigValidated,
];
