//! Conditions of `MCPServerEntry`.

pub use super::common::GroupRefValidated;
use super::{condition, polarities};

condition! {
    /// Whether the entry can be used.
    Valid = Good "Valid" {
        /// It can.
        True Valid = "ConfigValid",
        /// It cannot; other conditions say why.
        False Invalid = "ConfigInvalid",
    }
}

condition! {
    /// Whether the URL of the remote server is well formed and allowed.
    RemoteURLValidated = Good "RemoteURLValidated" {
        /// It is.
        True Valid = "RemoteURLValid",
        /// It is not.
        False Invalid = "RemoteURLInvalid",
    }
}

condition! {
    /// Whether the external authentication settings referred to can be used.
    ExternalAuthConfigValidated = Good "ExternalAuthConfigValidated" {
        /// They are.
        True Valid = "AuthConfigValid",
        /// There is no reference.
        True NotConfigured = "AuthConfigNotConfigured",
        /// They are not.
        False NotFound = "AuthConfigNotFound",
        /// They are there, and a `VirtualMCPServer` cannot sign in with them.
        False Invalid = "AuthConfigInvalid",
    }
}

condition! {
    /// Whether the certificate authorities for the remote server are there.
    CABundleRefValidated = Good "CABundleRefValidated" {
        /// They are.
        True Valid = "CABundleRefValid",
        /// There is no reference.
        True NotConfigured = "CABundleRefNotConfigured",
        /// They are not.
        False NotFound = "CABundleRefNotFound",
        /// The reference is incomplete, or the key is not there.
        False Invalid = "CABundleRefInvalid",
    }
}

condition! {
    /// Whether the Secrets for headers are there.
    HeaderSecretRefsValidated = Good "HeaderSecretRefsValidated" {
        /// They are.
        True Valid = "HeaderSecretsValid",
        /// A Secret or a key is missing.
        False NotFound = "HeaderSecretNotFound",
        /// A header is not one that can be added.
        False Invalid = "HeaderForwardInvalid",
    }
}

polarities![
    CABundleRefValidated,
    ExternalAuthConfigValidated,
    GroupRefValidated,
    HeaderSecretRefsValidated,
    RemoteURLValidated,
    Valid,
];
