//! Durations that Go writes as numbers.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use thv_value::GoDuration;

/// A duration that is a number of nanoseconds in JSON. A text in Go's notation is read as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Nanoseconds(pub i64);

impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrText).map(Self)
    }
}

struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number of nanoseconds or a duration such as 10s")
    }

    fn visit_i64<E: de::Error>(self, nanos: i64) -> Result<i64, E> {
        Ok(nanos)
    }

    fn visit_u64<E: de::Error>(self, nanos: u64) -> Result<i64, E> {
        i64::try_from(nanos).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(nanos), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<i64, E> {
        text.parse().map(|duration: GoDuration| duration.as_nanos()).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_a_number_or_a_text() {
        for (json, nanos) in [("5000000000", 5_000_000_000), ("\"5s\"", 5_000_000_000), ("0", 0), ("-1", -1)]
        {
            assert_eq!(serde_json::from_str::<Nanoseconds>(json).unwrap(), Nanoseconds(nanos));
        }
        for json in ["\"soon\"", "1.5", "true", "9223372036854775808"] {
            assert!(serde_json::from_str::<Nanoseconds>(json).is_err(), "{json}");
        }
        assert_eq!(serde_json::to_string(&Nanoseconds(5)).unwrap(), "5");
    }
}
