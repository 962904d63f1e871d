//! What can be wrong with a patch.

use thiserror::Error;

/// Two documents cannot be merged. The message says where, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{problem}", place(path))]
pub struct MergeError {
    path: String,
    problem: MergeErrorKind,
}

impl MergeError {
    pub(super) fn new(path: String, problem: MergeErrorKind) -> Self {
        Self { path, problem }
    }

    /// Where it is wrong, such as `spec.containers[name=mcp].env`; empty for the document as a whole.
    pub fn path(&self) -> &str {
        &self.path
    }
}

fn place(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum MergeErrorKind {
    #[error("the {role} must be an object")]
    NoDocument { role: &'static str },
    #[error(
        "{parent} has no field `{name}`, so it is not known how to merge the two values of it: correct the name, \
         or leave it out of the patch"
    )]
    UnknownField { parent: &'static str, name: String },
    #[error(
        "`{name}` cannot be merged, since what is around it has no named fields: remove it from the patch"
    )]
    NoFields { name: String },
    #[error("both values are lists, but the field does not hold one: correct the patch")]
    NotAList,
    #[error("`$patch: {directive}` is not known in an object: use `delete` or `replace`")]
    ObjectDirective { directive: String },
    #[error("`$patch: {directive}` is not known in a list item: use `delete` or `replace`")]
    ItemDirective { directive: String },
    #[error("`$retainKeys` must be a list of field names")]
    RetainKeys,
    #[error("the patch sets `{name}`, which its `$retainKeys` does not have: add it there")]
    NotRetained { name: String },
    #[error("`{directive}` must name a list after a slash, as in `{prefix}/args`")]
    NamelessDirective { directive: String, prefix: &'static str },
    #[error("`{directive}` must be a list")]
    DirectiveNotAList { directive: String },
    #[error("`$setElementOrder` is for lists, but the {role} has something else here: remove one of the two")]
    OrderOfNoList { role: &'static str },
    #[error(
        "the items of the patch must all be in its `$setElementOrder`, in the same order: add what is missing there"
    )]
    OutOfOrder,
    #[error("an item has no `{key}`, by which the items of this list are told apart: add it")]
    NoKey { key: String },
    #[error("an item is not an object, but items of this list are told apart by `{key}`: correct it")]
    NotAnObject { key: String },
    #[error(
        "the list is to be merged, but its objects have no key to tell them apart: use `$patch: replace`"
    )]
    NoKeyKnown,
    #[error("items are of different types: make all of them the same")]
    MixedItems,
    #[error("lists of lists and lists that begin with null cannot be merged")]
    UnmergeableItems,
    #[error("neither the original nor the patch has an item to put in order: leave out `$setElementOrder`")]
    NothingToOrder,
    #[error(
        "objects and lists cannot be compared here, only strings, numbers and booleans: correct the item"
    )]
    Incomparable,
}
