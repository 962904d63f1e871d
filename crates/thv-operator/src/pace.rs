//! Rollouts that nobody asked for take turns.
//!
//! An upgrade of the operator, or an edit of something that many objects refer to, replaces the pods of all of them. They
//! start one after the other, at a rate that nodes, registries and backends can take.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::key::Key;

/// How many start at once after a time without any.
const BURST: u32 = 10;

/// Gives turns.
pub(crate) struct Pace {
    interval: Duration,
    state: Mutex<State>,
}

struct State {
    /// When the next one would start if there were no bursts.
    next: Option<Instant>,
    /// The turns that were given and not taken yet.
    turns: BTreeMap<Key, Instant>,
}

impl Pace {
    /// So many a second.
    pub(crate) fn new(per_second: f64) -> Self {
        let interval = Duration::try_from_secs_f64(1.0 / per_second).unwrap_or(Duration::ZERO);
        Self { interval, state: Mutex::new(State { next: None, turns: BTreeMap::new() }) }
    }

    /// Whether it is an object's turn; if not, how long it has to wait. A turn that has come stays until it is
    /// [forgotten](Pace::forget), so that a rollout that is refused does not go to the end of the line.
    pub(crate) fn turn(&self, key: &Key) -> Result<(), Duration> {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = if let Some(turn) = state.turns.get(key) {
            *turn
        } else {
            let next = state.next.map_or(now, |next| next.max(now));
            state.next = Some(next + self.interval);
            next.checked_sub(self.interval * (BURST - 1)).unwrap_or(now)
        };
        state.turns.insert(key.clone(), turn);
        if turn <= now { Ok(()) } else { Err(turn - now) }
    }

    /// Forgets the turn of an object that needs it no more.
    pub(crate) fn forget(&self, key: &Key) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).turns.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Key {
        Key::new("K", "ns", &number.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn a_few_start_at_once_and_the_others_one_after_the_other() {
        let pace = Pace::new(2.0);
        for number in 0..BURST {
            assert_eq!(pace.turn(&key(number)), Ok(()), "{number}");
        }
        let waits: Vec<Duration> = (10..13).map(|number| pace.turn(&key(number)).unwrap_err()).collect();
        assert_eq!(waits, [500, 1000, 1500].map(Duration::from_millis));
        assert_eq!(pace.turn(&key(10)), Err(Duration::from_millis(500)), "it keeps its turn");
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(pace.turn(&key(10)), Ok(()));
        assert_eq!(pace.turn(&key(10)), Ok(()), "until it has started");
        assert_eq!(pace.turn(&key(11)), Err(Duration::from_millis(500)));
        for number in 0..13 {
            pace.forget(&key(number));
        }
        assert!(pace.state.lock().unwrap().turns.is_empty());
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(pace.turn(&key(99)), Ok(()), "after a time without any");
    }
}
