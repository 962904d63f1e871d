//! Enums that are strings in JSON.

/// Declares an enum whose variants are texts in JSON: spelling and documentation in one place.
#[macro_export]
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
