//! How entities contain one another, measured before Cedar computes it.
//!
//! Cedar keeps every ancestor of every entity, and recurses from each to its parents: a chain of 5,000 entities is 12
//! million pairs on a stack that is 5,000 calls deep.

use std::collections::{HashMap, HashSet};

use cedar_policy::EntityUid;

/// The most pairs of an entity and an ancestor of it: 20 for each of 5,000 entities. A chain has so many at 450.
pub(super) const PAIRS: usize = 100_000;

/// Whether Cedar can compute the ancestors of these entities, given the parents of each.
pub(super) fn is_small(parents: &HashMap<EntityUid, HashSet<EntityUid>>) -> bool {
    let mut pairs = 0;
    for start in parents.keys() {
        let mut found = HashSet::new();
        let mut waiting = vec![start];
        while let Some(entity) = waiting.pop() {
            for parent in parents.get(entity).into_iter().flatten() {
                // Every parent is looked at, the ones found before too: looking is what takes the time.
                pairs += 1;
                if pairs > PAIRS {
                    return false;
                }
                if found.insert(parent) {
                    waiting.push(parent);
                }
            }
        }
    }
    true
}
