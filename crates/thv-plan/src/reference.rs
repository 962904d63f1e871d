//! What an object refers to, and what was found there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use thv_api::kinds::{
    MCPAuthzConfig, MCPExternalAuthConfig, MCPGroup, MCPOIDCConfig, MCPTelemetryConfig, MCPToolConfig,
    MCPWebhookConfig,
};

/// A kind of object that others refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Referred {
    /// `MCPAuthzConfig`.
    AuthzConfig,
    /// `ConfigMap`.
    ConfigMap,
    /// `MCPExternalAuthConfig`.
    ExternalAuthConfig,
    /// `MCPGroup`.
    Group,
    /// `MCPOIDCConfig`.
    OidcConfig,
    /// `Secret`: only which keys it has.
    Secret,
    /// `MCPTelemetryConfig`.
    TelemetryConfig,
    /// `MCPToolConfig`.
    ToolConfig,
    /// `MCPWebhookConfig`.
    WebhookConfig,
}

/// A reference to an object in the same namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// What kind of object.
    pub kind: Referred,
    /// Its name.
    pub name: String,
}

impl Reference {
    /// A reference by kind and name.
    pub fn new(kind: Referred, name: &str) -> Self {
        Self { kind, name: name.to_owned() }
    }

    /// A reference to an object of ours.
    pub fn object<S: Referable>(name: &str) -> Self {
        Self::new(S::REFERRED, name)
    }

    /// A reference to a ConfigMap.
    pub fn config_map(name: &str) -> Self {
        Self::new(Referred::ConfigMap, name)
    }

    /// A reference to a Secret.
    pub fn secret(name: &str) -> Self {
        Self::new(Referred::Secret, name)
    }

    /// The name of the object.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A kind of ours that others refer to.
pub trait Referable {
    /// The kind, in references.
    const REFERRED: Referred;
}

/// Says which kind of reference leads to a kind of ours.
macro_rules! referable {
    ($($spec:ident => $variant:ident),+ $(,)?) => {
        $(impl Referable for thv_api::kinds::$spec {
            const REFERRED: Referred = Referred::$variant;
        })+
    };
}

referable! {
    MCPAuthzConfigSpec => AuthzConfig,
    MCPExternalAuthConfigSpec => ExternalAuthConfig,
    MCPGroupSpec => Group,
    MCPOIDCConfigSpec => OidcConfig,
    MCPTelemetryConfigSpec => TelemetryConfig,
    MCPToolConfigSpec => ToolConfig,
    MCPWebhookConfigSpec => WebhookConfig,
}

/// An object that someone refers to.
///
/// Of a Secret we know the keys and nothing else: no plan can leak what it does not have.
#[derive(Clone, Debug, PartialEq)]
pub enum Referent {
    /// An `MCPAuthzConfig`.
    AuthzConfig(Arc<MCPAuthzConfig>),
    /// The data of a ConfigMap.
    ConfigMap(Arc<BTreeMap<String, String>>),
    /// An `MCPExternalAuthConfig`.
    ExternalAuthConfig(Arc<MCPExternalAuthConfig>),
    /// An `MCPGroup`.
    Group(Arc<MCPGroup>),
    /// An `MCPOIDCConfig`.
    OidcConfig(Arc<MCPOIDCConfig>),
    /// The keys of a Secret.
    Secret(Arc<BTreeSet<String>>),
    /// An `MCPTelemetryConfig`.
    TelemetryConfig(Arc<MCPTelemetryConfig>),
    /// An `MCPToolConfig`.
    ToolConfig(Arc<MCPToolConfig>),
    /// An `MCPWebhookConfig`.
    WebhookConfig(Arc<MCPWebhookConfig>),
}

/// What reading an object came to. That it could not be read is not among it: then there is no snapshot.
#[derive(Clone, Debug, PartialEq)]
pub enum Read<T> {
    /// It does not exist.
    Absent,
    /// It exists and is not what its schema promises; the text says where and why.
    Malformed(String),
    /// It exists.
    Found(T),
}

impl<T> Read<T> {
    /// What was found, if anything was.
    pub fn found(self) -> Option<T> {
        match self {
            Self::Found(value) => Some(value),
            Self::Absent | Self::Malformed(_) => None,
        }
    }
}

/// Everything that an object refers to, directly or through others.
///
/// Only what was [referred to](crate::mcp_server::refs) is in here, so a plan cannot depend on something that nobody
/// watches: asking for anything else gives [`Read::Absent`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct References(BTreeMap<Reference, Read<Referent>>);

impl References {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds what was found at a reference.
    pub fn insert(&mut self, reference: Reference, read: Read<Referent>) {
        self.0.insert(reference, read);
    }

    /// Whether this reference has been read.
    pub fn contains(&self, reference: &Reference) -> bool {
        self.0.contains_key(reference)
    }

    fn read(&self, kind: Referred, name: &str) -> Read<&Referent> {
        match self.0.get(&Reference::new(kind, name)) {
            None | Some(Read::Absent) => Read::Absent,
            Some(Read::Malformed(why)) => Read::Malformed(why.clone()),
            Some(Read::Found(referent)) => Read::Found(referent),
        }
    }
}

/// A getter for one kind of referent.
macro_rules! getter {
    ($(#[$doc:meta])+ $name:ident, $variant:ident, $type:ty) => {
        impl References {
            $(#[$doc])+
            pub fn $name(&self, name: &str) -> Read<&$type> {
                match self.read(Referred::$variant, name) {
                    Read::Absent => Read::Absent,
                    Read::Malformed(why) => Read::Malformed(why),
                    Read::Found(Referent::$variant(object)) => Read::Found(object),
                    // A loader that files an object under another kind's reference has not read this one.
                    Read::Found(_) => Read::Absent,
                }
            }
        }
    };
}

getter!(
    /// An `MCPAuthzConfig`.
    authz_config, AuthzConfig, MCPAuthzConfig
);
getter!(
    /// The data of a ConfigMap.
    config_map, ConfigMap, BTreeMap<String, String>
);
getter!(
    /// An `MCPExternalAuthConfig`.
    external_auth_config, ExternalAuthConfig, MCPExternalAuthConfig
);
getter!(
    /// An `MCPGroup`.
    group, Group, MCPGroup
);
getter!(
    /// An `MCPOIDCConfig`.
    oidc_config, OidcConfig, MCPOIDCConfig
);
getter!(
    /// The keys of a Secret.
    secret, Secret, BTreeSet<String>
);
getter!(
    /// An `MCPTelemetryConfig`.
    telemetry_config, TelemetryConfig, MCPTelemetryConfig
);
getter!(
    /// An `MCPToolConfig`.
    tool_config, ToolConfig, MCPToolConfig
);
getter!(
    /// An `MCPWebhookConfig`.
    webhook_config, WebhookConfig, MCPWebhookConfig
);
