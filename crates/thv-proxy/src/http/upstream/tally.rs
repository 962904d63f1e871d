//! How many sessions there are at a place, from the point of view of this replica.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Into how many parts a session's time to live is divided. The count is that much too high at most.
const PARTS: u64 = 16;
/// One more than parts, for the one that is being filled.
const SLOTS: usize = 17;

/// A count that forgets: a session counts from its start until it is seen to end, and for its time to live at most,
/// since the end of a session that is no longer used is seen by nobody. A session that goes on for longer than that
/// is not counted any more, which is good enough for spreading new ones.
pub(in crate::http) struct Tally {
    epoch: Instant,
    part: Duration,
    slots: [Slot; SLOTS],
}

#[derive(Default)]
struct Slot {
    /// Which part of time is counted here.
    number: AtomicU64,
    count: AtomicI64,
}

impl Tally {
    pub(super) fn new(ttl: Duration) -> Self {
        let part = (ttl / 16).max(Duration::from_millis(1));
        Self { epoch: Instant::now(), part, slots: std::array::from_fn(|_| Slot::default()) }
    }

    /// A session was started here.
    pub(in crate::http) fn started(&self) {
        let number = self.number(Instant::now());
        if let Some(slot) = self.slot(number) {
            // Whoever is first in a part of time begins to count anew.
            if slot.number.swap(number, Ordering::Relaxed) != number {
                slot.count.store(0, Ordering::Relaxed);
            }
            slot.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A session ended that has existed for `age`.
    pub(in crate::http) fn ended(&self, age: Duration) {
        let Some(start) = Instant::now().checked_sub(age) else { return };
        let number = self.number(start);
        if let Some(slot) = self.slot(number)
            && slot.number.load(Ordering::Relaxed) == number
        {
            slot.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(in crate::http) fn count(&self) -> i64 {
        let now = self.number(Instant::now());
        self.slots
            .iter()
            .filter(|slot| now.saturating_sub(slot.number.load(Ordering::Relaxed)) <= PARTS)
            .map(|slot| slot.count.load(Ordering::Relaxed).max(0))
            .sum()
    }

    /// Numbers begin at 1: an empty slot has 0.
    fn number(&self, at: Instant) -> u64 {
        let parts = at.saturating_duration_since(self.epoch).as_nanos() / self.part.as_nanos().max(1);
        u64::try_from(parts).unwrap_or(u64::MAX - 1).saturating_add(1)
    }

    fn slot(&self, number: u64) -> Option<&Slot> {
        usize::try_from(number % SLOTS as u64).ok().and_then(|at| self.slots.get(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(160);

    #[tokio::test(start_paused = true)]
    async fn a_session_counts_until_it_ends() {
        let tally = Tally::new(TTL);
        tally.started();
        tokio::time::advance(Duration::from_secs(30)).await;
        tally.started();
        assert_eq!(tally.count(), 2);
        tally.ended(Duration::from_secs(30));
        assert_eq!(tally.count(), 1);
        tally.ended(Duration::ZERO);
        assert_eq!(tally.count(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_whose_end_nobody_saw_is_forgotten() {
        let tally = Tally::new(TTL);
        for _ in 0..20 {
            tally.started();
            tokio::time::advance(Duration::from_secs(10)).await;
        }
        assert!((16..=17).contains(&tally.count()), "{}", tally.count());
        tokio::time::advance(TTL + Duration::from_secs(20)).await;
        assert_eq!(tally.count(), 0);
    }
}
