//! Durations that have one spelling.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thv_value::GoDuration;

/// A duration that is written as Go prints it, whichever way it was spelled: `60s` becomes `1m0s`.
///
/// Go keeps the durations of this document as numbers and prints them anew, so the spelling of the user is
/// not in the file, and another spelling of the same time is no change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "GoDuration", into = "GoDuration")]
pub struct CanonicalDuration {
    nanos: i64,
}

impl CanonicalDuration {
    /// A whole number of seconds.
    pub const fn from_secs(seconds: u32) -> Self {
        Self { nanos: seconds as i64 * 1_000_000_000 }
    }

    /// The length in nanoseconds; it can be negative.
    pub const fn as_nanos(self) -> i64 {
        self.nanos
    }

    /// The length, or nothing when it is negative.
    pub fn to_std(self) -> Option<Duration> {
        u64::try_from(self.nanos).ok().map(Duration::from_nanos)
    }
}

impl From<GoDuration> for CanonicalDuration {
    fn from(duration: GoDuration) -> Self {
        Self::from(&duration)
    }
}

impl From<&GoDuration> for CanonicalDuration {
    fn from(duration: &GoDuration) -> Self {
        Self { nanos: duration.as_nanos() }
    }
}

impl From<CanonicalDuration> for GoDuration {
    fn from(duration: CanonicalDuration) -> Self {
        Self::from_nanos(duration.nanos)
    }
}

impl fmt::Display for CanonicalDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        GoDuration::from(*self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spellings_of_one_time_are_written_alike() {
        for (text, written) in
            [("60s", "1m0s"), ("1m", "1m0s"), ("90m", "1h30m0s"), ("0", "0s"), ("-1s", "-1s")]
        {
            let duration: CanonicalDuration = serde_json::from_str(&format!("{text:?}")).unwrap();
            assert_eq!(serde_json::to_string(&duration).unwrap(), format!("{written:?}"));
            assert_eq!(duration.to_string(), written);
        }
        assert_eq!(CanonicalDuration::from_secs(60).to_std(), Some(Duration::from_mins(1)));
    }

    #[test]
    fn a_bare_number_is_no_duration() {
        assert!(serde_json::from_str::<CanonicalDuration>("30").is_err());
    }
}
