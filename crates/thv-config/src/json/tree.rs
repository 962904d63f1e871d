//! A JSON value that remembers the order of its keys.

use std::fmt;

use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::decode::{Decoded, Malformed, decode_at};

/// A JSON value whose objects keep the order of their keys and have no key twice.
///
/// The documents hold parts that only their consumer understands: the parameters of a middleware, an
/// authorization document. They are kept as they are. Those parts can hold credentials, so `Debug` shows
/// keys, numbers and the shape, and no text.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number. Whole numbers of up to 64 bits and fractions of double precision are exact.
    Number(Number),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Json>),
    /// Keys and their values, in the order of the document.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The JSON form of a value.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(&serde_json::to_vec(value)?)
    }

    /// An object without keys.
    pub const fn empty_object() -> Self {
        Self::Object(Vec::new())
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Reads the value as a `T`: a key that is `null` counts as absent, unknown keys are listed, and a key
    /// that differs from a known one in case only is refused.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<Decoded<T>, Malformed> {
        decode_at(self, "")
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::String(text) if text.is_empty() => f.write_str("\"\""),
            Self::String(_) => f.write_str("\"…\""),
            Self::Array(items) => f.debug_list().entries(items).finish(),
            Self::Object(members) => {
                f.debug_map().entries(members.iter().map(|(key, value)| (key, value))).finish()
            }
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Tree)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        Number::from_f64(value).map(Json::Number).ok_or_else(|| E::custom("a number is too large"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Json, E> {
        Ok(Json::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(de::Error::custom(format!("the key {key:?} is there twice: keep one of them")));
            }
            members.push((key, entries.next_value()?));
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_keys() {
        let text = r#"{"version":"1.0","type":"cedarv1","cedar":{"policies":[],"a":-1,"b":0.5,"c":null}}"#;
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), text);
    }

    #[test]
    fn keeps_numbers() {
        for text in ["0", "-1", "18446744073709551615", "-9223372036854775808", "0.1", "1e300"] {
            let json: Json = serde_json::from_str(text).unwrap();
            let again = serde_json::to_string(&json).unwrap().replace('+', "");
            assert_eq!(again, text);
        }
    }

    #[test]
    fn refuses_a_key_that_is_there_twice() {
        let error = serde_json::from_str::<Json>(r#"{"a":{"b":1,"c":2,"b":3}}"#).unwrap_err().to_string();
        assert!(error.contains(r#""b" is there twice"#), "{error}");
    }

    #[test]
    fn debug_shows_shape_and_no_text() {
        let json: Json = serde_json::from_str(r#"{"ClientSecret":"hunter2","n":[1,true,null,""]}"#).unwrap();
        assert_eq!(format!("{json:?}"), r#"{"ClientSecret": "…", "n": [Number(1), true, null, ""]}"#);
    }
}
