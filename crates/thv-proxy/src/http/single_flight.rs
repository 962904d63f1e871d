//! One at a time for each session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thv_session::Key;
use tokio::sync::OwnedMutexGuard;

type Door = Arc<tokio::sync::Mutex<()>>;

/// Lets one at a time do something about a session. It is for what happens rarely.
#[derive(Default)]
pub(super) struct SingleFlight(Mutex<HashMap<Key, Door>>);

/// Somebody's turn, until it is dropped.
pub(super) struct Turn<'a> {
    flights: &'a SingleFlight,
    key: Key,
    /// Taken when dropped.
    guard: Option<OwnedMutexGuard<()>>,
}

impl SingleFlight {
    /// Waits for its turn.
    pub(super) async fn turn(&self, key: Key) -> Turn<'_> {
        let door = Arc::clone(self.doors().entry(key).or_default());
        // If the wait is given up, the door goes with the next turn.
        let mut turn = Turn { flights: self, key, guard: None };
        turn.guard = Some(door.lock_owned().await);
        turn
    }

    fn doors(&self) -> MutexGuard<'_, HashMap<Key, Door>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        drop(self.guard.take());
        let mut doors = self.flights.doors();
        // Whoever waits at the door holds it too.
        if doors.get(&self.key).is_some_and(|door| Arc::strong_count(door) == 1) {
            doors.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_waits_for_itself_and_for_no_other_and_leaves_nothing_behind() {
        let flights = SingleFlight::default();
        let first = flights.turn(Key::of("a")).await;
        let other = flights.turn(Key::of("b")).await;
        let mut second = Box::pin(flights.turn(Key::of("a")));
        let mut third = Box::pin(flights.turn(Key::of("a")));
        assert!(futures::poll!(&mut second).is_pending());
        assert!(futures::poll!(&mut third).is_pending());
        drop(second);
        drop((first, other));
        drop(third.await);
        assert!(flights.doors().is_empty());
    }
}
