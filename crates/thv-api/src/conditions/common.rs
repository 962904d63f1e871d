//! Conditions that several kinds have.

use super::condition;

condition! {
    /// Whether sessions are at risk because several replicas do not share them.
    SessionStorageWarning = Bad "SessionStorageWarning" {
        /// Several replicas, and no store that they share.
        True Missing = "SessionStorageMissingForReplicas",
        /// Several replicas share a store.
        False Configured = "SessionStorageConfigured",
        /// There is one replica at most, or someone else sets the number.
        False NotApplicable = "SessionStorageWarningNotApplicable",
    }
}

condition! {
    /// Whether the identity provider referred to can be used.
    OIDCConfigRefValidated = Good "OIDCConfigRefValidated" {
        /// It can.
        True Valid = "OIDCConfigRefValid",
        /// It is not there.
        False NotFound = "OIDCConfigRefNotFound",
        /// It is there, but not valid.
        False NotValid = "OIDCConfigRefNotValid",
        /// It could not be read.
        False Error = "OIDCConfigRefError",
    }
}

condition! {
    /// Whether the shared authorization rules referred to can be used.
    AuthzConfigRefValidated = Good "AuthzConfigRefValidated" {
        /// They can.
        True Valid = "AuthzConfigRefValid",
        /// They are not there.
        False NotFound = "AuthzConfigRefNotFound",
        /// They are there, but not valid.
        False NotValid = "AuthzConfigRefNotValid",
        /// They could not be read.
        False Error = "AuthzConfigRefError",
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
        False FetchError = "TelemetryConfigRefFetchError",
    }
}

condition! {
    /// Whether the settings of the authorization server referred to can be used.
    AuthServerRefValidated = Good "AuthServerRefValidated" {
        /// They can.
        True Valid = "AuthServerRefValid",
        /// The reference is to a kind that cannot hold them.
        False InvalidKind = "AuthServerRefInvalidKind",
        /// They are not there.
        False NotFound = "AuthServerRefNotFound",
        /// They could not be read.
        False FetchError = "AuthServerRefFetchError",
        /// They are not of the type `embeddedAuthServer`.
        False InvalidType = "AuthServerRefInvalidType",
        /// They name more than one upstream provider.
        False MultiUpstreamNotSupported = "MultiUpstreamNotSupported",
        /// They do not fit the object that refers to them.
        False InvalidConfig = "AuthServerRefInvalidConfig",
    }
}

condition! {
    /// Whether the certificate authorities for the identity provider can be used.
    CABundleRefValidated = Good "CABundleRefValidated" {
        /// They can.
        True Valid = "CABundleRefValid",
        /// The ConfigMap is not there.
        False NotFound = "CABundleRefNotFound",
        /// The reference is incomplete, or the key is not there.
        False Invalid = "CABundleRefInvalid",
    }
}

condition! {
    /// Whether a deprecated field is set that has no effect here.
    AuthzPrimaryUpstreamProviderIgnored = Bad "AuthzPrimaryUpstreamProviderIgnored" {
        /// It is.
        True Ignored = "PrimaryUpstreamProviderIgnored",
    }
}

condition! {
    /// Whether the pod template can be used.
    PodTemplateValid = Good "PodTemplateValid" {
        /// It can.
        True Valid = "ValidPodTemplateSpec",
        /// It is not a pod template.
        False Invalid = "InvalidPodTemplateSpec",
    }
}

condition! {
    /// Whether the group referred to can be used.
    GroupRefValidated = Good "GroupRefValidated" {
        /// It can.
        True Valid = "GroupRefIsValid",
        /// It is not there.
        False NotFound = "GroupRefNotFound",
        /// It is there, but not ready.
        False NotReady = "GroupRefNotReady",
    }
}

condition! {
    /// Whether identities are made up, because an upstream provider does not say who the user is.
    IdentitySynthesized = Bad "IdentitySynthesized" {
        /// Some upstream providers do not say.
        True WithoutUserInfo = "OAuth2UpstreamWithoutUserInfo",
        /// All upstream providers say.
        False AllHaveUserInfo = "AllUpstreamsHaveUserInfo",
    }
}

condition! {
    /// Whether somebody refers to the object. The message names them.
    Referenced = Neutral "Referenced" {
        /// Somebody does.
        True Referenced = "Referenced",
        /// Nobody does.
        False NotReferenced = "NotReferenced",
    }
}

condition! {
    /// Whether an autoscaler and this object disagree about the number of replicas. There only when they do.
    AutoscalerConflict = Bad "AutoscalerConflict" {
        /// An autoscaler targets the Deployment, and the spec sets the number: the spec wins again and again.
        True ReplicasSet = "ReplicasSetInSpec",
        /// An autoscaler targets the Deployment, and the transport allows one replica only.
        True StdioTransport = "StdioTransportCapAt1",
    }
}

condition! {
    /// Whether everything that the user added to our objects is there. Absent when nothing was added.
    OverridesAccepted = Good "OverridesAccepted" {
        /// It is.
        True Accepted = "OverridesAccepted",
        /// Some of it would displace what the system depends on, and was left out.
        False ReservedNames = "ReservedNamesIgnored",
    }
}

condition! {
    /// Whether settings of the object, or of what it refers to, have no effect on it. There only when some have none.
    SettingsIgnored = Bad "SettingsIgnored" {
        /// Some have none.
        True WithoutEffect = "SettingsWithoutEffect",
    }
}
