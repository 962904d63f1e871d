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

/// Declares an enum whose variants are texts in JSON: spelling and documentation in one place.
macro_rules! string_enum {
    (
        $(#[$meta:meta])+
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])+ $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])+ $variant, )+
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$( Self::$variant ),+];

            /// The spelling in JSON.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as ::serde::Deserialize>::deserialize(deserializer)?;
                Self::ALL.iter().copied().find(|value| value.as_str() == text).ok_or_else(|| {
                    ::serde::de::Error::custom(concat!("has to be one of", $( " ", $text, )+))
                })
            }
        }
    };
}
pub(crate) use string_enum;
