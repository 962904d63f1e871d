//! Functions that Go's templates do not have.

use std::collections::BTreeMap;

use gtmpl_ng::{Func, FuncError, Number, NumberKind, Value};
use serde_json::Value as Json;

/// Beside the built-in ones.
pub(super) const ALL: &[(&str, Func)] = &[("json", json), ("quote", quote), ("fromJson", from_json)];

/// A value as JSON.
fn json(arguments: &[Value]) -> Result<Value, FuncError> {
    match arguments {
        [value] => Ok(to_json(value)?.to_string().into()),
        _ => Err(FuncError::ExactlyXArgs("json".to_owned(), 1)),
    }
}

/// A text as a string of JSON.
fn quote(arguments: &[Value]) -> Result<Value, FuncError> {
    match arguments {
        [Value::String(text)] => Ok(Json::from(text.as_str()).to_string().into()),
        _ => Err(FuncError::Generic("quote takes one text".to_owned())),
    }
}

/// The value that a text of JSON stands for.
fn from_json(arguments: &[Value]) -> Result<Value, FuncError> {
    match arguments {
        [Value::String(text)] => match serde_json::from_str(text) {
            Ok(value) => Ok(to_value(value)),
            Err(error) => Err(FuncError::Generic(format!("fromJson takes JSON: {error}"))),
        },
        _ => Err(FuncError::Generic("fromJson takes one text".to_owned())),
    }
}

/// Values come out of JSON, so they are nested no deeper than its parser allows.
fn to_json(value: &Value) -> Result<Json, FuncError> {
    Ok(match value {
        Value::NoValue | Value::Nil => Json::Null,
        Value::Bool(value) => Json::from(*value),
        Value::String(text) => Json::from(text.as_str()),
        Value::Number(number) => match number.kind() {
            NumberKind::Unsigned(number) => Json::from(number),
            NumberKind::Signed(number) => Json::from(number),
            NumberKind::Float(number) => Json::from(number),
        },
        Value::Array(items) => Json::Array(items.iter().map(to_json).collect::<Result<_, _>>()?),
        Value::Object(fields) | Value::Map(fields) => {
            let sorted: BTreeMap<_, _> = fields.iter().collect();
            let fields = sorted.into_iter().map(|(name, value)| Ok((name.clone(), to_json(value)?)));
            Json::Object(fields.collect::<Result<_, FuncError>>()?)
        }
        Value::Function(_) => return Err(FuncError::UnableToConvertFromValue),
    })
}

fn to_value(json: Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => value.into(),
        Json::String(text) => text.into(),
        Json::Number(number) => Value::Number(match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Number::unsigned(number),
            (None, Some(number)) => Number::signed(number),
            (None, None) => Number::float(number.as_f64().unwrap_or_default()),
        }),
        Json::Array(items) => Value::Array(items.into_iter().map(to_value).collect()),
        Json::Object(fields) => {
            Value::Map(fields.into_iter().map(|(name, value)| (name, to_value(value))).collect())
        }
    }
}
