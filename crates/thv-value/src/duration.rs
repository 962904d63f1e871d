//! Durations as Go writes them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Units from the longest, each with its nanoseconds. The last two are spellings of the one before.
const UNITS: &[(&str, u64)] = &[
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
];

/// A duration in Go's notation, such as `30s`, `1h30m` or `1.5s`.
///
/// The text that was read is the text that is written. Two durations are equal when their texts are: `60s` and `1m` are
/// the same time but not the same manifest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GoDuration {
    text: Cow<'static, str>,
    nanos: i64,
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "has to be a duration of numbers with units (ns, us, ms, s, m, h), such as 30s or 1h30m, of at most 292 years, and is {0:?}"
)]
#[non_exhaustive]
pub struct DurationError(String);

impl GoDuration {
    /// What a schema demands of a duration.
    pub const PATTERN: &'static str = r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$";

    /// A whole number of seconds, with the text that stands for it.
    pub const fn literal(text: &'static str, seconds: i64) -> Self {
        Self { text: Cow::Borrowed(text), nanos: seconds * 1_000_000_000 }
    }

    /// The duration as Go would print it.
    pub fn from_nanos(nanos: i64) -> Self {
        Self { text: print(nanos).into(), nanos }
    }

    /// The text, as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The length in nanoseconds; negative with a minus sign.
    pub const fn as_nanos(&self) -> i64 {
        self.nanos
    }

    /// The length, or nothing when it is negative.
    pub fn to_std(&self) -> Option<Duration> {
        u64::try_from(self.nanos).ok().map(Duration::from_nanos)
    }
}

impl FromStr for GoDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for GoDuration {
    type Error = DurationError;

    fn try_from(text: String) -> Result<Self, DurationError> {
        match measure(&text) {
            Some(nanos) => Ok(Self { text: text.into(), nanos }),
            None => Err(DurationError(text)),
        }
    }
}

impl From<GoDuration> for String {
    fn from(duration: GoDuration) -> Self {
        duration.text.into_owned()
    }
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

// Narrower than what we can read: no sign, no bare fraction.
#[cfg(feature = "schema")]
crate::fixed_schema!(
    GoDuration,
    schemars::json_schema!({ "type": "string", "pattern": GoDuration::PATTERN })
);

/// The nanoseconds of a text that Go's `time.ParseDuration` would read.
fn measure(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut rest = unsigned;
    let mut total: u128 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() && unsigned != "0" {
        let after_number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = rest.strip_suffix(after_number)?;
        let tail = after_number.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '.');
        let unit = after_number.strip_suffix(tail)?;
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit)?;
        total = total.checked_add(scaled(number, u128::from(*scale))?)?;
        rest = tail;
    }
    let nanos = i64::try_from(total).ok()?;
    Some(if text.starts_with('-') { -nanos } else { nanos })
}

/// A decimal number times a unit, rounded down.
fn scaled(number: &str, scale: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // An hour has 3.6e12 nanoseconds: later digits cannot matter.
    let digits: String = fraction.chars().take(18).collect();
    let below_one: u128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let power = 10_u128.checked_pow(u32::try_from(digits.len()).ok()?)?;
    whole.checked_mul(scale)?.checked_add(below_one.checked_mul(scale)? / power)
}

/// What Go's `Duration.String` prints: `1h0m0s`, `1m30s`, `1.5s`, `100ms`, `0s`.
fn print(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let second = 1_000_000_000;
    if nanos == 0 {
        return "0s".to_owned();
    }
    if nanos < second {
        let (unit, scale) = match nanos {
            1_000_000.. => ("ms", 1_000_000),
            1_000.. => ("\u{b5}s", 1_000),
            _ => ("ns", 1),
        };
        return format!("{sign}{}{unit}", decimal(nanos, scale));
    }
    let (minutes, rest) = (nanos / (60 * second), nanos % (60 * second));
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let seconds = decimal(rest, second);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, _) => format!("{sign}{minutes}m{seconds}s"),
        _ => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// `value / scale` with as many digits as it needs.
fn decimal(value: u64, scale: u64) -> String {
    let (whole, fraction) = (value / scale, value % scale);
    if fraction == 0 {
        return whole.to_string();
    }
    let width = scale.ilog10() as usize;
    let digits = format!("{fraction:0width$}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_what_go_reads() {
        for (text, nanos) in [
            ("0", 0),
            ("-0", 0),
            ("90s", 90_000_000_000),
            ("0s", 0),
            ("5s", 5_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("-1m", -60_000_000_000),
            ("+2ms", 2_000_000),
            ("3us", 3_000),
            ("3\u{b5}s", 3_000),
            ("3\u{3bc}s", 3_000),
            ("0.3333333333333333333h", 1_199_999_999_999),
            ("9223372036854775807ns", i64::MAX),
            ("1h15m30.5s", 4_530_500_000_000),
            ("2.s", 2_000_000_000),
            (".25ms", 250_000),
            ("-3\u{b5}s", -3_000),
            ("+3\u{3bc}s4ns", 3_004),
        ] {
            let duration: GoDuration = text.parse().unwrap();
            assert_eq!((duration.as_nanos(), duration.as_str()), (nanos, text));
        }
        assert_eq!("1s".parse::<GoDuration>().unwrap().to_std(), Some(Duration::from_secs(1)));
        assert_eq!("-1s".parse::<GoDuration>().unwrap().to_std(), None);
    }

    #[test]
    fn refuses_what_go_refuses() {
        for text in [
            "",
            "+",
            "7",
            "h",
            ".",
            ".h",
            "1..5s",
            "1 s",
            "1s ",
            "3days",
            "00",
            "2562048h",
            "--1s",
            "9223372036854775808ns",
            "-",
            "5",
            "s",
            ".s",
            "1d",
            "99999999999h",
        ] {
            assert_eq!(text.parse::<GoDuration>(), Err(DurationError(text.to_owned())));
        }
    }

    #[test]
    fn prints_what_go_prints() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1\u{b5}s"),
            (2_200_000, "2.2ms"),
            (1_500_000_000, "1.5s"),
            (60_000_000_000, "1m0s"),
            (-5_400_000_000_001, "-1h30m0.000000001s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(GoDuration::from_nanos(nanos).as_str(), text);
        }
    }

    #[test]
    fn literals_mean_what_they_say() {
        for (text, seconds) in [("10s", 10), ("30s", 30), ("60s", 60)] {
            assert_eq!(GoDuration::literal(text, seconds), text.parse().unwrap());
        }
    }

    #[test]
    fn what_is_no_duration_is_told_how_to_write_one() {
        let error = serde_json::from_str::<GoDuration>("\"3days\"").unwrap_err().to_string();
        assert!(error.contains("3days") && error.contains("30s or 1h30m"), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(nanos in -i64::MAX..) {
            let printed = GoDuration::from_nanos(nanos);
            prop_assert_eq!(printed.as_str().parse::<GoDuration>(), Ok(printed.clone()));
        }

        #[test]
        fn no_text_is_too_strange(text in "[-+.0-9hmsnu\u{b5}]{0,40}") {
            if let Ok(duration) = text.parse::<GoDuration>() {
                prop_assert_eq!(duration.to_string(), text);
            }
        }
    }
}
