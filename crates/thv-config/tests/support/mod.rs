//! What the tests of documents share.
#![allow(dead_code, reason = "not every test uses everything")]

use std::cell::RefCell;

use serde::de::value::Error;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use thv_config::RunConfig;

/// The smallest document: an image that speaks over standard input and output.
pub(crate) const MINIMAL: &str = include_str!("../golden/minimal-stdio.json");
/// What the operator writes for a server with most of what there is.
pub(crate) const OPERATOR: &str = include_str!("../golden/operator-http.json");
/// A document with every key. No proxy would run by it.
pub(crate) const EVERY_KEY: &str = include_str!("../golden/every-key.json");

/// All of them.
pub(crate) const GOLDEN: &[(&str, &str)] =
    &[("minimal-stdio", MINIMAL), ("operator-http", OPERATOR), ("every-key", EVERY_KEY)];

/// A document without unknown keys.
pub(crate) fn parse(text: &str) -> RunConfig {
    let decoded = RunConfig::parse(text.as_bytes()).unwrap();
    assert_eq!(decoded.unknown, Vec::<String>::new());
    decoded.value
}

/// What is written.
pub(crate) fn text(config: &RunConfig) -> String {
    String::from_utf8(config.to_bytes().unwrap()).unwrap()
}

/// The keys that a type reads.
pub(crate) fn fields_of<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    let fields = RefCell::default();
    assert!(T::deserialize(Fields(&fields)).is_err());
    fields.into_inner()
}

/// Notes which keys a type asks for, and fails.
struct Fields<'a>(&'a RefCell<Vec<&'static str>>);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(de::Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0.borrow_mut() = fields.to_vec();
        Err(de::Error::custom("only its fields are of interest"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
