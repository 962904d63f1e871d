//! Merging lists.

use serde_json::Value;

use super::directive::{self, PATCH};
use super::error::MergeErrorKind;
use super::path::Path;
use super::places::Places;
use super::scalar::{Kind, equal, kind_of_items};
use super::schema::{List, Strategy};
use super::{Object, Result, object, order};

/// What came of two lists.
pub(super) struct Merged {
    pub(super) items: Vec<Value>,
    /// What has become of the original list, which tells `$setElementOrder` where items were.
    pub(super) original: Vec<Value>,
}

pub(super) fn merge(
    original: Vec<Value>,
    patch: Vec<Value>,
    list: List,
    deletes: bool,
    path: &Path,
) -> Result<Merged> {
    if list.strategy == Strategy::Replace && !deletes {
        return Ok(Merged { items: patch, original });
    }
    if original.is_empty() && patch.is_empty() {
        return Ok(Merged { items: Vec::new(), original });
    }
    let kind = kind_of_items(&original, &patch).map_err(|problem| path.problem(problem))?;
    match (kind, list.strategy.key()) {
        (Kind::Object, Some(key)) => merge_objects(original, patch, key, list, path),
        (Kind::Object, None) => Err(path.problem(MergeErrorKind::NoKeyKnown)),
        _ if deletes => Ok(Merged { items: difference(&original, &patch, path)?, original }),
        (_, key) => {
            let united = union(&original, &patch, path)?;
            let by = order::By { key, kind, path };
            Ok(Merged { items: by.arrange(united, &patch, &original)?, original })
        }
    }
}

/// The items of one list that are not in another.
fn difference(items: &[Value], others: &[Value], path: &Path) -> Result<Vec<Value>> {
    let others = Places::of(others, None, path)?;
    let mut left = Vec::with_capacity(items.len());
    for item in items {
        if others.find(item, path)?.is_none() {
            left.push(item.clone());
        }
    }
    Ok(left)
}

/// The items of two lists, each once.
fn union(items: &[Value], others: &[Value], path: &Path) -> Result<Vec<Value>> {
    let mut found = Places::of(&[], None, path)?;
    let mut united = Vec::with_capacity(items.len() + others.len());
    for item in items.iter().chain(others) {
        if found.find(item, path)?.is_none() {
            found.add(item);
            united.push(item.clone());
        }
    }
    Ok(united)
}

/// The value of `key` in an item, which has to be there.
pub(super) fn key_of<'a>(item: &'a Value, key: &str, path: &Path) -> Result<&'a Value> {
    let Value::Object(fields) = item else {
        return Err(path.problem(MergeErrorKind::NotAnObject { key: key.to_owned() }));
    };
    fields.get(key).ok_or_else(|| path.problem(MergeErrorKind::NoKey { key: key.to_owned() }))
}

/// Where the object with this value of `key` is in a list.
fn find_by_key(items: &[Value], key: &str, wanted: &Value, path: &Path) -> Result<Option<usize>> {
    for (index, item) in items.iter().enumerate() {
        if let Some(value) = item.get(key)
            && equal(value, wanted).map_err(|problem| path.problem(problem))?
        {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn merge_objects(
    original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
    list: List,
    path: &Path,
) -> Result<Merged> {
    let mut original = Cells::new(original);
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaces = false;
    for item in patch {
        let Some(directive) = item.get(PATCH) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let value = key_of(&item, key, path)?;
                while let Some(index) = find_by_key(original.items(), key, value, path)? {
                    original.remove(index);
                }
            }
            Some("replace") => replaces = true,
            _ => {
                let directive = directive::text(directive);
                return Err(path.problem(MergeErrorKind::ItemDirective { directive }));
            }
        }
    }
    let by = order::By { key: Some(key), kind: Kind::Object, path };
    if replaces {
        let items = by.arrange(plain.clone(), &[], &plain)?;
        return Ok(Merged { items, original: original.seen_from_before() });
    }
    let remaining = original.items().to_vec();
    let mut places = Places::of(&remaining, Some(key), path)?;
    for item in &plain {
        let value = key_of(item, key, path)?;
        match places.find(value, path)? {
            None => {
                places.add(value);
                original.push(item.clone());
            }
            Some(index) => original.change(index, |current| {
                object::merge(current, fields(item.clone()), list.items, &path.item(key, value))
            })?,
        }
    }
    let items = by.arrange(original.items().to_vec(), &plain, &remaining)?;
    Ok(Merged { items, original: original.seen_from_before() })
}

fn fields(item: Value) -> Object {
    match item {
        Value::Object(fields) => fields,
        _ => Object::new(),
    }
}

/// A list that changes in its place in memory, the way a slice does in Go.
///
/// Whoever had the list before sees the same memory through the old length: what remains, moved to the front,
/// then what was added since, then what nothing has been written over. `$setElementOrder` looks at the original
/// list in just that way after the merge, and it shows: where one item is deleted and another one added, the new
/// item is taken for one that was there before.
struct Cells {
    memory: Vec<Value>,
    /// How much of it is in use.
    length: usize,
    length_before: usize,
}

impl Cells {
    fn new(items: Vec<Value>) -> Self {
        Self { length: items.len(), length_before: items.len(), memory: items }
    }

    fn items(&self) -> &[Value] {
        self.memory.get(..self.length).unwrap_or_default()
    }

    fn seen_from_before(mut self) -> Vec<Value> {
        self.memory.truncate(self.length_before);
        self.memory
    }

    /// Moves all items after this one to the front by one.
    fn remove(&mut self, index: usize) {
        if let Some(moved) = self.memory.get_mut(index..self.length) {
            moved.rotate_left(1);
            if let [.., last, freed] = moved {
                freed.clone_from(last);
            }
            self.length -= 1;
        }
    }

    fn push(&mut self, item: Value) {
        match self.memory.get_mut(self.length) {
            Some(cell) => *cell = item,
            None => self.memory.push(item),
        }
        self.length += 1;
    }

    fn change(&mut self, index: usize, change: impl FnOnce(Object) -> Result<Object>) -> Result<()> {
        if let Some(cell) = self.memory.get_mut(index) {
            *cell = Value::Object(change(fields(cell.take()))?);
        }
        Ok(())
    }
}
