//! Conditions of `MCPRemoteProxy`.

pub use super::common::{
    AuthServerRefValidated, AuthzConfigRefValidated, AuthzPrimaryUpstreamProviderIgnored, AutoscalerConflict,
    CABundleRefValidated, GroupRefValidated, OIDCConfigRefValidated, OverridesAccepted, PodTemplateValid,
    SessionStorageWarning, SettingsIgnored, TelemetryConfigRefValidated,
};
use super::{condition, polarities};

condition! {
    /// Whether the proxy can be called.
    Ready = Good "Ready" {
        /// It can.
        True DeploymentReady = "DeploymentReady",
        /// No pod is ready.
        False DeploymentNotReady = "DeploymentNotReady",
        /// The spec does not allow it to run.
        False NotReady = "NotReady",
    }
}

condition! {
    /// Whether the spec makes sense.
    ConfigurationValid = Good "ConfigurationValid" {
        /// It does.
        True Valid = "ConfigurationValid",
        /// The URL of the remote server is malformed or not allowed.
        False RemoteURLInvalid = "RemoteURLInvalid",
        /// The external authentication settings could not be read.
        False ExternalAuthConfigFetchError = "ExternalAuthConfigFetchError",
        /// A policy is not Cedar.
        False AuthzPolicySyntaxInvalid = "AuthzPolicySyntaxInvalid",
        /// The ConfigMap with authorization rules is not there.
        False AuthzConfigMapNotFound = "AuthzConfigMapNotFound",
        /// The ConfigMap with authorization rules cannot be used.
        False AuthzConfigMapInvalid = "AuthzConfigMapInvalid",
        /// A Secret for a header is not there.
        False HeaderSecretNotFound = "HeaderSecretNotFound",
        /// Something else in it does not, and what was there before stays until it does.
        False InvalidSpec = "InvalidSpec",
        /// Another object has a Deployment of this name already.
        False NameTaken = "NameTaken",
    }
}

condition! {
    /// Whether authentication and authorization are set up.
    AuthConfigured = Good "AuthConfigured" {
        /// They are.
        True Valid = "AuthValid",
        /// They are not.
        False Invalid = "AuthInvalid",
    }
}

condition! {
    /// Whether the choice of tools referred to can be used.
    ToolConfigValidated = Good "ToolConfigValidated" {
        /// It can.
        True Valid = "ToolConfigValid",
        /// It is not there.
        False NotFound = "ToolConfigNotFound",
        /// It could not be read.
        False FetchError = "ToolConfigFetchError",
        /// It is there, but not valid.
        False Invalid = "ToolConfigInvalid",
    }
}

condition! {
    /// Whether the external authentication settings referred to can be used.
    ExternalAuthConfigValidated = Good "ExternalAuthConfigValidated" {
        /// They can.
        True Valid = "ExternalAuthConfigValid",
        /// They are not there.
        False NotFound = "ExternalAuthConfigNotFound",
        /// They could not be read.
        False FetchError = "ExternalAuthConfigFetchError",
        /// They are not valid, for a reason that they do not tell.
        False InvalidExternalAuthConfig = "InvalidExternalAuthConfig",
        /// They are not valid.
        False ValidationFailed = "ValidationFailed",
        /// They need something that this build does not have.
        False EnterpriseRequired = "EnterpriseRequired",
        /// They do not fit this proxy, or are not valid.
        False InvalidConfig = "InvalidConfig",
        /// They name more than one upstream provider.
        False MultiUpstreamNotSupported = "MultiUpstreamNotSupported",
    }
}

polarities![
    AuthConfigured,
    AuthServerRefValidated,
    AuthzConfigRefValidated,
    AuthzPrimaryUpstreamProviderIgnored,
    AutoscalerConflict,
    CABundleRefValidated,
    ConfigurationValid,
    ExternalAuthConfigValidated,
    GroupRefValidated,
    OIDCConfigRefValidated,
    OverridesAccepted,
    PodTemplateValid,
    Ready,
    SessionStorageWarning,
    SettingsIgnored,
    TelemetryConfigRefValidated,
    ToolConfigValidated,
];
