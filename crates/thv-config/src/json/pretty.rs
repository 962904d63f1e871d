//! JSON as Go's `json.MarshalIndent` writes it.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// Pretty-prints with two spaces, and with `<`, `>`, `&`, U+2028 and U+2029 escaped. No line break at the end.
/// An error comes with the path of what could not be written.
pub(crate) fn to_pretty<T: Serialize>(
    value: &T,
) -> Result<Vec<u8>, serde_path_to_error::Error<serde_json::Error>> {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Go(PrettyFormatter::new()));
    serde_path_to_error::serialize(value, &mut serializer)?;
    Ok(bytes)
}

struct Go<'a>(PrettyFormatter<'a>);

impl Formatter for Go<'_> {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((plain, special, tail)) = split_at_special(rest) {
            writer.write_all(plain.as_bytes())?;
            write!(writer, "\\u{:04x}", u32::from(special))?;
            rest = tail;
        }
        writer.write_all(rest.as_bytes())
    }
}

/// The text before the first character that only Go escapes, that character, and the rest.
fn split_at_special(text: &str) -> Option<(&str, char, &str)> {
    let (at, special) =
        text.char_indices().find(|(_, c)| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}'))?;
    let (plain, tail) = text.split_at_checked(at)?;
    Some((plain, special, tail.strip_prefix(special)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pretty(value: &serde_json::Value) -> String {
        String::from_utf8(to_pretty(value).unwrap()).unwrap()
    }

    #[test]
    fn indents_as_go_does() {
        let text =
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(pretty(&json!({ "a": [1, { "b": null }], "c": {}, "d": [] })), text);
    }

    #[test]
    fn escapes_what_go_escapes() {
        for (raw, escaped) in [
            ("a < b && b > c", r"a \u003c b \u0026\u0026 b \u003e c"),
            ("\u{2028}\u{2029}", r"\u2028\u2029"),
            ("\"\\/\n\r\t\u{8}\u{c}", r#"\"\\/\n\r\t\b\f"#),
            ("\u{1}\u{1f}\u{7f}", "\\u0001\\u001f\u{7f}"),
            ("é😀", "é😀"),
            ("", ""),
        ] {
            assert_eq!(pretty(&json!(raw)), format!("\"{escaped}\""));
        }
        assert_eq!(pretty(&json!({ "<k>": 1 })), "{\n  \"\\u003ck\\u003e\": 1\n}");
    }
}
