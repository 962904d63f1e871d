//! Records as JSON, laid out as ToolHive lays them out:
//! `{id, type, created_at, updated_at, data?, metadata?}`.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::error::Malformed;
use crate::key::Key;
use crate::owner::Owner;
use crate::record::{Kind, Metadata, Record};

const ID: &str = "id";
const TYPE: &str = "type";
const CREATED_AT: &str = "created_at";
const UPDATED_AT: &str = "updated_at";
const DATA: &str = "data";
const METADATA: &str = "metadata";

/// What others wrote into a record, and how.
#[derive(Clone, Default)]
pub(crate) struct Unknown {
    data: Option<Box<RawValue>>,
    members: BTreeMap<String, Box<RawValue>>,
    /// The bytes as they are stored, where they differ from those that we would write. Most do not, and then
    /// nothing is kept twice.
    stored: Option<Box<[u8]>>,
}

impl Unknown {
    /// For a record that takes the place of the one that this belongs to.
    pub(crate) fn carried_over(&self) -> Self {
        let Self { data, members, stored: _ } = self;
        Self { data: data.clone(), members: members.clone(), stored: None }
    }

    fn meaning(&self) -> (Option<&str>, Vec<(&str, &str)>) {
        let Self { data, members, stored: _ } = self;
        let members = members.iter().map(|(name, value)| (name.as_str(), value.get()));
        (data.as_deref().map(RawValue::get), members.collect())
    }

    pub(crate) fn weight(&self) -> usize {
        let Self { data, members, stored } = self;
        let raw = |value: &RawValue| value.get().len();
        data.as_deref().map_or(0, raw)
            + members.iter().map(|(name, value)| name.len() + raw(value)).sum::<usize>()
            + stored.as_deref().map_or(0, <[u8]>::len)
    }
}

impl PartialEq for Unknown {
    /// By meaning: how it is stored does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.meaning() == other.meaning()
    }
}

impl fmt::Debug for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { data, members, stored: _ } = self;
        f.debug_struct("Unknown").field("data", &data.is_some()).field("members", &members.keys()).finish()
    }
}

impl Record {
    /// The bytes that we would write.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Malformed> {
        serde_json::to_vec(&Members(self)).map_err(|error| Malformed(error.to_string().into()))
    }

    /// The bytes that were read.
    pub(crate) fn as_stored(&self) -> Result<Vec<u8>, Malformed> {
        self.unknown.stored.as_deref().map_or_else(|| self.encode(), |stored| Ok(stored.to_vec()))
    }

    /// Reads what is stored under `key`.
    pub(crate) fn decode(key: Key, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let record = json.deserialize_map(RecordVisitor(key)).and_then(|record| json.end().map(|()| record));
        // The error of a parser may quote what it read; its class and its place do not.
        let mut record: Self = record.map_err(|error| {
            let (class, line, column) = (error.classify(), error.line(), error.column());
            Malformed(format!("{class:?} error at line {line}, column {column}").into())
        })?;
        record.unknown.stored = (record.encode()? != bytes).then(|| bytes.into());
        Ok(record)
    }
}

/// A record's members, in ToolHive's order.
struct Members<'a>(&'a Record);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Record { key, kind, created_at, updated_at, metadata, unknown } = self.0;
        let Unknown { data, members, stored: _ } = unknown;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(ID, key.as_str())?;
        map.serialize_entry(TYPE, kind.as_str())?;
        map.serialize_entry(CREATED_AT, &created_at.to_string())?;
        map.serialize_entry(UPDATED_AT, &updated_at.to_string())?;
        if let Some(data) = data {
            map.serialize_entry(DATA, data)?;
        }
        let owner = metadata.owner.as_ref().map(ToString::to_string);
        let pairs = pairs(metadata, owner.as_deref());
        if !pairs.is_empty() {
            map.serialize_entry(METADATA, &pairs)?;
        }
        for (name, value) in members {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// All metadata under their names; ours win over others of the same name.
fn pairs<'a>(metadata: &'a Metadata, owner: Option<&'a str>) -> BTreeMap<&'a str, &'a str> {
    let Metadata { backend_url, backend_sid, init_body, owner: _, pod, rest } = metadata;
    let ours = [
        (Metadata::BACKEND_URL, backend_url.as_deref()),
        (Metadata::BACKEND_SID, backend_sid.as_deref()),
        (Metadata::INIT_BODY, init_body.as_deref()),
        (Metadata::OWNER, owner),
        (Metadata::POD, pod.as_deref()),
    ];
    let rest = rest.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    rest.chain(ours.into_iter().filter_map(|(name, value)| Some((name, value?)))).collect()
}

/// Reads the record of this session.
struct RecordVisitor(Key);

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record, A::Error> {
        let (mut id, mut kind, mut created_at, mut updated_at, mut metadata) = (None, None, None, None, None);
        let mut unknown = Unknown::default();
        while let Some(name) = map.next_key::<String>()? {
            let twice = match name.as_str() {
                ID => id.replace(map.next_value::<String>()?).is_some(),
                TYPE => kind.replace(map.next_value::<String>()?).is_some(),
                CREATED_AT => created_at.replace(map.next_value::<String>()?).is_some(),
                UPDATED_AT => updated_at.replace(map.next_value::<String>()?).is_some(),
                DATA => unknown.data.replace(map.next_value()?).is_some(),
                METADATA => metadata.replace(map.next_value::<Option<Pairs>>()?).is_some(),
                _ => unknown.members.insert(name, map.next_value()?).is_some(),
            };
            if twice {
                return Err(A::Error::custom("a member is there twice"));
            }
        }
        if id.is_none_or(|id| id != self.0.as_str()) {
            return Err(A::Error::custom("it is of another session"));
        }
        let wrong = A::Error::custom;
        let time = |text: Option<String>| text.and_then(|text| text.parse::<Timestamp>().ok());
        Ok(Record {
            key: self.0,
            kind: kind.and_then(|kind| Kind::parse(&kind)).ok_or_else(|| wrong(TYPE))?,
            created_at: time(created_at).ok_or_else(|| wrong(CREATED_AT))?,
            updated_at: time(updated_at).ok_or_else(|| wrong(UPDATED_AT))?,
            metadata: metadata.flatten().unwrap_or_default().sorted().ok_or_else(|| wrong(METADATA))?,
            unknown,
        })
    }
}

/// Metadata as they are written.
#[derive(Default)]
struct Pairs(BTreeMap<String, String>);

impl Pairs {
    /// An owner that cannot be read is not nobody.
    fn sorted(self) -> Option<Metadata> {
        let Self(mut rest) = self;
        Some(Metadata {
            backend_url: rest.remove(Metadata::BACKEND_URL),
            backend_sid: rest.remove(Metadata::BACKEND_SID),
            init_body: rest.remove(Metadata::INIT_BODY),
            owner: match rest.remove(Metadata::OWNER) {
                None => None,
                Some(text) => Some(Owner::parse(&text)?),
            },
            pod: rest.remove(Metadata::POD),
            rest,
        })
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("strings by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, String>()? {
            if pairs.insert(name, value).is_some() {
                return Err(A::Error::custom("metadata are there twice"));
            }
        }
        Ok(Pairs(pairs))
    }
}

#[cfg(test)]
mod tests;
