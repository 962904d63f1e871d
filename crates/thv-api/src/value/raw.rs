//! JSON that passes through unread.

use schemars::json_schema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::schema::fixed_schema;

/// A JSON object whose fields the schema leaves open, kept exactly as the user wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawObject(pub Map<String, Value>);

/// Any JSON value, kept exactly as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawValue(pub Value);

fixed_schema!(RawObject, json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }));

fixed_schema!(RawValue, json_schema!({ "x-kubernetes-preserve-unknown-fields": true }));

/// Decodes an optional value so that an explicit `null` stays apart from an absent field.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RawValue>, D::Error> {
    RawValue::deserialize(deserializer).map(Some)
}
