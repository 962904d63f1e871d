//! The objects that want attention, each at most once and never in two hands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::key::Key;

/// The first wait after a failure. It doubles with every further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The longest wait after a failure.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// A queue of keys with due times.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// When each key is due.
    due: BTreeMap<Key, Instant>,
    /// The same, earliest first.
    order: BTreeSet<(Instant, Key)>,
    /// Keys that are being worked on, and whether they have become due again meanwhile.
    busy: BTreeMap<Key, Option<Instant>>,
    /// How often in a row each key has failed.
    failures: BTreeMap<Key, u32>,
}

impl State {
    /// The earlier of two due times wins.
    fn add(&mut self, key: Key, at: Instant) {
        if let Some(again) = self.busy.get_mut(&key) {
            *again = Some(again.map_or(at, |earlier| earlier.min(at)));
            return;
        }
        match self.due.get(&key).copied() {
            Some(earlier) if earlier <= at => return,
            Some(later) => drop(self.order.remove(&(later, key.clone()))),
            None => {}
        }
        self.due.insert(key.clone(), at);
        self.order.insert((at, key));
    }
}

impl Queue {
    /// This key wants attention now.
    pub(crate) fn add(&self, key: Key) {
        self.add_at(key, Instant::now());
    }

    /// This key wants attention after a while, unless something else makes it due earlier.
    pub(crate) fn add_after(&self, key: Key, wait: Duration) {
        self.add_at(key, Instant::now() + wait);
    }

    fn add_at(&self, key: Key, at: Instant) {
        self.state().add(key, at);
        self.changed.notify_one();
    }

    /// The next key that is due, once there is one. It is in the caller's hands until [`Queue::done`] or
    /// [`Queue::failed`].
    pub(crate) async fn next(&self) -> Key {
        loop {
            let changed = self.changed.notified();
            let wait = {
                let mut state = self.state();
                match state.order.first().cloned() {
                    Some((at, key)) if at <= Instant::now() => {
                        state.order.remove(&(at, key.clone()));
                        state.due.remove(&key);
                        state.busy.insert(key.clone(), None);
                        if !state.order.is_empty() {
                            self.changed.notify_one();
                        }
                        return key;
                    }
                    Some((at, _)) => Some(at),
                    None => None,
                }
            };
            match wait {
                Some(at) => tokio::select! {
                    () = changed => {}
                    () = tokio::time::sleep_until(at) => {}
                },
                None => changed.await,
            }
        }
    }

    /// The caller is finished with a key, and what it did was all right.
    pub(crate) fn done(&self, key: &Key) {
        self.finish(key, |state| {
            state.failures.remove(key);
            None
        });
    }

    /// How often in a row a pass over this key has failed.
    pub(crate) fn failures(&self, key: &Key) -> u32 {
        self.state().failures.get(key).copied().unwrap_or_default()
    }

    /// The caller has failed with a key: it is due again after a wait that grows, the backoff. Returns the wait.
    pub(crate) fn failed(&self, key: &Key) -> Duration {
        let mut wait = FIRST_WAIT;
        self.finish(key, |state| {
            let failures = state.failures.entry(key.clone()).or_default();
            wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(*failures)).min(LONGEST_WAIT);
            *failures = failures.saturating_add(1);
            Some(Instant::now() + wait)
        });
        wait
    }

    fn finish(&self, key: &Key, decide: impl FnOnce(&mut State) -> Option<Instant>) {
        let mut state = self.state();
        let again = state.busy.remove(key).flatten();
        let retry = decide(&mut state);
        for at in [again, retry].into_iter().flatten() {
            state.add(key.clone(), at);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Takes back the keys that are in hands which have let go of them.
    pub(crate) fn recover(&self) {
        let mut state = self.state();
        for key in std::mem::take(&mut state.busy).into_keys() {
            state.add(key, Instant::now());
        }
        drop(state);
        self.changed.notify_one();
    }

    /// How many keys of each kind are due, and how many are being worked on. Those that are requeued for later do not
    /// count.
    pub(crate) fn depth(&self) -> BTreeMap<&'static str, (usize, usize)> {
        let (state, now) = (self.state(), Instant::now());
        let mut depth: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
        for (_, key) in state.order.iter().take_while(|(at, _)| *at <= now) {
            depth.entry(key.kind).or_default().0 += 1;
        }
        for key in state.busy.keys() {
            depth.entry(key.kind).or_default().1 += 1;
        }
        depth
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn key(name: &str) -> Key {
        Key::new("K", "ns", name)
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_handed_out_once_and_again_only_when_it_was_added_meanwhile() {
        let queue = Queue::default();
        queue.add(key("a"));
        queue.add(key("a"));
        assert_eq!(queue.next().await, key("a"));
        assert!(queue.next().now_or_never().is_none());
        queue.add(key("a"));
        assert!(queue.next().now_or_never().is_none(), "it is in somebody's hands");
        queue.done(&key("a"));
        assert_eq!(queue.next().await, key("a"));
        queue.done(&key("a"));
        assert!(queue.next().now_or_never().is_none());
        assert!(queue.depth().is_empty());
        queue.add_after(key("later"), Duration::from_mins(1));
        assert!(queue.depth().is_empty(), "it is not due");
        queue.add(key("b"));
        assert_eq!(queue.depth(), BTreeMap::from([("K", (1, 0))]));
    }

    #[tokio::test(start_paused = true)]
    async fn waits_grow_with_failures_and_start_anew_after_success() {
        let queue = Queue::default();
        queue.add(key("a"));
        let mut waits = Vec::new();
        for _ in 0..3 {
            queue.next().await;
            waits.push(queue.failed(&key("a")));
        }
        assert_eq!(waits, [FIRST_WAIT, FIRST_WAIT * 2, FIRST_WAIT * 4]);
        queue.next().await;
        queue.done(&key("a"));
        queue.add(key("a"));
        queue.next().await;
        assert_eq!(queue.failed(&key("a")), FIRST_WAIT);
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_beats_a_wait_and_a_wait_does_not_delay_an_event() {
        let queue = Queue::default();
        queue.add_after(key("a"), Duration::from_mins(1));
        queue.add(key("a"));
        queue.add_after(key("a"), Duration::from_mins(2));
        assert_eq!(queue.next().now_or_never(), Some(key("a")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_in_hands_that_are_gone_is_recovered() {
        let queue = Queue::default();
        queue.add(key("a"));
        queue.next().await;
        queue.recover();
        assert_eq!(queue.next().now_or_never(), Some(key("a")));
    }

    #[tokio::test(start_paused = true)]
    async fn two_workers_share_the_work() {
        let queue = Queue::default();
        queue.add(key("a"));
        queue.add(key("b"));
        let (one, two) = tokio::join!(queue.next(), queue.next());
        assert_ne!(one, two);
    }
}
