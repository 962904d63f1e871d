//! Strategic merge patch, the way in which people override parts of a pod template.
//!
//! It works on JSON, not on typed objects: a field that our types do not know must survive, and an absent list
//! must not turn into an empty one, which would mean something else. The results are those of Kubernetes' own
//! function (`strategicpatch.StrategicMergePatch`), down to the order of lists, because the order of a pod
//! template's lists decides whether pods are replaced. That includes what is surprising in it:
//!
//! - A list item that is new goes before those that stay, unless `$setElementOrder` says otherwise, and is taken
//!   as it is: `null`s and directives in it stay in the result. So does what `$patch: replace` brings.
//! - `$patch: delete` in an object empties the object; its field stays.
//! - A field that Kubernetes does not have is kept, but when both documents have an object or a list there, it
//!   is an error, since nobody knows how to merge them.
//! - Names of fields are found without regard to case, yet `Env` and `env` remain two fields.
//!
//! Go's function sometimes panics where one would expect an error; here those are errors. When a patch both adds
//! an item to a list of scalars and deletes it from there (`$deleteFromPrimitiveList`), Go picks one of the two
//! at random; here deletions come first. And when a merged list of scalars holds the same item twice to begin
//! with, Go's order depends on how much memory it happens to have reserved; here it does not. An empty
//! `$setElementOrder` asks for no order in particular; for more than 20 items, ours may then differ from Go's.

mod directive;
mod error;
mod list;
mod object;
mod order;
mod path;
mod places;
mod scalar;
mod schema;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub use error::MergeError;
pub use schema::Schema;

use error::MergeErrorKind;
use path::Path;

type Object = Map<String, Value>;
type Result<T> = std::result::Result<T, MergeError>;

/// Applies `patch` to `original`, both of which are of the Kubernetes type `schema`.
///
/// `null` stands for an empty document in both places.
pub fn merge(original: &Value, patch: &Value, schema: Schema) -> std::result::Result<Value, MergeError> {
    let original = document(original, "original")?;
    let patch = document(patch, "patch")?;
    object::merge(original, patch, schema, &Path::Root).map(Value::Object)
}

fn document(value: &Value, role: &'static str) -> Result<Object> {
    match value {
        Value::Object(fields) => Ok(fields.clone()),
        Value::Null => Ok(Object::new()),
        _ => Err(Path::Root.problem(MergeErrorKind::NoDocument { role })),
    }
}
