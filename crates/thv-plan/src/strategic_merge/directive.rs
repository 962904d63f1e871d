//! What a patch says beyond values.

use std::collections::BTreeSet;

use serde_json::Value;

use super::error::MergeErrorKind;
use super::path::Path;
use super::{Object, Result};

/// In an object: `delete` or `replace` it. In a list item: `delete` the item, or `replace` the list.
pub(super) const PATCH: &str = "$patch";
/// The fields that an object may keep; all others go.
const RETAIN_KEYS: &str = "$retainKeys";

/// A directive about a list, which stands beside it: `$setElementOrder/env` is about `env`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// Scalars that go from the list.
    Deletions,
    /// The order of the list's items.
    Order,
}

impl Beside {
    fn prefix(self) -> &'static str {
        match self {
            Self::Deletions => "$deleteFromPrimitiveList",
            Self::Order => "$setElementOrder",
        }
    }

    /// Whether a field of a patch is this directive.
    pub(super) fn is(self, name: &str) -> bool {
        name.starts_with(self.prefix())
    }

    /// The name of the list that a directive is about.
    pub(super) fn list(self, directive: &str, path: &Path) -> Result<String> {
        let list = directive.strip_prefix(self.prefix()).and_then(|rest| rest.strip_prefix('/'));
        list.map(str::to_owned).ok_or_else(|| {
            let (directive, prefix) = (directive.to_owned(), self.prefix());
            path.problem(MergeErrorKind::NamelessDirective { directive, prefix })
        })
    }
}

/// What `$patch` says, as text for a message if it is something odd.
pub(super) fn text(directive: &Value) -> String {
    directive.as_str().map_or_else(|| directive.to_string(), str::to_owned)
}

/// Follows `$retainKeys`: removes all fields from the original that it does not have.
pub(super) fn retain_keys(original: &mut Object, patch: &mut Object, path: &Path) -> Result<()> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let kept: BTreeSet<_> = match &directive {
        Value::Array(names) if !names.iter().any(|name| name.is_object() || name.is_array()) => {
            names.iter().filter_map(Value::as_str).collect()
        }
        _ => return Err(path.problem(MergeErrorKind::RetainKeys)),
    };
    for (name, value) in &*patch {
        let sets = !value.is_null() && !Beside::Deletions.is(name) && !Beside::Order.is(name);
        if sets && !kept.contains(name.as_str()) {
            return Err(path.problem(MergeErrorKind::NotRetained { name: name.clone() }));
        }
    }
    original.retain(|name, _| kept.contains(name.as_str()));
    Ok(())
}

/// The value of a field that the original does not have, which is the patch's without its `null`s and without
/// the objects that hold a `$patch`. Nothing if it is such an object itself.
pub(super) fn added(mut value: Value) -> Option<Value> {
    discard_nulls(&mut value);
    without_patches(value)
}

fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// A value without the objects in it that hold a `$patch`, unless it is one itself. Other directives stay, as
/// they do in Go.
pub(super) fn without_patches(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(PATCH) => None,
        Value::Object(fields) => {
            let kept = fields.into_iter().filter_map(|(name, field)| Some((name, without_patches(field)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_patches).collect())),
        scalar => Some(scalar),
    }
}
