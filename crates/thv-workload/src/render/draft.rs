//! An object that is to be applied, and what goes into it at the last moment.

use std::fmt;

use serde_json::{Map, Value, json};
use thv_api::names::annotations;
use thv_plan::json::object;
use thv_plan::{Applied, Identity, Token, digest};

/// A kind of object that a backend is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftKind {
    /// `StatefulSet`.
    StatefulSet,
    /// `Service`.
    Service,
}

impl DraftKind {
    /// The group and version, as in `apiVersion`.
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::StatefulSet => "apps/v1",
            Self::Service => "v1",
        }
    }

    /// The name of the kind.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::StatefulSet => "StatefulSet",
            Self::Service => "Service",
        }
    }
}

/// An object that is to be applied, but for what is known at the moment of the write only.
#[derive(Clone, PartialEq)]
pub struct Draft {
    kind: DraftKind,
    name: String,
    body: Map<String, Value>,
    digest: String,
}

/// What is known at the moment of the write only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Completion<'a> {
    /// The uid of the object that it belongs to. Without, it belongs to nobody.
    pub owner: Option<&'a str>,
    /// On behalf of whom it is applied. Without, the object does not say.
    pub token: Option<&'a Token>,
    /// The generation for the pod template.
    pub stamp: Option<&'a str>,
    /// The version that the write is for. Without, the object is to be created.
    pub live: Option<&'a Identity>,
    /// Whether the number of replicas is somebody else's for the time being.
    pub leaves_replicas: bool,
}

/// The resourceVersion with which an apply creates an object, and fails if there is one.
const NEVER_WRITTEN: &str = "1";

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The body has the values of variables in it.
        write!(f, "{} {} {}", self.kind.kind(), self.name, self.digest)
    }
}

impl Draft {
    pub(super) fn new(kind: DraftKind, name: String, mut metadata: Map<String, Value>, spec: Value) -> Self {
        metadata.insert("name".to_owned(), name.as_str().into());
        let mut body = Map::new();
        body.insert("apiVersion".to_owned(), kind.api_version().into());
        body.insert("kind".to_owned(), kind.kind().into());
        body.insert("metadata".to_owned(), Value::Object(metadata));
        body.insert("spec".to_owned(), spec);
        // The marks are put in later, so that the digest is of the content alone. So are the uids of owners: a
        // StatefulSet that was made again is no new content of its Services.
        let digest = digest(&Value::Object(body.clone()));
        Self { kind, name, body, digest }
    }

    /// Its kind.
    pub const fn kind(&self) -> DraftKind {
        self.kind
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The digest of its content.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What is in it, but for what is known at the moment of the write only.
    pub const fn body(&self) -> &Map<String, Value> {
        &self.body
    }

    /// Whether it says how many replicas there are.
    pub fn has_replicas(&self) -> bool {
        self.body.get("spec").is_some_and(|spec| spec.get("replicas").is_some())
    }

    /// Whether the object has a pod template, which a generation can be stamped on.
    pub const fn has_template(&self) -> bool {
        match self.kind {
            DraftKind::StatefulSet => true,
            DraftKind::Service => false,
        }
    }

    /// What is applied.
    pub fn complete(&self, completion: Completion<'_>) -> Value {
        let Completion { owner, token, stamp, live, leaves_replicas } = completion;
        let mut body = self.body.clone();
        object(&mut body, "metadata", |metadata| {
            match owner {
                Some(uid) => set_owner(metadata, uid),
                None => drop(metadata.remove("ownerReferences")),
            }
            if let Some(token) = token {
                let mark = Applied { token: token.clone(), digest: self.digest.clone() };
                object(metadata, "annotations", |all| {
                    all.insert(annotations::APPLIED_REVISION.to_owned(), mark.to_string().into());
                });
            }
            match live {
                Some(Identity { uid, resource_version }) => {
                    metadata.insert("uid".to_owned(), uid.as_str().into());
                    metadata.insert("resourceVersion".to_owned(), resource_version.as_str().into());
                }
                None => {
                    metadata.insert("resourceVersion".to_owned(), NEVER_WRITTEN.into());
                }
            }
        });
        object(&mut body, "spec", |spec| {
            if leaves_replicas {
                spec.remove("replicas");
            }
            if let Some(stamp) = stamp.filter(|_| self.has_template()) {
                object(spec, "template", |template| {
                    object(template, "metadata", |metadata| {
                        object(metadata, "annotations", |all| {
                            all.insert(annotations::MCP_SERVER_GENERATION.to_owned(), stamp.into());
                        });
                    });
                });
            }
        });
        Value::Object(body)
    }
}

fn set_owner(metadata: &mut Map<String, Value>, uid: &str) {
    for owner in metadata.get_mut("ownerReferences").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(owner) = owner.as_object_mut() {
            owner.insert("uid".to_owned(), json!(uid));
        }
    }
}
