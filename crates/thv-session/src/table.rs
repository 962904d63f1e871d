//! Maps that give their memory back.

use std::collections::HashMap;

use crate::key::Key;

/// Below this many places a map is not worth shrinking.
const SMALL: usize = 1024;

/// A map by session that shrinks when most of it is gone. The standard one keeps the size of its best day.
#[derive(Debug)]
pub(crate) struct Table<V>(HashMap<Key, V>);

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<V> Table<V> {
    pub(crate) fn get(&self, key: &Key) -> Option<&V> {
        self.0.get(key)
    }

    pub(crate) fn get_mut(&mut self, key: &Key) -> Option<&mut V> {
        self.0.get_mut(key)
    }

    pub(crate) fn insert(&mut self, key: Key, value: V) -> Option<V> {
        self.0.insert(key, value)
    }

    pub(crate) fn remove(&mut self, key: &Key) -> Option<V> {
        let value = self.0.remove(key);
        self.shrink();
        value
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&Key, &mut V) -> bool) {
        self.0.retain(keep);
        self.shrink();
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// To twice what is needed, and only when that is at most half of what there is: each move pays for itself by
    /// the removals that came before it.
    fn shrink(&mut self) {
        if self.0.capacity() > SMALL && self.0.len() < self.0.capacity() / 4 {
            self.0.shrink_to(self.0.len() * 2);
        }
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_was_large_becomes_small_again() {
        let mut table = Table::default();
        let keys: Vec<_> = (0..100_000).map(|n| Key::of(&n.to_string())).collect();
        for key in &keys {
            table.insert(*key, ());
        }
        assert!(table.capacity() >= 100_000);
        for key in &keys[10..] {
            table.remove(key);
        }
        assert_eq!(table.len(), 10);
        assert!(table.capacity() <= 2 * SMALL, "{}", table.capacity());
        assert!(keys[..10].iter().all(|key| table.get(key).is_some()));
    }

    #[test]
    fn retaining_shrinks_too() {
        let mut table = Table::default();
        for n in 0..100_000 {
            table.insert(Key::of(&n.to_string()), n);
        }
        table.retain(|_, n| *n == 7);
        assert_eq!((table.len(), table.capacity() <= 2 * SMALL), (1, true));
    }
}
