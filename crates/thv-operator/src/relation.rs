//! Whom a change concerns.
//!
//! An object that a watch delivers has relations: it is controlled by somebody, refers to something, scales something.
//! Who looks after an object subscribes to the relations that its plan depends on. A change is told to the subscribers of
//! the relations that the changed object had before and of those that it has now.

use crate::hash::hash;

/// A relation of an object to others in its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Relation<'a> {
    /// It is this object. Every object has this relation, and it never changes.
    Named {
        /// Its kind.
        kind: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// The object with this uid controls it.
    ControlledBy {
        /// The uid.
        uid: &'a str,
    },
    /// It refers to this object. A member of a group refers to the group.
    RefersTo {
        /// The kind of that object.
        kind: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// It scales this object.
    Scales {
        /// The kind of that object.
        kind: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// It is a pod of this instance.
    PodOf {
        /// The selector of the pods that are watched.
        selector: &'a str,
        /// The value of the label that names the instance.
        instance: &'a str,
    },
}

/// A relation and a namespace, as a number that takes little room.
///
/// Two relations with one number are as good as impossible, and would cost a pass that finds nothing to do: whoever acts
/// on an object looks at the object itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RelationId(u64);

/// What of an object a subscriber wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Facet {
    /// Every change.
    Everything,
    /// Changes of what its user says, but not of its status.
    Definition,
}

impl RelationId {
    /// The same relation, for those who want to hear of this facet only.
    pub(crate) const fn facet(self, facet: Facet) -> Self {
        match facet {
            Facet::Everything => self,
            // Any other number does, as long as it is always the same.
            Facet::Definition => Self(self.0.rotate_left(32) ^ 0x5bd1_e995_9e37_79b9),
        }
    }
}

impl Relation<'_> {
    /// The number of this relation in a namespace.
    pub(crate) fn id(&self, namespace: &str) -> RelationId {
        RelationId(hash((namespace, self)))
    }
}
