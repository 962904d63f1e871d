//! Who wants to hear of which changes: the reverse index over everything that plans depend on.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::key::Key;
use crate::relation::{Facet, Relation, RelationId};

/// The relations that each object depends on, in both directions. What nobody subscribes to was not read, so nobody
/// needs to hear of its changes.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<State>);

#[derive(Default)]
struct State {
    /// What each subscriber depends on, and the kind of object that has that relation.
    forward: BTreeMap<Key, Vec<(RelationId, &'static str)>>,
    /// The subscribers of each relation.
    backward: HashMap<RelationId, Vec<Key>>,
}

impl State {
    fn remove(&mut self, id: RelationId, subscriber: &Key) {
        if let Some(subscribers) = self.backward.get_mut(&id) {
            subscribers.retain(|other| other != subscriber);
            if subscribers.is_empty() {
                self.backward.remove(&id);
            }
        }
    }
}

impl Subscriptions {
    /// From now on, `subscriber` hears of changes to this facet of objects of this kind with this relation.
    pub(crate) fn add(
        &self,
        subscriber: &Key,
        kind: &'static str,
        relation: Relation<'_>,
        facet: Facet,
    ) -> RelationId {
        let id = relation.id(subscriber.namespace()).facet(facet);
        let mut state = self.state();
        let known = state.forward.entry(subscriber.clone()).or_default();
        if !known.contains(&(id, kind)) {
            let is_first = !known.iter().any(|(other, _)| *other == id);
            known.push((id, kind));
            if is_first {
                // Most relations have one subscriber, and room for four would be most of what all of this takes.
                state.backward.entry(id).or_insert_with(|| Vec::with_capacity(1)).push(subscriber.clone());
            }
        }
        id
    }

    /// From now on, `subscriber` hears of these and no others.
    pub(crate) fn keep_only(&self, subscriber: &Key, wanted: &BTreeSet<RelationId>) {
        let mut state = self.state();
        let Some(known) = state.forward.get_mut(subscriber) else { return };
        let (mut kept, dropped): (Vec<_>, Vec<_>) =
            std::mem::take(known).into_iter().partition(|(id, _)| wanted.contains(id));
        kept.shrink_to_fit();
        if kept.is_empty() {
            state.forward.remove(subscriber);
        } else {
            state.forward.insert(subscriber.clone(), kept);
        }
        for (id, _) in dropped {
            state.remove(id, subscriber);
        }
    }

    /// The subscribers of a relation.
    pub(crate) fn of(&self, id: RelationId) -> Vec<Key> {
        self.state().backward.get(&id).cloned().unwrap_or_default()
    }

    /// Everybody who depends on some object of a kind. For when it is not known which of them have changed.
    pub(crate) fn of_kind(&self, kind: &str) -> Vec<Key> {
        let state = self.state();
        let depends =
            |(_, known): &(&Key, &Vec<(RelationId, &str)>)| known.iter().any(|(_, its)| *its == kind);
        state.forward.iter().filter(depends).map(|(subscriber, _)| subscriber.clone()).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Relation<'_> {
        Relation::Named { kind: "ConfigMap", name }
    }

    #[test]
    fn old_subscriptions_are_forgotten_and_new_ones_known() {
        let all = Subscriptions::default();
        let (a, b) = (Key::new("K", "ns", "a"), Key::new("K", "ns", "b"));
        let x = all.add(&a, "ConfigMap", named("x"), Facet::Everything);
        let y = all.add(&a, "ConfigMap", named("y"), Facet::Everything);
        all.add(&b, "ConfigMap", named("x"), Facet::Everything);
        assert_eq!(all.of(x), [a.clone(), b.clone()]);
        assert!(all.of(named("x").id("other")).is_empty());
        all.keep_only(&a, &BTreeSet::from([y]));
        assert_eq!(all.of(x), std::slice::from_ref(&b));
        assert_eq!(all.of_kind("ConfigMap"), [a.clone(), b.clone()]);
        assert!(all.of_kind("Secret").is_empty());
        all.keep_only(&a, &BTreeSet::new());
        all.keep_only(&b, &BTreeSet::new());
        let state = all.0.lock().unwrap();
        assert!(state.forward.is_empty() && state.backward.is_empty());
    }

    #[test]
    fn two_kinds_of_one_name_are_two_subscribers() {
        let all = Subscriptions::default();
        let (server, gateway) = (Key::new("MCPServer", "ns", "s"), Key::new("VirtualMCPServer", "ns", "s"));
        let id = all.add(&server, "Secret", Relation::Named { kind: "Secret", name: "s" }, Facet::Everything);
        all.add(&gateway, "Secret", Relation::Named { kind: "Secret", name: "s" }, Facet::Everything);
        assert_eq!(all.of(id), [server.clone(), gateway.clone()]);
        all.keep_only(&server, &BTreeSet::new());
        assert_eq!(all.of(id), [gateway]);
    }
}
