//! Who refers to what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use thv_plan::Reference;

use crate::key::Key;

/// References in both directions. What is not in here was not read, so nobody needs to hear of its changes.
#[derive(Default)]
pub struct Index(Mutex<State>);

#[derive(Default)]
struct State {
    /// What each owner refers to.
    forward: BTreeMap<Key, BTreeSet<Reference>>,
    /// The owners in a namespace that refer to each object.
    backward: BTreeMap<(String, Reference), BTreeSet<Key>>,
}

impl Index {
    /// From now on, `owner` refers to exactly these objects.
    pub fn set(&self, owner: &Key, references: BTreeSet<Reference>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = if references.is_empty() {
            state.forward.remove(owner)
        } else {
            state.forward.insert(owner.clone(), references.clone())
        };
        for gone in old.unwrap_or_default().difference(&references) {
            let place = (owner.namespace.clone(), gone.clone());
            if let Some(owners) = state.backward.get_mut(&place) {
                owners.remove(owner);
                if owners.is_empty() {
                    state.backward.remove(&place);
                }
            }
        }
        for reference in references {
            state.backward.entry((owner.namespace.clone(), reference)).or_default().insert(owner.clone());
        }
    }

    /// The owners that refer to an object.
    pub fn owners(&self, namespace: &str, reference: Reference) -> Vec<Key> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let owners = state.backward.get(&(namespace.to_owned(), reference));
        owners.into_iter().flatten().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use thv_plan::Referred;

    use super::*;

    fn reference(name: &str) -> Reference {
        Reference::new(Referred::ConfigMap, name)
    }

    #[test]
    fn old_references_are_forgotten_and_new_ones_known() {
        let index = Index::default();
        let (a, b) = (Key::new("ns", "a"), Key::new("ns", "b"));
        index.set(&a, BTreeSet::from([reference("x"), reference("y")]));
        index.set(&b, BTreeSet::from([reference("x")]));
        assert_eq!(index.owners("ns", reference("x")), [a.clone(), b.clone()]);
        assert!(index.owners("other", reference("x")).is_empty());
        index.set(&a, BTreeSet::from([reference("z")]));
        assert_eq!(index.owners("ns", reference("x")), std::slice::from_ref(&b));
        assert!(index.owners("ns", reference("y")).is_empty());
        index.set(&a, BTreeSet::new());
        index.set(&b, BTreeSet::new());
        let state = index.0.lock().unwrap();
        assert!(state.forward.is_empty() && state.backward.is_empty());
    }
}
