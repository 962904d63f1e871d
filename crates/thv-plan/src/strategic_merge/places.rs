//! Where items are in a list.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Result;
use super::error::MergeErrorKind;
use super::list::key_of;
use super::path::Path;
use super::scalar::{Kind, Scalar, kind};

/// The first place of every item of a list, found without going through the list: someone may well send us a
/// list of 100,000 items.
pub(super) struct Places<'a> {
    first: BTreeMap<Scalar<'a>, usize>,
    length: usize,
    /// Whether there are such items. They cannot be compared with others of their kind.
    objects: bool,
    lists: bool,
}

impl<'a> Places<'a> {
    /// The places of items, by the value of `key` if they have one.
    pub(super) fn of(items: &'a [Value], key: Option<&str>, path: &Path) -> Result<Self> {
        let mut places = Self { first: BTreeMap::new(), length: 0, objects: false, lists: false };
        for item in items {
            places.add(match key {
                Some(key) => key_of(item, key, path)?,
                None => item,
            });
        }
        Ok(places)
    }

    /// One more item, at the end.
    pub(super) fn add(&mut self, item: &'a Value) {
        match Scalar::of(item) {
            Some(scalar) => drop(self.first.entry(scalar).or_insert(self.length)),
            None if kind(item) == Kind::Object => self.objects = true,
            None => self.lists = true,
        }
        self.length += 1;
    }

    pub(super) fn find(&self, item: &Value, path: &Path) -> Result<Option<usize>> {
        match (Scalar::of(item), kind(item)) {
            (Some(scalar), _) => Ok(self.first.get(&scalar).copied()),
            (None, Kind::Object) if self.objects => Err(path.problem(MergeErrorKind::Incomparable)),
            (None, Kind::List) if self.lists => Err(path.problem(MergeErrorKind::Incomparable)),
            (None, _) => Ok(None),
        }
    }
}
