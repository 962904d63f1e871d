//! Enums that are strings in manifests.

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
        ::thv_value::string_enum! {
            $(#[doc = $doc])+
            pub enum $name {
                $( $(#[doc = $meaning])+ $variant = $text ),+
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
