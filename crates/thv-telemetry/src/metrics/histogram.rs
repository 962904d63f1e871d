//! Durations, counted by size without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds in seconds.
pub(crate) const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// How many durations fell between two bounds, and their sum.
///
/// Of our own, because the histogram of `prometheus-client` takes a lock for every observation and cannot be
/// read by anybody but its own text writer, and the numbers also go out by OTLP.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    /// The last one is for everything above the last bound.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Histogram {
    /// Counts one more.
    pub(crate) fn observe(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let index = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        if let Some(bucket) = self.buckets.get(index) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        // 584 years of requests fit in.
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// What was counted so far.
    pub(crate) fn read(&self) -> Distribution {
        let mut counts = [0; BOUNDS.len() + 1];
        for (count, bucket) in counts.iter_mut().zip(&self.buckets) {
            *count = bucket.load(Ordering::Relaxed);
        }
        let sum = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        Distribution { counts, sum }
    }
}

/// What a histogram had counted at some moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Distribution {
    /// How many in each bucket, and above the last bound.
    pub(crate) counts: [u64; BOUNDS.len() + 1],
    /// The sum in seconds.
    pub(crate) sum: f64,
}

impl Distribution {
    /// How many in all.
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Each upper bound with its count.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        BOUNDS.into_iter().chain([f64::INFINITY]).zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_below_the_first_bound_that_it_does_not_exceed() {
        let histogram = Histogram::default();
        for milliseconds in [10, 11, 300_000, 300_001] {
            histogram.observe(Duration::from_millis(milliseconds));
        }
        let read = histogram.read();
        assert_eq!(read.counts, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(read.count(), 4);
        assert!((read.sum - 600.022).abs() < 1e-6, "{}", read.sum);
    }
}
