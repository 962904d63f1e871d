//! The frame around every kind: metadata, spec, status.

use std::borrow::Cow;
use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::object::{HasSpec, HasStatus};
use kube_core::{NamespaceResourceScope, Resource};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::names::GROUP;

/// A version of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// `v1alpha1`: the same schemas under an older name.
    V1Alpha1,
    /// `v1beta1`.
    V1Beta1,
}

impl Version {
    /// The name of the version, without the group.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1Alpha1 => "v1alpha1",
            Self::V1Beta1 => "v1beta1",
        }
    }
}

/// A version as a CRD serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Which version.
    pub version: Version,
    /// What clients are told when they use it; a version without a warning is not deprecated.
    pub deprecation: Option<&'static str>,
}

/// A column of `kubectl get`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub name: &'static str,
    /// How to print the value: `string`, `integer`, `boolean` or `date`.
    pub type_: &'static str,
    /// Where the value is.
    pub path: &'static str,
    /// Whether it is shown with `-o wide` only.
    pub is_wide: bool,
}

impl Column {
    /// The age of the object.
    pub(crate) const AGE: Self = Self::new("Age", "date", ".metadata.creationTimestamp");
    /// The status of the condition `Ready`.
    pub(crate) const READY: Self =
        Self::new("Ready", "string", ".status.conditions[?(@.type=='Ready')].status");
    /// The status of the condition `Valid`.
    pub(crate) const VALID: Self =
        Self::new("Valid", "string", ".status.conditions[?(@.type=='Valid')].status");

    /// The status of the condition `Referenced`.
    pub(crate) const REFERENCED: Self =
        Self::new("Referenced", "string", ".status.conditions[?(@.type=='Referenced')].status");

    /// The message of the condition `Referenced`, which names who refers to the object.
    pub(crate) const REFERRERS: Self =
        Self::new("Referrers", "string", ".status.conditions[?(@.type=='Referenced')].message").wide();

    pub(crate) const fn new(name: &'static str, type_: &'static str, path: &'static str) -> Self {
        Self { name, type_, path, is_wide: false }
    }

    /// The same, shown with `-o wide` only.
    const fn wide(self) -> Self {
        Self { is_wide: true, ..self }
    }
}

/// What makes a spec a kind of the API.
///
/// All versions of a kind have the same schema, so one Rust type reads objects of every version; what we
/// write is in the storage version.
pub trait Kind:
    Serialize + DeserializeOwned + JsonSchema + Clone + Debug + PartialEq + Send + Sync + 'static
{
    /// The status of the kind.
    type Status: Serialize
        + DeserializeOwned
        + JsonSchema
        + Clone
        + Debug
        + Default
        + PartialEq
        + Send
        + Sync
        + 'static;

    /// The name of the kind.
    const KIND: &'static str;
    /// The plural, as in URLs.
    const PLURAL: &'static str;
    /// The singular, as `kubectl` takes it.
    const SINGULAR: &'static str;
    /// Abbreviations that `kubectl` takes.
    const SHORT_NAMES: &'static [&'static str];
    /// The versions that are served, oldest first. The last one is stored.
    const VERSIONS: &'static [Served] = TWO_VERSIONS;
    /// The version that is stored, and that we watch and write.
    const STORAGE: Version = Version::V1Beta1;
    /// What `kubectl get` prints.
    const COLUMNS: &'static [Column];
    /// What the kind is for, in the words of the CRD.
    const DESCRIPTION: &'static str;

    /// The spec of an object that has none. The schema does not require a spec, so such objects exist; they
    /// are malformed if the spec has required fields.
    fn when_absent() -> Option<Self> {
        Self::deserialize(Value::Object(Map::new())).ok()
    }
}

const TWO_VERSIONS: &[Served] = &[
    Served {
        version: Version::V1Alpha1,
        deprecation: Some(
            "toolhive.stacklok.dev/v1alpha1 will go away: use v1beta1, which has the same fields",
        ),
    },
    Served { version: Version::V1Beta1, deprecation: None },
];

/// An object of the API.
#[derive(Clone, Debug, PartialEq)]
pub struct Object<S: Kind> {
    /// Name, namespace, labels and the like.
    pub metadata: ObjectMeta,
    /// What the user wants.
    pub spec: S,
    /// What is there.
    pub status: Option<S::Status>,
}

impl<S: Kind> Object<S> {
    /// A new object with nothing but a name and a spec.
    pub fn new(name: &str, spec: S) -> Self {
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        Self { metadata, spec, status: None }
    }

    /// The `apiVersion` of the storage version.
    pub fn api_version_text() -> String {
        format!("{GROUP}/{}", S::STORAGE.as_str())
    }
}

impl<S: Kind> Serialize for Object<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let mut fields = serializer.serialize_struct(S::KIND, 4 + usize::from(self.status.is_some()))?;
        fields.serialize_field("apiVersion", &Self::api_version_text())?;
        fields.serialize_field("kind", S::KIND)?;
        fields.serialize_field("metadata", &self.metadata)?;
        fields.serialize_field("spec", &self.spec)?;
        if let Some(status) = &self.status {
            fields.serialize_field("status", status)?;
        }
        fields.end()
    }
}

impl<'de, S: Kind> Deserialize<'de> for Object<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(bound = "S: DeserializeOwned, T: DeserializeOwned")]
        struct Wire<S, T> {
            metadata: ObjectMeta,
            spec: Option<S>,
            status: Option<T>,
        }
        let Wire { metadata, spec, status } = Wire::<S, S::Status>::deserialize(deserializer)?;
        let spec = spec.or_else(S::when_absent).ok_or_else(|| D::Error::missing_field("spec"))?;
        Ok(Self { metadata, spec, status })
    }
}

impl<S: Kind> Resource for Object<S> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        S::KIND.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        S::STORAGE.as_str().into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        S::PLURAL.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl<S: Kind> HasSpec for Object<S> {
    type Spec = S;

    fn spec(&self) -> &S {
        &self.spec
    }

    fn spec_mut(&mut self) -> &mut S {
        &mut self.spec
    }
}

impl<S: Kind> HasStatus for Object<S> {
    type Status = S::Status;

    fn status(&self) -> Option<&S::Status> {
        self.status.as_ref()
    }

    fn status_mut(&mut self) -> &mut Option<S::Status> {
        &mut self.status
    }
}
