//! Durations as Go writes them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::json_schema;
use serde::{Deserialize, Serialize};

use crate::schema::fixed_schema;

/// A duration in Go's notation, such as `30s`, `1h30m` or `1.5s`.
///
/// The text that was given is kept, so that an object is written back as it was read.
/// Two durations are equal when their texts are: `60s` and `1m` are the same time but not the same manifest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GoDuration {
    text: Cow<'static, str>,
    nanos: i64,
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// The text is not a sequence of numbers with units.
    #[error("{0:?} is not a duration: write numbers with units, such as 30s or 1h30m")]
    Syntax(String),
    /// The unit is none that we know.
    #[error("{text:?} has the unknown unit {unit:?}: use ns, us, ms, s, m or h")]
    Unit {
        /// The whole text.
        text: String,
        /// What stands where a unit should.
        unit: String,
    },
    /// The duration is longer than 2^63 nanoseconds, about 292 years.
    #[error("{0:?} is too long a duration")]
    TooLong(String),
}

impl GoDuration {
    /// What the schema demands of a duration. Narrower than what we can read: no sign, no bare fraction.
    pub const PATTERN: &'static str = r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$";

    /// A whole number of seconds, with the text that stands for it.
    pub(crate) const fn literal(text: &'static str, seconds: i64) -> Self {
        Self { text: Cow::Borrowed(text), nanos: seconds * 1_000_000_000 }
    }

    /// The text, as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The length in nanoseconds; negative when the text has a minus sign.
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
        let nanos = parse(&text)?;
        Ok(Self { text: Cow::Owned(text), nanos })
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

fixed_schema!(GoDuration, json_schema!({ "type": "string", "pattern": GoDuration::PATTERN }));

/// Reads what Go's `time.ParseDuration` reads.
fn parse(text: &str) -> Result<i64, DurationError> {
    let syntax = || DurationError::Syntax(text.to_owned());
    let too_long = || DurationError::TooLong(text.to_owned());

    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if unsigned == "0" {
        return Ok(0);
    }
    let mut total: i128 = 0;
    let mut rest = unsigned;
    if rest.is_empty() {
        return Err(syntax());
    }
    while !rest.is_empty() {
        let (whole, after_whole) = take_while(rest, |c| c.is_ascii_digit());
        let (fraction, after_number) = match after_whole.strip_prefix('.') {
            Some(tail) => take_while(tail, |c| c.is_ascii_digit()),
            None => ("", after_whole),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(syntax());
        }
        let (unit, tail) = take_while(after_number, |c| c != '.' && !c.is_ascii_digit());
        if unit.is_empty() {
            return Err(syntax());
        }
        let scale = nanos_of(unit)
            .ok_or_else(|| DurationError::Unit { text: text.to_owned(), unit: unit.to_owned() })?;
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_long())? };
        total = whole
            .checked_mul(scale)
            .and_then(|nanos| nanos.checked_add(fraction_of(fraction, scale)))
            .and_then(|nanos| nanos.checked_add(total))
            .filter(|nanos| *nanos <= i128::from(i64::MAX))
            .ok_or_else(too_long)?;
        rest = tail;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| too_long())
}

fn take_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !keep(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn nanos_of(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000, // micro sign and Greek mu
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// The nanoseconds of the digits behind a decimal point; what is below a nanosecond does not count.
fn fraction_of(digits: &str, scale: i128) -> i128 {
    // Fifteen digits of an hour are already below a nanosecond, and cannot overflow.
    let digits: String = digits.chars().take(15).collect();
    let power = u32::try_from(digits.len()).unwrap_or_default();
    digits.parse::<i128>().unwrap_or_default() * scale / 10_i128.pow(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads() {
        for (text, nanos) in [
            ("0", 0),
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
            ("0.3333333333333333333h", 1_199_999_999_998),
            ("9223372036854775807ns", i64::MAX),
        ] {
            let duration: GoDuration = text.parse().unwrap();
            assert!((duration.as_nanos() - nanos).abs() <= 2, "{text}: {}", duration.as_nanos());
            assert_eq!(duration.as_str(), text);
        }
    }

    #[test]
    fn refuses_what_go_refuses() {
        for text in
            ["", "-", "5", "s", ".", ".s", "1d", "1 s", "1s ", "9223372036854775808ns", "99999999999h"]
        {
            assert!(text.parse::<GoDuration>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn literals_mean_what_they_say() {
        for (text, seconds) in [("30s", 30), ("60s", 60)] {
            assert_eq!(GoDuration::literal(text, seconds), text.parse().unwrap());
        }
    }

    #[test]
    fn has_no_std_form_when_negative() {
        assert_eq!("-1s".parse::<GoDuration>().unwrap().to_std(), None);
        assert_eq!("1s".parse::<GoDuration>().unwrap().to_std(), Some(Duration::from_secs(1)));
    }
}
