//! Staying out of fights: when somebody keeps changing what we put right, both would go on for ever.

use std::time::{Duration, Instant};

/// So many repairs of one object within [`WINDOW`] are a fight.
const FIGHT: usize = 3;
const WINDOW: Duration = Duration::from_mins(1);
/// How long we stay out of a fight: at first this long, then twice as long each time.
const FIRST: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_mins(5);

/// What there is to remember about the repairs of one object.
#[derive(Debug, Default)]
pub struct Truce {
    repairs: Vec<Instant>,
    count: u32,
    until: Option<Instant>,
}

/// Whether an object may be put right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peace {
    /// It may.
    Repair,
    /// It is left alone for this long.
    Hold {
        /// How long.
        wait: Duration,
        /// Whether this has just been decided.
        is_news: bool,
    },
}

impl Truce {
    /// Decides about the next repair.
    pub fn judge(&mut self, now: Instant) -> Peace {
        if let Some(until) = self.until.filter(|until| *until > now) {
            return Peace::Hold { wait: until - now, is_news: false };
        }
        self.repairs.retain(|repair| now - *repair < WINDOW);
        if self.repairs.len() + 1 < FIGHT {
            return Peace::Repair;
        }
        let wait = FIRST.saturating_mul(2_u32.saturating_pow(self.count)).min(LONGEST);
        self.count = self.count.saturating_add(1);
        self.until = Some(now + wait);
        self.repairs.clear();
        Peace::Hold { wait, is_news: true }
    }

    /// Something had to be put right, and was.
    pub fn repaired(&mut self, now: Instant) {
        self.repairs.push(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_third_repair_within_a_minute_waits_longer_each_time() {
        let mut truce = Truce::default();
        let mut now = Instant::now();
        for wait in [30, 60, 120, 240, 300, 300] {
            for _ in 0..2 {
                assert_eq!(truce.judge(now), Peace::Repair);
                truce.repaired(now);
                now += SECOND;
            }
            let wait = Duration::from_secs(wait);
            assert_eq!(truce.judge(now), Peace::Hold { wait, is_news: true });
            assert_eq!(
                truce.judge(now + SECOND),
                Peace::Hold { wait: wait.saturating_sub(SECOND), is_news: false }
            );
            now += wait;
        }
    }

    #[test]
    fn repairs_now_and_then_are_no_fight() {
        let mut truce = Truce::default();
        let mut now = Instant::now();
        for _ in 0..10 {
            assert_eq!(truce.judge(now), Peace::Repair);
            truce.repaired(now);
            now += WINDOW;
        }
    }
}
