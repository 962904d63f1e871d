//! Parts of the document whose form is not ours.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::json::Json;

/// A value that only its consumer understands: a JSON Schema, the arguments of a tool. `null` stands for
/// nothing, and the keys of all objects are sorted, so that their order is no change of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Json", into = "Json")]
pub struct FreeForm(Json);

impl FreeForm {
    /// The value.
    pub const fn as_json(&self) -> &Json {
        &self.0
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0 == Json::Null
    }
}

impl From<Json> for FreeForm {
    fn from(json: Json) -> Self {
        Self(sorted(json))
    }
}

impl From<&Value> for FreeForm {
    fn from(value: &Value) -> Self {
        Self::from(json(value))
    }
}

impl From<&Map<String, Value>> for FreeForm {
    fn from(map: &Map<String, Value>) -> Self {
        Self::from(object(map))
    }
}

impl From<FreeForm> for Json {
    fn from(FreeForm(json): FreeForm) -> Self {
        json
    }
}

/// The same value. A detour through text could change the last digit of a number.
fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => Json::Number(number.clone()),
        Value::String(text) => Json::String(text.clone()),
        Value::Array(items) => Json::Array(items.iter().map(json).collect()),
        Value::Object(members) => object(members),
    }
}

fn object(members: &Map<String, Value>) -> Json {
    Json::Object(members.iter().map(|(key, value)| (key.clone(), json(value))).collect())
}

fn sorted(json: Json) -> Json {
    match json {
        Json::Array(items) => Json::Array(items.into_iter().map(sorted).collect()),
        Json::Object(mut members) => {
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            Json::Object(members.into_iter().map(|(key, value)| (key, sorted(value))).collect())
        }
        scalar @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => scalar,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_sorted_wherever_they_are() {
        let text = r#"{"b":[{"d":1,"c":2}],"a":{"f":null,"e":"x"}}"#;
        let value: FreeForm = serde_json::from_str(text).unwrap();
        let sorted = r#"{"a":{"e":"x","f":null},"b":[{"c":2,"d":1}]}"#;
        assert_eq!(serde_json::to_string(&value).unwrap(), sorted);
        assert_eq!(FreeForm::from(&json!({"a": {"e": "x", "f": null}, "b": [{"c": 2, "d": 1}]})), value);
    }

    #[test]
    fn null_is_nothing() {
        assert!(FreeForm::default().is_empty());
        assert!(!FreeForm::from(Json::empty_object()).is_empty());
    }
}
