//! Enums that are strings in JSON.

use schemars::{Schema, json_schema};
use serde_json::{Map, Value};

/// The schema keyword that carries what each value means, until the description takes it in.
pub(crate) const MEANINGS: &str = "x-value-meanings";

/// Declares an enum whose variants are strings in JSON: spelling, documentation, schema and default in one
/// place.
macro_rules! string_enum {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident {
            $( $(#[doc = $meaning:literal])+ $variant:ident = $text:literal ),+ $(,)?
        }
        $( default $default:ident )?
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[doc = $meaning])+ $variant, )+
        }

        impl $name {
            /// Every value, in the order of the schema.
            pub const ALL: &'static [Self] = &[$( Self::$variant ),+];

            /// The spelling in manifests.
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
                    ::serde::de::Error::unknown_variant(&text, &[$( $text ),+])
                })
            }
        }

        $crate::schema::fixed_schema!(
            $name,
            $crate::value::enum_schema(&[$( $doc ),+], &[$( ($text, &[$( $meaning ),+]) ),+])
        );

        $(
            impl Default for $name {
                fn default() -> Self {
                    Self::$default
                }
            }
        )?
    };
}
pub(crate) use string_enum;

/// The schema of a [`string_enum!`].
pub(crate) fn enum_schema(doc: &[&str], values: &[(&str, &[&str])]) -> Schema {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let meanings: Map<String, Value> =
        values.iter().map(|(name, doc)| ((*name).to_owned(), text_of(doc).into())).collect();
    let mut schema = json_schema!({ "type": "string", "description": text_of(doc), "enum": names });
    schema.insert(MEANINGS.to_owned(), meanings.into());
    schema
}

/// The text of a doc comment, given its lines.
fn text_of(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n")
}
