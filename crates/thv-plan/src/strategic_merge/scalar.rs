//! How values are told apart.

use serde_json::Value;

use super::error::MergeErrorKind;

/// The types that Go sees when it reads JSON. Integers and other numbers are two types there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Float,
    String,
    List,
    Object,
}

pub(super) fn kind(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Boolean,
        Value::Number(number) if number.is_i64() => Kind::Integer,
        Value::Number(_) => Kind::Float,
        Value::String(_) => Kind::String,
        Value::Array(_) => Kind::List,
        Value::Object(_) => Kind::Object,
    }
}

/// A value that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scalar<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    /// The bits of an f64. Go rounds an integer that is beyond the range of i64 to one.
    Float(u64),
    String(&'a str),
}

impl<'a> Scalar<'a> {
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bool(value) => Some(Self::Boolean(*value)),
            Value::Number(number) => match number.as_i64() {
                Some(integer) => Some(Self::Integer(integer)),
                // Adding a zero makes one zero of the two that there are.
                None => number.as_f64().map(|float| Self::Float((float + 0.0).to_bits())),
            },
            Value::String(text) => Some(Self::String(text)),
            Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Whether two scalars are equal. What is not a scalar equals nothing of another kind, and cannot be compared
/// with its own.
pub(super) fn equal(left: &Value, right: &Value) -> Result<bool, MergeErrorKind> {
    match (Scalar::of(left), Scalar::of(right)) {
        (None, None) if kind(left) == kind(right) => Err(MergeErrorKind::Incomparable),
        (Some(left), Some(right)) => Ok(left == right),
        _ => Ok(false),
    }
}

/// The kind that all items of two lists have.
pub(super) fn kind_of_items(original: &[Value], patch: &[Value]) -> Result<Kind, MergeErrorKind> {
    let mut kinds = original.iter().chain(patch).map(kind);
    match kinds.next() {
        None => Err(MergeErrorKind::NothingToOrder),
        Some(Kind::Null | Kind::List) => Err(MergeErrorKind::UnmergeableItems),
        Some(first) if kinds.all(|other| other == first) => Ok(first),
        Some(_) => Err(MergeErrorKind::MixedItems),
    }
}
