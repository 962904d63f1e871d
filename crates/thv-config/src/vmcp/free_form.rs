//! Parts of the document whose form is not ours.

use serde::{Deserialize, Serialize};

use crate::json::Json;

/// A value that only its consumer understands: a JSON Schema, the arguments of a tool. `null` stands for
/// nothing, and the keys of all objects are sorted, so that their order is no change of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Json", into = "Json")]
pub struct FreeForm(Json);

impl FreeForm {
    /// The form of a value.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Json::of(value).map(Self::from)
    }

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

impl From<FreeForm> for Json {
    fn from(FreeForm(json): FreeForm) -> Self {
        json
    }
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
        assert_eq!(
            FreeForm::of(&json!({"a": {"e": "x", "f": null}, "b": [{"c": 2, "d": 1}]})).unwrap(),
            value
        );
    }

    #[test]
    fn null_is_nothing() {
        assert!(FreeForm::default().is_empty());
        assert!(!FreeForm::from(Json::empty_object()).is_empty());
    }
}
