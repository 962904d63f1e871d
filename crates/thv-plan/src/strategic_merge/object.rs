//! Merging objects, field by field.

use serde_json::Value;

use super::directive::{self, Beside, PATCH};
use super::error::MergeErrorKind;
use super::path::Path;
use super::scalar::kind;
use super::schema::Schema;
use super::{Object, Result, list, order};

pub(super) fn merge(mut original: Object, mut patch: Object, schema: Schema, path: &Path) -> Result<Object> {
    if let Some(directive) = patch.remove(PATCH) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Object::new()),
            _ => {
                let directive = directive::text(&directive);
                Err(path.problem(MergeErrorKind::ObjectDirective { directive }))
            }
        };
    }
    directive::retain_keys(&mut original, &mut patch, path)?;
    order::merge_ordered(&mut original, &mut patch, schema, path)?;

    let (deletions, fields): (Vec<_>, Vec<_>) =
        patch.into_iter().partition(|(name, _)| Beside::Deletions.is(name));
    for (directive, value) in deletions {
        let list = Beside::Deletions.list(&directive, path)?;
        let name = if list.is_empty() { &directive } else { &list };
        merge_field(&mut original, name, value, true, schema, path)?;
    }
    for (name, value) in fields {
        merge_field(&mut original, &name, value, false, schema, path)?;
    }
    Ok(original)
}

/// Merges one field of a patch. If it `deletes`, its value is a list of what is to go. Go looks at that only if
/// there are two lists, and merges other values of such a field as if they were the field's own.
fn merge_field(
    original: &mut Object,
    name: &str,
    value: Value,
    deletes: bool,
    schema: Schema,
    path: &Path,
) -> Result<()> {
    let path = &path.field(name);
    let merged = match (original.remove(name), value) {
        (_, Value::Null) => None,
        (Some(Value::Object(current)), Value::Object(change)) => {
            let inner = schema.field(name, path)?.object();
            Some(Value::Object(merge(current, change, inner, path)?))
        }
        (Some(Value::Array(current)), Value::Array(change)) => {
            let field = schema.field(name, path)?.list(path)?;
            Some(Value::Array(list::merge(current, change, field, deletes, path)?.items))
        }
        (current, change) if deletes && current.as_ref().map(kind) != Some(kind(&change)) => current,
        (_, change) => directive::added(change),
    };
    if let Some(value) = merged {
        original.insert(name.to_owned(), value);
    }
    Ok(())
}
