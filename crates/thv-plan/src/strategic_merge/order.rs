//! The order of the items of a merged list.

use serde_json::Value;

use super::directive::{Beside, PATCH, without_patches};
use super::error::MergeErrorKind;
use super::list::{self, key_of};
use super::path::Path;
use super::places::Places;
use super::scalar::{Kind, equal, kind_of_items};
use super::schema::Schema;
use super::{Object, Result};

/// Merges the lists for which the patch has a `$setElementOrder`, and takes them and it out of the patch.
pub(super) fn merge_ordered(
    original: &mut Object,
    patch: &mut Object,
    schema: Schema,
    path: &Path,
) -> Result<()> {
    let directives: Vec<_> = patch.keys().filter(|name| Beside::Order.is(name)).cloned().collect();
    for directive in directives {
        let order = patch.remove(&directive);
        let name = Beside::Order.list(&directive, path)?;
        let Some(Value::Array(order)) = order else {
            return Err(path.problem(MergeErrorKind::DirectiveNotAList { directive }));
        };
        let path = &path.field(&name);
        let current = list_at(original, &name, "original", path)?;
        let change = list_at(patch, &name, "patch", path)?;
        let field = schema.field(&name, path)?.list(path)?;
        let key = field.strategy.key();
        check(change.unwrap_or_default(), &order, key, path)?;

        if current.is_none() && change.is_none() {
            continue;
        }
        let kind = kind_of_items(current.unwrap_or_default(), change.unwrap_or_default());
        let kind = kind.map_err(|problem| path.problem(problem))?;
        let by = By { key, kind, path };
        let (items, before) = match (current.map(<[Value]>::to_vec), change.map(<[Value]>::to_vec)) {
            (Some(current), Some(change)) => {
                let merged = list::merge(current, change, field, false, path)?;
                (merged.items, merged.original)
            }
            (Some(current), None) => (current.clone(), current),
            (None, change) => {
                let added = change.unwrap_or_default().into_iter().filter_map(without_patches);
                (added.collect(), Vec::new())
            }
        };
        patch.remove(&name);
        original.insert(name.clone(), Value::Array(by.arrange(items, &order, &before)?));
    }
    Ok(())
}

fn list_at<'a>(
    object: &'a Object,
    name: &str,
    role: &'static str,
    path: &Path,
) -> Result<Option<&'a [Value]>> {
    match object.get(name) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(_) => Err(path.problem(MergeErrorKind::OrderOfNoList { role })),
    }
}

/// Every item of the patch has its place in the order, and they are in the same order themselves.
fn check(patch: &[Value], order: &[Value], key: Option<&str>, path: &Path) -> Result<()> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    if let Some(key) = key
        && !patch.iter().all(Value::is_object)
    {
        return Err(path.problem(MergeErrorKind::NotAnObject { key: key.to_owned() }));
    }
    let mut items = patch.iter().filter(|item| key.is_none() || !deletes(item)).peekable();
    let mut places = order.iter();
    while let Some(item) = items.peek() {
        // Go lets other directives pass, but only as long as there are places left.
        let Some(place) = places.as_slice().first() else {
            return Err(path.problem(MergeErrorKind::OutOfOrder));
        };
        if item.get(PATCH).is_some() {
            items.next();
            continue;
        }
        let same = match key {
            None => equal(item, place),
            Some(key) => equal(key_of(item, key, path)?, key_of(place, key, path)?),
        };
        if same.map_err(|problem| path.problem(problem))? {
            items.next();
        }
        places.next();
    }
    Ok(())
}

fn deletes(item: &Value) -> bool {
    item.get(PATCH).and_then(Value::as_str) == Some("delete")
}

/// Go sorts lists of up to this length by insertion.
const INSERTION_SORT: usize = 20;

/// By what the items of a list are told apart.
pub(super) struct By<'a> {
    /// The field of objects; scalars need none.
    pub(super) key: Option<&'a str>,
    /// What all items are.
    pub(super) kind: Kind,
    pub(super) path: &'a Path<'a>,
}

impl By<'_> {
    /// Puts the items of a merged list in order: those that are in `patch` as they are there, the others as in
    /// `original`, and of two that are both in `original` the earlier one first. Where that leaves a choice, what
    /// comes from the patch is first.
    pub(super) fn arrange(
        &self,
        items: Vec<Value>,
        patch: &[Value],
        original: &[Value],
    ) -> Result<Vec<Value>> {
        self.check(&items, patch, original)?;
        let in_patch = Places::of(patch, self.key, self.path)?;
        let in_original = Places::of(original, self.key, self.path)?;
        let mut from_patch = Vec::new();
        let mut others = Vec::new();
        for item in items {
            if self.place(&item, &in_patch)?.is_some() { from_patch.push(item) } else { others.push(item) }
        }
        let from_patch = self.sort(from_patch, &in_patch)?;
        let others = self.sort(others, &in_original)?;
        self.interleave(from_patch, others, &in_original)
    }

    /// Objects need a key to be told apart, and without a key there must be nothing but scalars.
    fn check(&self, items: &[Value], patch: &[Value], original: &[Value]) -> Result<()> {
        let compound = |item: &Value| item.is_object() || item.is_array();
        if self.key.is_some() {
            return Ok(());
        }
        if items.iter().chain(patch).any(compound) {
            return Err(self.path.problem(MergeErrorKind::Incomparable));
        }
        if self.kind == Kind::Object && !(items.is_empty() && patch.is_empty() && original.is_empty()) {
            return Err(self.path.problem(MergeErrorKind::NoKeyKnown));
        }
        Ok(())
    }

    /// Sorts items by their places.
    ///
    /// An item with no place comes before any other that it is compared with, which is no order at all. So the
    /// result depends on the comparisons that are made: they are those of an insertion sort, as in Go. Go stops
    /// doing that at a number of items for which it would take long, and so do we.
    fn sort(&self, mut items: Vec<Value>, order: &Places) -> Result<Vec<Value>> {
        // An original that holds directives is hardly ever meant, but has its order too.
        let marked: Vec<_> = items.extract_if(.., |item| deletes(item)).collect();
        if items.len() > 1 {
            let mut placed = Vec::with_capacity(items.len());
            for item in items {
                placed.push((self.place(&item, order)?, item));
            }
            if placed.len() > INSERTION_SORT || placed.iter().all(|(place, _)| place.is_some()) {
                placed.sort_by_key(|(place, _)| *place);
            } else {
                insertion_sort(&mut placed);
            }
            items = placed.into_iter().map(|(_, item)| item).collect();
        }
        items.extend(marked);
        Ok(items)
    }

    fn interleave(
        &self,
        from_patch: Vec<Value>,
        others: Vec<Value>,
        original: &Places,
    ) -> Result<Vec<Value>> {
        let mut arranged = Vec::with_capacity(from_patch.len() + others.len());
        let (mut from_patch, mut others) = (from_patch.into_iter(), others.into_iter());
        while let (Some(new), Some(old)) = (from_patch.as_slice().first(), others.as_slice().first()) {
            let old_first = self.before(old, new, original)?.unwrap_or(false);
            arranged.extend(if old_first { others.next() } else { from_patch.next() });
        }
        arranged.extend(from_patch);
        arranged.extend(others);
        Ok(arranged)
    }

    /// Whether one item is before another in `order`, if both are there.
    fn before(&self, left: &Value, right: &Value, order: &Places) -> Result<Option<bool>> {
        let Some(left) = self.place(left, order)? else {
            return Ok(None);
        };
        Ok(self.place(right, order)?.map(|right| left < right))
    }

    fn place(&self, item: &Value, order: &Places) -> Result<Option<usize>> {
        let value = match self.key {
            Some(key) => key_of(item, key, self.path)?,
            None => item,
        };
        order.find(value, self.path)
    }
}

fn insertion_sort(placed: &mut [(Option<usize>, Value)]) {
    for end in 1..placed.len() {
        for index in (1..=end).rev() {
            match placed.get_mut(index - 1..=index) {
                Some([left, right]) if left.0.zip(right.0).is_none_or(|(left, right)| right < left) => {
                    std::mem::swap(left, right);
                }
                _ => break,
            }
        }
    }
}
