//! What an object refers to, and what was found there.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use thv_api::kinds::MCPGroupSpec;
use thv_api::{Kind, Object};

use crate::digest::hex;

/// Something in the same namespace that a plan depends on. Whatever is read is watched, too.
///
/// Of an object of the API, the definition is read: what its user says. Its status is its own affair, and a change of
/// the status alone is told only to those who ask for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reference {
    /// An object of the API.
    Object(Target),
    /// The status of an object of the API.
    Status(Target),
    /// A ConfigMap, by name.
    ConfigMap(String),
    /// A Secret, by name: only which keys it has, and whether what is behind them has changed.
    Secret(String),
    /// A query: all objects of a kind that refer to another object.
    Referrers {
        /// The kind of those that are looked for.
        kind: &'static str,
        /// What they refer to.
        to: Target,
    },
    /// A query: who refers to an object, of whatever kind, and is not being deleted.
    ReferredBy(Target),
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

    /// The status of an object of the kind `S`.
    pub fn status<S: Kind>(name: &str) -> Self {
        Self::Status(Target::new::<S>(name))
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

    /// Everybody who refers to an object of the kind `T`.
    pub fn referred_by<T: Kind>(name: &str) -> Self {
        Self::ReferredBy(Target::new::<T>(name))
    }

    /// The name that it depends on. Nothing has an empty name, so there would be nothing to read.
    pub fn name(&self) -> &str {
        match self {
            Self::ConfigMap(name) | Self::Secret(name) => name,
            Self::Object(target)
            | Self::Status(target)
            | Self::Referrers { kind: _, to: target }
            | Self::ReferredBy(target) => &target.name,
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
/// Of a Secret we know the keys and whether what is behind them has changed: no plan can leak what it does not have.
#[derive(Clone, Debug)]
pub enum Referent {
    /// An object of the API.
    Object(Arc<dyn AnyObject>),
    /// The data of a ConfigMap.
    ConfigMap(Arc<BTreeMap<String, String>>),
    /// The keys of a Secret.
    Secret(Arc<BTreeMap<String, Fingerprint>>),
    /// What a query found, by name. One that is malformed is there all the same.
    Objects(Vec<(String, Read<Arc<dyn AnyObject>>)>),
    /// The names of what a query found, by kind and name.
    Targets(Vec<Target>),
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
            (Self::Targets(one), Self::Targets(other)) => one == other,
            _ => false,
        }
    }
}

impl Referent {
    /// An object of the API.
    pub fn object<S: Kind>(object: impl Into<Arc<Object<S>>>) -> Self {
        Self::Object(object.into())
    }

    /// A Secret with this uid and this content, which is not kept.
    pub fn secret<K: Into<String>, C: AsRef<[u8]>>(
        uid: &str,
        content: impl IntoIterator<Item = (K, C)>,
    ) -> Self {
        let keys =
            content.into_iter().map(|(key, value)| (key.into(), Fingerprint::new(uid, value.as_ref())));
        Self::Secret(Arc::new(keys.collect()))
    }
}

/// Tells whether the content behind a key of a Secret has changed.
///
/// It is keyed with the uid of the Secret, which those who may not read the Secret usually do not know. So few can try
/// passwords until one fits.
#[derive(Clone, PartialEq, Eq)]
pub struct Fingerprint(String);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint")
    }
}

impl Fingerprint {
    fn new(uid: &str, content: &[u8]) -> Self {
        let keyed = Sha256::new().chain_update(uid).chain_update([0]).chain_update(content);
        Self(hex(&keyed.finalize()))
    }

    /// It as text.
    pub fn as_str(&self) -> &str {
        &self.0
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
    fn narrow<'a, U>(&'a self, look: impl FnOnce(&'a T) -> Option<U>) -> Read<U> {
        match self {
            Self::Absent => Read::Absent,
            Self::Malformed(why) => Read::Malformed(why.clone()),
            Self::Found(value) => look(value).map_or(Read::Absent, Read::Found),
        }
    }
}

/// What the user of an object says, which is what those who refer to it may depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Definition<'a, S> {
    /// Its spec.
    pub spec: &'a S,
    /// Whether it is being deleted.
    pub is_terminating: bool,
    /// When it was created.
    pub created: Option<Timestamp>,
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
    pub fn object<S: Kind>(&self, name: &str) -> Read<Definition<'_, S>> {
        self.read(&Reference::object::<S>(name)).narrow(|referent| match referent {
            Referent::Object(object) => typed(object),
            Referent::ConfigMap(_) | Referent::Secret(_) | Referent::Objects(_) | Referent::Targets(_) => {
                None
            }
        })
    }

    /// The status of an object of the API. One that has none yet is absent.
    pub fn status<S: Kind>(&self, name: &str) -> Read<&S::Status> {
        self.read(&Reference::status::<S>(name)).narrow(|referent| match referent {
            Referent::Object(object) => {
                let any: &dyn Any = object.as_ref();
                any.downcast_ref::<Object<S>>()?.status.as_ref()
            }
            Referent::ConfigMap(_) | Referent::Secret(_) | Referent::Objects(_) | Referent::Targets(_) => {
                None
            }
        })
    }

    /// The objects of the kind `S` that refer to an object of the kind `T`, by name.
    pub fn referrers<S: Kind, T: Kind>(&self, name: &str) -> Vec<(&str, Read<Definition<'_, S>>)> {
        match self.read(&Reference::referrers::<S, T>(name)) {
            Read::Found(Referent::Objects(found)) => {
                found.iter().map(|(name, read)| (name.as_str(), read.narrow(typed))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Everybody who refers to an object of the kind `T`, by kind and name.
    pub fn referred_by<T: Kind>(&self, name: &str) -> &[Target] {
        match self.read(&Reference::referred_by::<T>(name)) {
            Read::Found(Referent::Targets(found)) => found,
            _ => &[],
        }
    }

    /// The data of a ConfigMap.
    pub fn config_map(&self, name: &str) -> Read<&BTreeMap<String, String>> {
        self.read(&Reference::config_map(name)).narrow(|referent| match referent {
            Referent::ConfigMap(data) => Some(data.as_ref()),
            Referent::Object(_) | Referent::Secret(_) | Referent::Objects(_) | Referent::Targets(_) => None,
        })
    }

    /// The keys of a Secret.
    pub fn secret(&self, name: &str) -> Read<&BTreeMap<String, Fingerprint>> {
        self.read(&Reference::secret(name)).narrow(|referent| match referent {
            Referent::Secret(keys) => Some(keys.as_ref()),
            Referent::Object(_) | Referent::ConfigMap(_) | Referent::Objects(_) | Referent::Targets(_) => {
                None
            }
        })
    }

    fn read(&self, reference: &Reference) -> &Read<Referent> {
        self.0.get(reference).unwrap_or(&Read::Absent)
    }
}

fn typed<S: Kind>(object: &Arc<dyn AnyObject>) -> Option<Definition<'_, S>> {
    let any: &dyn Any = object.as_ref();
    let Object { metadata, spec, status: _ } = any.downcast_ref::<Object<S>>()?;
    Some(Definition {
        spec,
        is_terminating: metadata.deletion_timestamp.is_some(),
        created: metadata.creation_timestamp.as_ref().map(|time| time.0),
    })
}
