//! What is to be done about one object.

use std::collections::BTreeMap;

use thv_api::Kind;

use crate::child::Child;
use crate::live::Identity;
use crate::revision::Decision;

/// Everything that one pass does, in the order in which it is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan<S: Kind> {
    /// The revision of the content, for kinds that have one. A new one is written before any child.
    pub revision: Option<Decision>,
    /// What this means for pods that run.
    pub disruption: Disruption,
    /// The children.
    pub children: Children,
    /// Replica counts that are handed over to others, or taken from them for a while.
    pub scalings: Vec<Scaling>,
    /// Pods to delete, because their user asked for an immediate restart: name and uid.
    pub pods_to_delete: Vec<(String, String)>,
    /// Annotations to write on the object itself, once everything above has been done.
    pub annotations: BTreeMap<String, String>,
    /// The status.
    pub status: S::Status,
    /// The status while a rollout that nobody asked for waits for its turn.
    pub meanwhile: Option<S::Status>,
}

impl<S: Kind> Plan<S> {
    /// A plan with these children and this status, and nothing else.
    pub const fn new(children: Children, status: S::Status) -> Self {
        Self {
            revision: None,
            disruption: Disruption::None,
            children,
            scalings: Vec::new(),
            pods_to_delete: Vec::new(),
            annotations: BTreeMap::new(),
            status,
            meanwhile: None,
        }
    }
}

/// What a plan means for pods that run.
///
/// A plan that replaces them is tried without effect first (a dry run): children that are applied until the API
/// server refuses one would leave pods between two revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disruption {
    /// They stay, or there are none.
    None,
    /// They are replaced, and the user has just edited the object.
    Edited,
    /// They are replaced, and the object is what it was: something that it refers to has changed, or the operator
    /// itself. That may be true of many objects at once, so they take turns.
    Unasked,
}

/// What becomes of the children.
#[derive(Clone, Debug, PartialEq)]
pub enum Children {
    /// They stay as they are, because what they would have to be like cannot be told. The status says why.
    Keep,
    /// These are applied, in this order, and all others of ours are deleted.
    Exactly(Vec<Child>),
}

/// What a replica count is written to, and what an autoscaler targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalable {
    /// A Deployment.
    Deployment,
    /// A StatefulSet.
    StatefulSet,
}

impl Scalable {
    /// The name of the kind.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
        }
    }
}

/// A replica count that is written under the name of the hand-off manager, so that it does not fall to the default
/// when we stop applying it, and so that whoever scales next takes it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaling {
    /// What kind of object.
    pub kind: Scalable,
    /// Its name.
    pub name: String,
    /// Which one, and which version of it.
    pub identity: Identity,
    /// The count.
    pub replicas: i32,
    /// Annotations that go with it.
    pub annotations: BTreeMap<String, String>,
    /// Whether it must be there before the children are applied without the count.
    pub before_children: bool,
}
