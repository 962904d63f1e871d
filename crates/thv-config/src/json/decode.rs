//! Typed values out of a JSON tree.
//!
//! What `serde_json` does with bytes, with three differences: a key that is `null` counts as absent, as it
//! does for Go; unknown keys are noted; and errors say where and never quote the document, which may hold
//! credentials.

use std::cell::RefCell;
use std::fmt;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::Json;

/// A value, and the keys of its document that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// The paths of keys that are not known, in the order of the document. A reader should warn about them.
    pub unknown: Vec<String>,
}

/// Why a JSON value is not what it should be. Quotes keys but no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    path: Option<String>,
    problem: String,
}

impl Malformed {
    pub(crate) fn new(path: String, problem: String) -> Self {
        Self { path: Some(path), problem }
    }

    /// The place in the document, such as `middleware_configs[2].parameters`; empty for the document itself.
    pub fn path(&self) -> &str {
        self.path.as_deref().unwrap_or_default()
    }

    /// What is wrong there, and what to do.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    fn at(mut self, place: &Place<'_>) -> Self {
        self.path.get_or_insert_with(|| place.to_string());
        self
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            "" => f.write_str(&self.problem),
            path => write!(f, "{path}: {}", self.problem),
        }
    }
}

impl std::error::Error for Malformed {}

impl de::Error for Malformed {
    fn custom<T: fmt::Display>(problem: T) -> Self {
        Self { path: None, problem: problem.to_string() }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let (expected, found) = (plain(expected), Kind(found));
        let is_unquoted = expected == "a text" && matches!(found.bare(), "number" | "boolean");
        let remedy = if is_unquoted { ": put it in quotes" } else { "" };
        Self::custom(format_args!("has to be {expected}, and is {found}{remedy}"))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!("has to be {}; this {} is not", plain(expected), Kind(found).bare()))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(format_args!("the key {field} is missing: add it"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom(format_args!("the key {field} is there twice, in two spellings: keep {field}"))
    }
}

/// What was expected, in words of JSON in place of those of Rust.
fn plain(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" => {
            "a whole number in its range".to_owned()
        }
        "a string" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        text if text.starts_with("struct ") => "an object".to_owned(),
        text => text.to_owned(),
    }
}

/// What was found, without its content.
struct Kind<'a>(Unexpected<'a>);

impl Kind<'_> {
    const fn bare(&self) -> &'static str {
        match self.0 {
            Unexpected::Bool(_) => "boolean",
            Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "number",
            Unexpected::Char(_) | Unexpected::Str(_) | Unexpected::Bytes(_) => "text",
            Unexpected::Unit | Unexpected::Option => "null",
            Unexpected::Seq => "list",
            Unexpected::Map => "object",
            _ => "value",
        }
    }
}

impl fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bare() {
            "null" => f.write_str("null"),
            "object" => f.write_str("an object"),
            other => write!(f, "a {other}"),
        }
    }
}

/// Where in a document we are.
enum Place<'a> {
    Start(&'a str),
    Key(&'a Place<'a>, &'a str),
    Index(&'a Place<'a>, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(path) => f.write_str(path),
            Self::Key(Place::Start(""), key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Reads a value that stands at `path` of its document.
pub(crate) fn decode_at<T: DeserializeOwned>(json: &Json, path: &str) -> Result<Decoded<T>, Malformed> {
    let unknown = RefCell::default();
    let place = Place::Start(path);
    let value = T::deserialize(Decoder { json, place: &place, unknown: &unknown })?;
    Ok(Decoded { value, unknown: unknown.into_inner() })
}

#[derive(Clone, Copy)]
struct Decoder<'a> {
    json: &'a Json,
    place: &'a Place<'a>,
    unknown: &'a RefCell<Vec<String>>,
}

impl<'de> Deserializer<'de> for Decoder<'_> {
    type Error = Malformed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        let outcome = match self.json {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            Json::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(value), _, _) => visitor.visit_u64(value),
                (_, Some(value), _) => visitor.visit_i64(value),
                (_, _, Some(value)) => visitor.visit_f64(value),
                _ => Err(de::Error::custom("is a number out of range")),
            },
            Json::String(text) => visitor.visit_str(text),
            Json::Array(items) => visitor.visit_seq(Items { decoder: self, list: items, next: 0 }),
            Json::Object(members) => visitor.visit_map(Members::new(self, members, None)),
        };
        outcome.map_err(|error: Malformed| error.at(self.place))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        match self.json {
            Json::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
        .map_err(|error: Malformed| error.at(self.place))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        visitor.visit_newtype_struct(self).map_err(|error: Malformed| error.at(self.place))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        match self.json {
            Json::Object(members) => visitor.visit_map(Members::new(self, members, Some(fields))),
            Json::Array(_) => Err(de::Error::invalid_type(Unexpected::Seq, &"an object")),
            _ => return self.deserialize_any(visitor),
        }
        .map_err(|error: Malformed| error.at(self.place))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Items<'a> {
    decoder: Decoder<'a>,
    list: &'a [Json],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Malformed;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Malformed> {
        let Some(json) = self.list.get(self.next) else { return Ok(None) };
        let place = Place::Index(self.decoder.place, self.next);
        self.next += 1;
        let decoder = Decoder { json, place: &place, unknown: self.decoder.unknown };
        seed.deserialize(decoder).map_err(|error| error.at(&place)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.list.len().saturating_sub(self.next))
    }
}

struct Members<'a> {
    decoder: Decoder<'a>,
    rest: std::slice::Iter<'a, (String, Json)>,
    current: Option<(&'a str, &'a Json)>,
    /// The keys of a struct; nothing for a map, whose keys are its own.
    fields: Option<&'static [&'static str]>,
}

impl<'a> Members<'a> {
    fn new(
        decoder: Decoder<'a>,
        members: &'a [(String, Json)],
        fields: Option<&'static [&'static str]>,
    ) -> Self {
        Self { decoder, rest: members.iter(), current: None, fields }
    }

    /// Whether a key of a struct is to be read.
    fn is_known(&self, key: &str, fields: &[&str]) -> Result<bool, Malformed> {
        if fields.contains(&key) {
            return Ok(true);
        }
        let place = Place::Key(self.decoder.place, key);
        // Go would have obeyed it. To ignore it could mean to run without what it asks for.
        if let Some(known) = fields.iter().find(|known| known.eq_ignore_ascii_case(key)) {
            let problem = format!("the case of letters counts in keys: write {known}");
            return Err(<Malformed as de::Error>::custom(problem).at(&place));
        }
        self.decoder.unknown.borrow_mut().push(place.to_string());
        Ok(false)
    }
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = Malformed;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Malformed> {
        while let Some((key, json)) = self.rest.next() {
            if let Some(fields) = self.fields
                && (!self.is_known(key, fields)? || *json == Json::Null)
            {
                continue;
            }
            self.current = Some((key, json));
            return seed.deserialize(key.as_str().into_deserializer()).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Malformed> {
        let (key, json) = self
            .current
            .take()
            .ok_or_else(|| <Malformed as de::Error>::custom("has a value without a key"))?;
        let place = Place::Key(self.decoder.place, key);
        let decoder = Decoder { json, place: &place, unknown: self.decoder.unknown };
        seed.deserialize(decoder).map_err(|error| error.at(&place))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Outer {
        inner: Vec<Inner>,
        values: BTreeMap<String, String>,
        raw: Json,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Inner {
        port: u16,
        name: String,
        replicas: Option<i32>,
    }

    fn decode(text: &str) -> Result<Decoded<Outer>, Malformed> {
        serde_json::from_str::<Json>(text).unwrap().decode()
    }

    #[test]
    fn null_counts_as_absent() {
        let text = r#"{"inner":[{"port":null,"name":null,"replicas":null}],"values":null,"raw":null}"#;
        let decoded = decode(text).unwrap();
        assert_eq!(decoded.value, Outer { inner: vec![Inner::default()], ..Outer::default() });
        assert_eq!(decoded.unknown, Vec::<String>::new());
    }

    #[test]
    fn unknown_keys_are_listed_with_their_path() {
        let decoded =
            decode(r#"{"x":1,"inner":[{},{"y":{}}],"values":{"z":"1"},"raw":{"free":null}}"#).unwrap();
        assert_eq!(decoded.unknown, ["x", "inner[1].y"]);
        assert_eq!(decoded.value.values["z"], "1");
        assert_eq!(decoded.value.raw.get("free"), Some(&Json::Null));
    }

    #[test]
    fn a_key_in_another_case_is_refused() {
        let error = decode(r#"{"inner":[{"Port":1}]}"#).unwrap_err();
        assert_eq!(error.path(), "inner[0].Port");
        assert!(error.problem().contains("write port"), "{error}");
    }

    #[test]
    fn errors_say_where_and_quote_no_values() {
        for (text, path) in [
            (r#"{"inner":[{"port":"hunter2"}]}"#, "inner[0].port"),
            (r#"{"inner":[{"port":70001}]}"#, "inner[0].port"),
            (r#"{"inner":["hunter2"]}"#, "inner[0]"),
            (r#"{"inner":[[1]]}"#, "inner[0]"),
            (r#"{"inner":{"hunter2":1}}"#, "inner"),
            (r#"{"values":{"A":70001}}"#, "values.A"),
            (r#""hunter2""#, ""),
        ] {
            let error = decode(text).unwrap_err();
            assert_eq!(error.path(), path, "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(!error.to_string().contains("70001"), "{error}");
        }
    }

    #[test]
    fn a_path_can_have_a_beginning() {
        let json: Json = serde_json::from_str(r#"{"port":-1}"#).unwrap();
        let error = decode_at::<Inner>(&json, "a[0].b").unwrap_err();
        assert_eq!(error.path(), "a[0].b.port");
    }
}
