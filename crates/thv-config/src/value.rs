//! What the types of all documents share.

use serde::Deserialize;
use serde::de::{Deserializer, IntoDeserializer, Visitor};

/// Whether a value is what Go leaves out: an empty text, list or map, zero, false, nothing.
pub(crate) fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a text with a grammar of its own, such as a duration, where the empty text stands for nothing.
pub(crate) fn empty_is_none<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    match Option::<String>::deserialize(deserializer)? {
        None => Ok(None),
        Some(text) if text.is_empty() => Ok(None),
        Some(text) => T::deserialize(text.into_deserializer()).map(Some),
    }
}

/// Reads a TCP port; 0 means that none is set.
pub(crate) fn port<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    struct Port;

    impl Visitor<'_> for Port {
        type Value = u16;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a port from 1 to 65535, or 0 for none")
        }

        fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<u16, E> {
            u16::try_from(number)
                .map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(number), &self))
        }
    }

    deserializer.deserialize_u16(Port)
}
