//! YAML that Helm and kubectl read the same way.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_saphyr::DoubleQuoted;

/// Stands for two opening braces until the text is written. It is of the range that Unicode assigns to nobody,
/// and a text that holds it anyway does not survive the check at the end.
const BRACES: char = '\u{E000}';

/// Writes a document, with sorted keys.
///
/// Helm takes two opening braces anywhere in a template for the start of an action, even inside a quoted string.
/// Such strings are written in double quotes with the second brace as an escape, which only YAML undoes.
pub(super) fn write(value: &Value) -> Result<String> {
    let text = serde_saphyr::to_string(&Node(value)).context("cannot write YAML")?;
    let text = text.replace(BRACES, r"{\x7B");
    ensure!(!text.contains("{{"), "two opening braces in a place where they cannot be escaped");
    ensure!(read(&text)? == [value.clone()], "YAML reads differently from what was written");
    Ok(text)
}

/// Reads all documents of a text.
pub(super) fn read(text: &str) -> Result<Vec<Value>> {
    Ok(serde_saphyr::from_multiple(text)?)
}

struct Node<'a>(&'a Value);

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) if text.contains("{{") => {
                DoubleQuoted(text.replace("{{", BRACES.encode_utf8(&mut [0; 4]))).serialize(serializer)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Node)),
            Value::Object(fields) => {
                let sorted: BTreeMap<_, _> = fields.iter().map(|(key, value)| (key, Node(value))).collect();
                sorted.serialize(serializer)
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

/// The same value with whole numbers as integers: `1.0` and `1` are one number in JSON, and bounds are floating
/// point numbers in the types that we get them from.
pub(super) fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => whole(&number).map_or(Value::Number(number), Value::from),
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect(),
        other => other,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked, and there are no decimal places")]
fn whole(number: &serde_json::Number) -> Option<i64> {
    /// Up to here every integer is a floating point number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_reads_the_same() {
        let value = json!({
            "texts": ["", " a ", "yes", "y", "null", "~", "1", "0x10", "1e3", "12:30", "2026-01-01", "- a", "a: b",
                "a #b", "#b", "'", "\"", "\\", "a\nb\n", "\n", "a\n\n  b", "*a", "&a", "!a", "%a", "@a", "`a", "{}",
                "[a]", "tab\there", "ünï → code", "long ".repeat(60).trim_end(), "trailing ", "<<", "=", "---"],
            "rules": ["!has(self.a) || self.a == ''", "self.all(k, k.matches('^[\\\\x27*]+$'))"],
            "numbers": [0, -1, 65535, 0.5, 9_007_199_254_740_993_i64],
            "others": [true, false, null, {}, [], [[]], {"a": {}}],
            "keys": {"yes": 1, "1": 2, "a b": 3, "": 4, "$ref": 5, "x-y/z.w": 6},
        });
        let text = write(&value).unwrap();
        assert_eq!(read(&text).unwrap(), [value]);
    }

    #[test]
    fn helm_sees_no_actions() {
        for text in ["{{.a}}", "a {{ b }} c", "{{{", "{{{{", "x\n{{ y }}\nz", "'{{' \"{{\" \\{{"] {
            let value = json!({ "description": text, "rules": [text] });
            let yaml = write(&value).unwrap();
            assert!(!yaml.contains("{{"), "{yaml}");
            assert_eq!(read(&yaml).unwrap(), [value]);
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        assert!(write(&json!({ "{{": 1 })).is_err());
        assert!(write(&json!("\u{E000}{")).is_err());
    }

    #[test]
    fn keys_are_sorted() {
        assert_eq!(
            write(&json!({ "b": 1, "a": [{ "d": 2, "c": 3 }] })).unwrap(),
            "a:\n- c: 3\n  d: 2\nb: 1\n"
        );
    }

    #[test]
    fn whole_numbers_are_integers() {
        let value = json!({ "maximum": 65535.0, "minimum": -1.0, "default": [0.5, 1e300, 3] });
        let expected = json!({ "maximum": 65535, "minimum": -1, "default": [0.5, 1e300, 3] });
        assert_eq!(whole_numbers(value), expected);
    }
}
