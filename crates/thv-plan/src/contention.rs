//! Backing off from a contested object: when somebody keeps undoing our repairs, both would write for ever.

use std::time::{Duration, Instant};

/// So many repairs of one object within [`WINDOW`] mean that somebody contests it.
const CONTESTED: usize = 3;
const WINDOW: Duration = Duration::from_mins(1);
/// How long a contested object is left alone: at first this long, then twice as long each time.
const FIRST: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_mins(5);
/// Whoever has left an object alone for this long has stopped contesting it: the next quarrel is a new one.
/// It has to be longer than any back-off, during which nothing is repaired either.
const SETTLED: Duration = LONGEST.saturating_mul(2);

/// The history of the repairs of one object.
#[derive(Debug, Default)]
pub struct Contention {
    repairs: Vec<Instant>,
    /// How often we have backed off since the object was last at peace.
    count: u32,
    until: Option<Instant>,
    /// When a repair was last needed, whether or not it was made.
    needed: Option<Instant>,
}

/// An object is contested and is to be left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// For this long.
    pub wait: Duration,
    /// Whether this has just been decided.
    pub is_news: bool,
}

impl Contention {
    /// Decides about a repair that is needed now: nothing means that it may be made.
    pub fn back_off(&mut self, now: Instant) -> Option<Backoff> {
        let needed = self.needed.replace(now);
        if needed.is_some_and(|last| now.saturating_duration_since(last) >= SETTLED) {
            self.count = 0;
        }
        if let Some(until) = self.until.filter(|until| *until > now) {
            return Some(Backoff { wait: until - now, is_news: false });
        }
        self.repairs.retain(|repair| now.saturating_duration_since(*repair) < WINDOW);
        if self.repairs.len() + 1 < CONTESTED {
            return None;
        }
        let wait = FIRST.saturating_mul(2_u32.saturating_pow(self.count)).min(LONGEST);
        self.count = self.count.saturating_add(1);
        self.until = Some(now + wait);
        self.repairs.clear();
        Some(Backoff { wait, is_news: true })
    }

    /// A repair was needed, and was made.
    pub fn repaired(&mut self, now: Instant) {
        self.repairs.push(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Makes the two repairs that are allowed, a second apart, and returns how long the third has to wait.
    fn contest(contention: &mut Contention, now: &mut Instant) -> Duration {
        for _ in 0..2 {
            assert_eq!(contention.back_off(*now), None);
            contention.repaired(*now);
            *now += SECOND;
        }
        let backoff = contention.back_off(*now).unwrap();
        assert!(backoff.is_news);
        backoff.wait
    }

    #[test]
    fn the_third_repair_within_a_minute_waits_longer_each_time() {
        let (mut contention, mut now) = (Contention::default(), Instant::now());
        for seconds in [30, 60, 120, 240, 300, 300] {
            let wait = Duration::from_secs(seconds);
            assert_eq!(contest(&mut contention, &mut now), wait);
            let later = Some(Backoff { wait: wait.saturating_sub(SECOND), is_news: false });
            assert_eq!(contention.back_off(now + SECOND), later);
            now += wait;
        }
    }

    #[test]
    fn repairs_a_minute_apart_never_back_off() {
        let (mut contention, mut now) = (Contention::default(), Instant::now());
        for _ in 0..10 {
            assert_eq!(contention.back_off(now), None);
            contention.repaired(now);
            now += WINDOW;
        }
    }

    #[test]
    fn the_backoff_starts_anew_after_ten_minutes_in_which_no_repair_was_needed() {
        let (mut contention, mut now) = (Contention::default(), Instant::now());
        assert_eq!(contest(&mut contention, &mut now), FIRST);
        now += SETTLED.saturating_sub(SECOND);
        assert_eq!(contest(&mut contention, &mut now), FIRST.saturating_mul(2));
        now += SETTLED;
        assert_eq!(contest(&mut contention, &mut now), FIRST);
    }

    #[test]
    fn a_repair_that_is_needed_during_the_backoff_is_no_peace() {
        let (mut contention, mut now) = (Contention::default(), Instant::now());
        for seconds in [30, 60, 120, 240, 300] {
            assert_eq!(contest(&mut contention, &mut now), Duration::from_secs(seconds));
            now += Duration::from_secs(seconds);
        }
        // As long after the first contest as would settle it, had there been none since.
        assert_eq!(contest(&mut contention, &mut now), LONGEST);
    }
}
