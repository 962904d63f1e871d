//! Conditions of `VirtualMCPServer`.

pub use super::common::{
    AuthzConfigRefValidated, AutoscalerConflict, IdentitySynthesized, OIDCConfigRefValidated,
    OverridesAccepted, SessionStorageWarning, SettingsIgnored, TelemetryConfigRefValidated,
};
use super::{ReasonAbout, condition, polarities};

condition! {
    /// Whether the virtual server can be called.
    Ready = Good "Ready" {
        /// It can.
        True DeploymentReady = "DeploymentReady",
        /// All pods have failed.
        False DeploymentFailed = "DeploymentFailed",
        /// No pod is ready.
        False DeploymentNotReady = "DeploymentNotReady",
        /// Some servers cannot be called.
        False BackendsDegraded = "BackendsDegraded",
        /// No server can be called.
        False BackendsUnavailable = "BackendsUnavailable",
        /// It is not known which servers can be called.
        False BackendsUnknown = "BackendsUnknown",
        /// The settings of the authorization server are wrong.
        False AuthServerConfigInvalid = "AuthServerConfigInvalid",
        /// All servers can be called, says the virtual server itself.
        True AllBackendsRoutable = "AllBackendsRoutable",
        /// Some servers cannot be called, says the virtual server itself.
        False SomeBackendsUnhealthy = "SomeBackendsUnhealthy",
        /// No server can be called, says the virtual server itself.
        False NoRoutableBackends = "NoRoutableBackends",
        /// The servers have not been checked, says the virtual server itself.
        False BackendsPending = "BackendsPending",
    }
}

condition! {
    /// Whether the spec makes sense.
    Valid = Good "Valid" {
        /// It does.
        True Succeeded = "ValidationSucceeded",
        /// It does not.
        False Failed = "ValidationFailed",
        /// Something that would have to be called the same belongs to another object.
        False NameTaken = "NameTaken",
    }
}

condition! {
    /// Whether every member of the group is offered.
    MembersAccepted = Good "MembersAccepted" {
        /// All of them are.
        True Accepted = "MembersAccepted",
        /// Some are left out.
        False LeftOut = "MembersLeftOut",
    }
}

condition! {
    /// Whether the pod template can be used.
    PodTemplateSpecValid = Good "PodTemplateSpecValid" {
        /// It can.
        True Valid = "PodTemplateSpecValid",
        /// It is not a pod template.
        False Invalid = "InvalidPodTemplateSpec",
    }
}

condition! {
    /// Whether the group referred to can be used.
    GroupRefValidated = Good "GroupRefValidated" {
        /// It can.
        True Valid = "GroupRefValid",
        /// It is not there.
        False NotFound = "GroupRefNotFound",
        /// It is there, but not ready.
        False NotReady = "GroupRefNotReady",
    }
}

condition! {
    /// Whether the composite tools referred to can be used.
    CompositeToolRefsValidated = Good "CompositeToolRefsValidated" {
        /// They can.
        True Valid = "CompositeToolRefsValid",
        /// One is not there.
        False NotFound = "CompositeToolRefNotFound",
        /// One is not valid.
        False Invalid = "CompositeToolRefInvalid",
    }
}

condition! {
    /// Whether the embedding server referred to can be called.
    EmbeddingServerReady = Good "EmbeddingServerReady" {
        /// It can.
        True Ready = "EmbeddingServerReady",
        /// It is not there.
        False NotFound = "EmbeddingServerNotFound",
        /// It is there, but not ready.
        False NotReady = "EmbeddingServerNotReady",
    }
}

condition! {
    /// Whether the settings of the authorization server can be used.
    AuthServerConfigValidated = Good "AuthServerConfigValidated" {
        /// They can.
        True Valid = "AuthServerConfigValid",
        /// They cannot.
        False Invalid = "AuthServerConfigInvalid",
        /// The rules name an upstream provider, but there is no authorization server.
        False PrimaryProviderRequiresAuthServer = "AuthzPrimaryProviderRequiresAuthServer",
        /// The rules need an upstream provider, and there is none.
        False RequiresUpstream = "AuthzRequiresUpstream",
        /// The rules name an upstream provider that does not exist.
        False UpstreamUnknown = "AuthzUpstreamUnknown",
    }
}

condition! {
    /// Whether the upstream provider that the rules see was chosen by accident.
    AuthzUpstreamSelectionWarning = Bad "AuthzUpstreamSelectionWarning" {
        /// There are several, and none was named.
        True AutoSelected = "AuthzUpstreamAutoSelected",
    }
}

condition! {
    /// Whether authentication and authorization are set up.
    AuthConfigured = Good "AuthConfigured" {
        /// They are.
        True Valid = "AuthValid",
        /// A Secret is missing.
        False Invalid = "AuthInvalid",
        /// The ConfigMap with authorization rules is not there.
        False AuthzConfigMapNotFound = "AuthzConfigMapNotFound",
        /// The ConfigMap with authorization rules cannot be used.
        False AuthzConfigMapInvalid = "AuthzConfigMapInvalid",
    }
}

/// Declares the conditions that tell whether a way to sign in can be used.
macro_rules! auth_config {
    ($(#[$doc:meta])+ $name:ident = $type:literal) => {
        condition! {
            $(#[$doc])+
            $name = Good $type {
                /// It can.
                True Succeeded = "ConversionSucceeded",
                /// It cannot be expressed for a virtual server.
                False Failed = "ConversionFailed",
                /// It does not say whose token to start from, and there are several.
                False AmbiguousSubjectProvider = "AmbiguousSubjectProvider",
                /// It is not valid, for a reason that it does not tell.
                False InvalidExternalAuthConfig = "InvalidExternalAuthConfig",
                /// It is not valid.
                False ValidationFailed = "ValidationFailed",
                /// It needs something that this build does not have.
                False EnterpriseRequired = "EnterpriseRequired",
                /// What provides its type refuses it.
                False InvalidConfig = "InvalidConfig",
            }
        }
    };
}

auth_config! {
    /// Whether the way to sign in that applies by default can be used.
    DefaultAuthConfig = "DefaultAuthConfig"
}
auth_config! {
    /// Whether the way to sign in that the spec names for a server can be used.
    BackendAuthConfig = "BackendAuthConfig"
}
auth_config! {
    /// Whether the way to sign in that a server itself refers to can be used.
    DiscoveredAuthConfig = "DiscoveredAuthConfig"
}

impl ReasonAbout for BackendAuthConfig {}
impl ReasonAbout for DiscoveredAuthConfig {}

condition! {
    /// Whether the servers of the group are known. The virtual server itself says so.
    BackendsDiscovered = Good "BackendsDiscovered" {
        /// They are.
        True Discovered = "BackendsDiscovered",
    }
}

condition! {
    /// Whether some servers cannot be called. The virtual server itself says so, and only then.
    Degraded = Bad "Degraded" {
        /// Some cannot.
        True BackendsDegraded = "BackendsDegraded",
    }
}

polarities![
    AuthConfigured,
    AuthServerConfigValidated,
    AuthzConfigRefValidated,
    AuthzUpstreamSelectionWarning,
    AutoscalerConflict,
    BackendAuthConfig,
    BackendsDiscovered,
    CompositeToolRefsValidated,
    DefaultAuthConfig,
    Degraded,
    DiscoveredAuthConfig,
    EmbeddingServerReady,
    GroupRefValidated,
    IdentitySynthesized,
    MembersAccepted,
    OIDCConfigRefValidated,
    OverridesAccepted,
    PodTemplateSpecValid,
    Ready,
    SessionStorageWarning,
    SettingsIgnored,
    TelemetryConfigRefValidated,
    Valid,
];
