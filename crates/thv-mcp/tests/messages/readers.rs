//! Other readers of the same bytes, to compare with: whatever is accepted, all of them must see the same.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A document in which members stay as they stand, twice if they are there twice.
#[derive(Clone, Debug)]
pub(crate) enum Document {
    Object(Vec<(String, Document)>),
    /// Anything else, as far as somebody looks at it.
    Plain(Value),
}

/// Which of several members a reader believes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reader {
    First,
    Last,
    /// As Go does: the last one, whatever its case.
    Careless,
}

pub(crate) const READERS: [Reader; 3] = [Reader::First, Reader::Last, Reader::Careless];

fn folded(name: &str) -> String {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

impl Document {
    pub(crate) fn get(&self, reader: Reader, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        let mut exact = members.iter().filter(|(key, _)| key == name);
        let found = match reader {
            Reader::First => exact.next(),
            Reader::Last => exact.next_back(),
            Reader::Careless => members.iter().rfind(|(key, _)| folded(key) == folded(name)),
        };
        found.map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        let Self::Plain(value) = self else { return None };
        value.as_str()
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Document::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Document, A::Error> {
        while elements.next_element::<Document>()?.is_some() {}
        Ok(Document::Plain(Value::Array(Vec::new())))
    }

    fn visit_str<E>(self, text: &str) -> Result<Document, E> {
        Ok(Document::Plain(text.into()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Document, E> {
        Ok(Document::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Document, E> {
        Ok(Document::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Document, E> {
        Ok(Document::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Document, E> {
        Ok(Document::Plain(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::Plain(Value::Null))
    }
}
