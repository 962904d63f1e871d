//! Who may call a virtual server, and how it calls others.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::cel;
use crate::shared::{AuthzConfig, AuthzConfigRef, ExternalAuthConfigRef, OIDCConfigRef};
use crate::value::string_enum;

/// Who may call a virtual server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "self.type == 'oidc' ? has(self.oidcConfigRef) : true",
        "type oidc needs an oidcConfigRef",
    ),
    (
        "!(has(self.authzConfig) && has(self.authzConfigRef))",
        "set either authzConfig or authzConfigRef, not both",
    ),
])))]
pub struct IncomingAuth {
    /// How callers are identified.
    #[serde(rename = "type")]
    pub type_: IncomingAuthType,

    /// Whose tokens callers must bring. Required for type `oidc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc_config_ref: Option<OIDCConfigRef>,

    /// Who may call what. Excludes `authzConfigRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authz_config: Option<AuthzConfig>,

    /// Who may call what, shared with other servers. It has to be of type `cedarv1`. Excludes `authzConfig`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authz_config_ref: Option<AuthzConfigRef>,
}

string_enum! {
    /// How callers are identified.
    pub enum IncomingAuthType {
        /// Not at all: anyone may call.
        Anonymous = "anonymous",
        /// By a token of an identity provider.
        Oidc = "oidc",
    }
}

/// How to sign in to the servers of the group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutgoingAuth {
    /// Where the servers and their settings come from.
    #[serde(default)]
    pub source: OutgoingAuthSource,

    /// For servers that have no settings of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<BackendAuth>,

    /// For single servers, by name. Comes before everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backends: Option<BTreeMap<String, BackendAuth>>,
}

string_enum! {
    /// Where the servers and their settings come from.
    pub enum OutgoingAuthSource {
        /// From the group, followed as it changes. What a server refers to itself counts.
        Discovered = "discovered",
        /// From here, fixed when the virtual server is deployed.
        Inline = "inline",
    }
    default Discovered
}

/// How to sign in to a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackendAuth {
    /// Where the settings are.
    #[serde(rename = "type")]
    pub type_: BackendAuthType,

    /// The settings. For type `externalAuthConfigRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_auth_config_ref: Option<ExternalAuthConfigRef>,
}

string_enum! {
    /// Where the settings for a server are.
    pub enum BackendAuthType {
        /// Where the server itself refers to.
        Discovered = "discovered",
        /// In an `MCPExternalAuthConfig`.
        ExternalAuthConfigRef = "externalAuthConfigRef",
    }
}
