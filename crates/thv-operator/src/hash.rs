//! Numbers that stand for values within this process, where the values themselves would take much room.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

/// Keyed at random, so that nobody can choose values that meet.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The number of a value. Another one after a restart.
pub(crate) fn hash(value: impl Hash) -> u64 {
    HASHER.hash_one(value)
}
