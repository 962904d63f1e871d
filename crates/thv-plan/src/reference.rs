//! What an object refers to, and what was found there.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use thv_api::kinds::{
    MCPAuthzConfig, MCPExternalAuthConfig, MCPGroup, MCPGroupSpec, MCPOIDCConfig, MCPTelemetryConfig,
    MCPToolConfig, MCPWebhookConfig,
};
use thv_api::{Kind, Object};

/// Something in the same namespace that a plan depends on. Whatever is read is watched, too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reference {
    /// An object of the API.
    Object(Target),
    /// A ConfigMap, by name.
    ConfigMap(String),
    /// A Secret, by name: only which keys it has.
    Secret(String),
    /// A query: all objects of a kind that refer to another object.
    Referrers {
        /// The kind of those that are looked for.
        kind: &'static str,
        /// What they refer to.
        to: Target,
    },
}

/// An object of the API, by kind and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// Its kind.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

impl Target {
    /// An object of the kind `S`.
    pub fn new<S: Kind>(name: &str) -> Self {
        Self { kind: S::KIND, name: name.to_owned() }
    }
}

impl Reference {
    /// An object of the kind `S`.
    pub fn object<S: Kind>(name: &str) -> Self {
        Self::Object(Target::new::<S>(name))
    }

    /// A ConfigMap.
    pub fn config_map(name: &str) -> Self {
        Self::ConfigMap(name.to_owned())
    }

    /// A Secret.
    pub fn secret(name: &str) -> Self {
        Self::Secret(name.to_owned())
    }

    /// The objects of the kind `S` that refer to an object of the kind `T`.
    pub fn referrers<S: Kind, T: Kind>(name: &str) -> Self {
        Self::Referrers { kind: S::KIND, to: Target::new::<T>(name) }
    }

    /// The members of a group that are of the kind `S`.
    pub fn members<S: Kind>(group: &str) -> Self {
        Self::referrers::<S, MCPGroupSpec>(group)
    }

    /// The name that it depends on. Nothing has an empty name, so there would be nothing to read.
    pub fn name(&self) -> &str {
        match self {
            Self::ConfigMap(name) | Self::Secret(name) => name,
            Self::Object(target) | Self::Referrers { kind: _, to: target } => &target.name,
        }
    }
}

/// An object of any kind of the API.
pub trait AnyObject: Any + fmt::Debug + Send + Sync {
    /// Whether the other one is of the same kind and says the same.
    fn equals(&self, other: &dyn AnyObject) -> bool;
}

impl<S: Kind> AnyObject for Object<S> {
    fn equals(&self, other: &dyn AnyObject) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<Self>() == Some(self)
    }
}

impl PartialEq for dyn AnyObject {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

/// What a reference leads to.
///
/// Of a Secret we know the keys and nothing else: no plan can leak what it does not have.
#[derive(Clone, Debug)]
pub enum Referent {
    /// An object of the API.
    Object(Arc<dyn AnyObject>),
    /// The data of a ConfigMap.
    ConfigMap(Arc<BTreeMap<String, String>>),
    /// The keys of a Secret.
    Secret(Arc<BTreeSet<String>>),
    /// What a query found, by name. One that is malformed is there all the same.
    Objects(Vec<(String, Read<Arc<dyn AnyObject>>)>),
}

impl PartialEq for Referent {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(one), Self::Object(other)) => **one == **other,
            (Self::ConfigMap(one), Self::ConfigMap(other)) => one == other,
            (Self::Secret(one), Self::Secret(other)) => one == other,
            (Self::Objects(one), Self::Objects(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|((name, read), (other_name, other_read))| {
                        name == other_name
                            && match (read, other_read) {
                                (Read::Found(one), Read::Found(other)) => **one == **other,
                                (Read::Malformed(one), Read::Malformed(other)) => one == other,
                                (Read::Absent, Read::Absent) => true,
                                _ => false,
                            }
                    })
            }
            _ => false,
        }
    }
}

impl Referent {
    /// An object of the API.
    pub fn object<S: Kind>(object: impl Into<Arc<Object<S>>>) -> Self {
        Self::Object(object.into())
    }
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

    /// The same with what was found looked at in another way. What turns out to be something else is absent.
    fn narrow<U>(&self, look: impl FnOnce(&T) -> Option<&U>) -> Read<&U> {
        match self {
            Self::Absent => Read::Absent,
            Self::Malformed(why) => Read::Malformed(why.clone()),
            Self::Found(value) => look(value).map_or(Read::Absent, Read::Found),
        }
    }
}

/// Everything that an object refers to, directly or through others.
///
/// Only what was referred to is in here, so a plan cannot depend on something that nobody watches: asking for anything
/// else gives [`Read::Absent`].
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

    /// An object of the API.
    pub fn object<S: Kind>(&self, name: &str) -> Read<&Object<S>> {
        self.read(&Reference::object::<S>(name)).narrow(|referent| match referent {
            Referent::Object(object) => typed(object),
            Referent::ConfigMap(_) | Referent::Secret(_) | Referent::Objects(_) => None,
        })
    }

    /// The objects of the kind `S` that refer to an object of the kind `T`, by name.
    pub fn referrers<S: Kind, T: Kind>(&self, name: &str) -> Vec<(&str, Read<&Object<S>>)> {
        match self.read(&Reference::referrers::<S, T>(name)) {
            Read::Found(Referent::Objects(found)) => {
                found.iter().map(|(name, read)| (name.as_str(), read.narrow(typed))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The data of a ConfigMap.
    pub fn config_map(&self, name: &str) -> Read<&BTreeMap<String, String>> {
        self.read(&Reference::config_map(name)).narrow(|referent| match referent {
            Referent::ConfigMap(data) => Some(data.as_ref()),
            Referent::Object(_) | Referent::Secret(_) | Referent::Objects(_) => None,
        })
    }

    /// The keys of a Secret.
    pub fn secret(&self, name: &str) -> Read<&BTreeSet<String>> {
        self.read(&Reference::secret(name)).narrow(|referent| match referent {
            Referent::Secret(keys) => Some(keys.as_ref()),
            Referent::Object(_) | Referent::ConfigMap(_) | Referent::Objects(_) => None,
        })
    }

    /// An `MCPAuthzConfig`.
    pub fn authz_config(&self, name: &str) -> Read<&MCPAuthzConfig> {
        self.object(name)
    }

    /// An `MCPExternalAuthConfig`.
    pub fn external_auth_config(&self, name: &str) -> Read<&MCPExternalAuthConfig> {
        self.object(name)
    }

    /// An `MCPGroup`.
    pub fn group(&self, name: &str) -> Read<&MCPGroup> {
        self.object(name)
    }

    /// An `MCPOIDCConfig`.
    pub fn oidc_config(&self, name: &str) -> Read<&MCPOIDCConfig> {
        self.object(name)
    }

    /// An `MCPTelemetryConfig`.
    pub fn telemetry_config(&self, name: &str) -> Read<&MCPTelemetryConfig> {
        self.object(name)
    }

    /// An `MCPToolConfig`.
    pub fn tool_config(&self, name: &str) -> Read<&MCPToolConfig> {
        self.object(name)
    }

    /// An `MCPWebhookConfig`.
    pub fn webhook_config(&self, name: &str) -> Read<&MCPWebhookConfig> {
        self.object(name)
    }

    fn read(&self, reference: &Reference) -> &Read<Referent> {
        self.0.get(reference).unwrap_or(&Read::Absent)
    }
}

fn typed<S: Kind>(object: &Arc<dyn AnyObject>) -> Option<&Object<S>> {
    let any: &dyn Any = object.as_ref();
    any.downcast_ref()
}
