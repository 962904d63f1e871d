//! Keeps documents away from the questions that Kubernetes answers differently each time it is asked.

use serde_json::Value;

use super::Object;

pub(super) const DELETIONS: &str = "$deleteFromPrimitiveList/";
/// The only list of scalars that is merged.
const SET: &str = "finalizers";

/// If a merged list of scalars has an item twice, the order of the result depends on memory that Go reserved.
pub(super) fn original(fields: &mut Object) {
    for (name, value) in fields.iter_mut() {
        if name.eq_ignore_ascii_case(SET)
            && let Value::Array(items) = value
        {
            items.retain(Value::is_string);
            items.sort_by_key(|item| item.as_str().map(str::to_owned));
            items.dedup();
            // Not sorted, or the order would be that of the alphabet by chance.
            items.reverse();
        }
    }
    inner(fields).for_each(original);
}

/// If a list is both changed and deleted from, whichever comes first in Go's random order is done first.
pub(super) fn patch(fields: &mut Object) {
    let directives: Vec<_> = fields.keys().filter(|name| name.starts_with(DELETIONS)).cloned().collect();
    for directive in directives {
        let list = &directive[DELETIONS.len()..];
        let words = |name: &str| -> Option<Vec<String>> {
            fields.get(name)?.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let independent = match (words(list), words(&directive)) {
            (Some(added), Some(deleted)) => {
                list.eq_ignore_ascii_case(SET) && !added.iter().any(|item| deleted.contains(item))
            }
            _ => false,
        };
        if !independent {
            fields.remove(list);
        }
    }
    inner(fields).for_each(patch);
}

/// The objects in an object and in its lists.
fn inner(fields: &mut Object) -> impl Iterator<Item = &mut Object> {
    fields.values_mut().flat_map(|value| {
        let items = match value {
            Value::Array(items) => items.iter_mut().collect(),
            other => vec![other],
        };
        items.into_iter().filter_map(Value::as_object_mut)
    })
}
