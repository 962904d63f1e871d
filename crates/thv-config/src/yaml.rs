//! YAML that stays within bounds.
//!
//! A text becomes a [`Json`] tree, and a tree becomes a text that every reader of YAML 1.1 or 1.2 understands
//! alike: texts that look like something else are quoted. Anchors, aliases and merge keys are refused: a few
//! lines of them can stand for gigabytes, and no document of ours needs them. So are tags that are not YAML's
//! own.

use serde::Serialize;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{DuplicateKeyPolicy, Error, MergeKeyPolicy, Options, Serializer, SerializerOptions};

use crate::json::Json;
use crate::run_config::WriteError;

/// How many bytes a document may have: as many as a ConfigMap can hold.
pub const MAX_BYTES: usize = 1024 * 1024;

/// How deep lists and objects may be nested.
const MAX_DEPTH: usize = 64;

/// How many values a document may have. The smallest takes two bytes.
const MAX_NODES: usize = MAX_BYTES / 2;

/// Why bytes are not one YAML document within the bounds. Quotes nothing: the bytes may hold credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum YamlError {
    /// There are too many of them.
    #[error("has {0} bytes, more than {MAX_BYTES}: make it smaller")]
    Size(usize),

    /// Something is wrong at a place.
    #[error("line {line}, column {column}: {problem}")]
    At {
        /// Line, from 1.
        line: u64,
        /// Column, from 1.
        column: u64,
        /// What is wrong there, and what to do.
        problem: &'static str,
    },

    /// Something is wrong as a whole.
    #[error("{0}")]
    Whole(&'static str),
}

/// Reads a document. An empty one is `null`.
pub(crate) fn read(bytes: &[u8]) -> Result<Json, YamlError> {
    if bytes.len() > MAX_BYTES {
        return Err(YamlError::Size(bytes.len()));
    }
    serde_saphyr::from_slice_with_options(bytes, options()).map_err(|error| {
        let problem = problem(&error);
        match error.location() {
            Some(place) => YamlError::At { line: place.line(), column: place.column(), problem },
            None => YamlError::Whole(problem),
        }
    })
}

/// Writes a document, and makes sure that it reads as what it is.
pub(crate) fn write(json: &Json) -> Result<String, YamlError> {
    let text = render(json)
        .map_err(|_| YamlError::Whole("cannot be written as YAML: remove what is unusual in it"))?;
    if read(text.as_bytes())? == *json {
        Ok(text)
    } else {
        Err(YamlError::Whole("reads differently from what was written: remove what is unusual in it"))
    }
}

/// Writes any value. An error comes with the path of what could not be written.
pub(crate) fn render<T: Serialize>(value: &T) -> Result<String, WriteError> {
    let mut text = String::new();
    let mut serializer = Serializer::with_options(&mut text, layout())
        .map_err(|error| WriteError::new(String::new(), &error))?;
    serde_path_to_error::serialize(value, &mut serializer)
        .map_err(|error| WriteError::new(error.path().to_string(), error.inner()))?;
    Ok(text)
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            flow_nesting_limit: MAX_DEPTH,
            max_depth: MAX_DEPTH,
            max_events: MAX_BYTES,
            max_nodes: MAX_NODES,
            max_total_scalar_bytes: MAX_BYTES,
            max_documents: 1,
            max_anchors: 0,
            max_aliases: 0,
        },
        emit_comments: false,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        // `yes` and `no` are texts, as in YAML 1.2: a flag that is written so is refused, not misread.
        strict_booleans: true,
        // Snippets would quote the document.
        with_snippet: false,
    }
}

/// Indented as Go does. Longer texts are quoted like shorter ones, so that one change is one changed line.
fn layout() -> SerializerOptions {
    serde_saphyr::ser_options! {
        indent_step: 4,
        compact_list_indent: false,
        prefer_block_scalars: false,
    }
}

fn problem(error: &Error) -> &'static str {
    match error {
        Error::DuplicateMappingKey { .. } => "the key is there twice: keep one of them",
        Error::MultipleDocuments { .. } | Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            "a second document begins: keep one"
        }
        Error::UnsupportedTag { .. } => "the tag is not one of YAML's own: remove it",
        Error::MergeKeyNotAllowed { .. }
        | Error::Budget { breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. }, .. } => {
            "anchors, aliases and merge keys are not allowed: write the value out"
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => "is nested too deep: make it flatter",
        Error::Budget { .. } => "has too many parts: make it smaller",
        Error::NonFiniteFloat { .. } => "is not a number that JSON has: write it in quotes, or write another",
        Error::InvalidUtf8Input => "is not UTF-8: save it as such",
        _ => "is not YAML",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    fn refused(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let value = json(
            r##"{
                "texts": ["", " a ", "yes", "No", "y", "null", "~", "1", "0x10", "1e3", "1_000", "12:30", "2026-01-01",
                    "- a", "a: b", "a #b", "#b", "'", "\"", "\\", "a\nb\n", "\n", "a\n\n  b", "*a", "&a", "!a", "%a",
                    "@a", "`a", "{}", "[a]", "{workload}_", "tab\there", "ünï → code", "trailing ", "<<", "=", "---",
                    "{{.params.id}}", "0o7", ".inf", "true", "\u0000\u007f\u0085\u2028\ufeff"],
                "numbers": [0, -1, 65535, 0.5, 1.0, 1e300, 18446744073709551615, -9223372036854775808],
                "others": [true, false, null, {}, [], [[]], {"a": {}}],
                "keys": {"yes": 1, "1": 2, "a b": 3, "": 4, "$ref": 5, "x-y/z.w": 6, "<<": 7}
            }"##,
        );
        let text = write(&value).unwrap();
        assert_eq!(read(text.as_bytes()).unwrap(), value, "{text}");
    }

    #[test]
    fn texts_that_another_reader_would_take_for_something_else_are_quoted() {
        for text in ["yes", "off", "1.10", "0777", "1_000", "12:30", "2026-01-01", "null", "~", "1e3", "0b1"]
        {
            let written = write(&json(&format!(r#"{{"a":"{text}"}}"#))).unwrap();
            assert!(written.contains(['\'', '"']), "{written}");
        }
    }

    #[test]
    fn keys_keep_their_order_and_levels_are_four_spaces_apart() {
        let text = write(&json(r#"{"b":{"d":1,"c":["x",{"e":2,"a":3}]},"a":{}}"#)).unwrap();
        assert!(text.starts_with("b:\n    d: 1\n    c:\n"), "{text}");
        assert!(text.ends_with("a: {}\n"), "{text}");
    }

    #[test]
    fn what_is_ambiguous_or_not_yaml_is_refused_with_its_place() {
        for (text, message) in [
            ("a: 1\na: 2\n", "line 2, column 1: the key is there twice: keep one of them"),
            ("a: 1\n---\nb: 2\n", "a second document begins: keep one"),
            ("a: &x 1\nb: *x\n", "anchors, aliases and merge keys are not allowed: write the value out"),
            ("<<: {a: 1}\n", "anchors, aliases and merge keys are not allowed: write the value out"),
            ("a: !secret b\n", "the tag is not one of YAML's own: remove it"),
            ("a: [1\nb: 2\n", "is not YAML"),
            ("a: .nan\n", "is not a number that JSON has"),
        ] {
            let shown = refused(text);
            assert!(shown.contains(message), "{text}: {shown}");
        }
        assert_eq!(read(b"a: \xff\n"), Err(YamlError::Whole("is not UTF-8: save it as such")));
    }

    #[test]
    fn errors_quote_nothing() {
        for text in
            ["hunter2: [", "a: \"hunter2", "hunter2: 1\nhunter2: 2\n", "a: !hunter2 b", "a: *hunter2\n"]
        {
            let shown = refused(text);
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }

    #[test]
    fn documents_that_would_become_huge_are_refused() {
        let laughs: String = (0..30).fold("a0: &a0 [x]\n".to_owned(), |text, level| {
            format!("{text}a{}: &a{} [*a{level}, *a{level}, *a{level}]\n", level + 1, level + 1)
        });
        assert!(refused(&laughs).contains("anchors, aliases"));
        for (open, close) in [("[", "]"), ("{a: ", "}")] {
            let deep = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
            assert!(read(deep.as_bytes()).is_err());
            let fine = format!("{}{}", open.repeat(MAX_DEPTH), close.repeat(MAX_DEPTH));
            assert!(read(fine.as_bytes()).is_ok(), "{fine}");
            let over = format!("{}{}", open.repeat(MAX_DEPTH + 1), close.repeat(MAX_DEPTH + 1));
            assert!(read(over.as_bytes()).is_err());
        }
        let block: Vec<_> = (0..1_000).map(|level| format!("{}a:", " ".repeat(level))).collect();
        let block = block.join("\n");
        assert!(refused(&block).contains("is nested too deep"), "{}", refused(&block));
        let huge = "a".repeat(MAX_BYTES + 1);
        assert_eq!(read(huge.as_bytes()), Err(YamlError::Size(MAX_BYTES + 1)));
        assert!(read(&huge.as_bytes()[1..]).is_ok());
    }

    #[test]
    fn a_document_that_could_not_be_read_is_not_written() {
        let deep = (0..MAX_DEPTH).fold(Json::Null, |inner, _| Json::Array(vec![inner]));
        assert!(write(&deep).is_ok());
        assert!(write(&Json::Array(vec![deep])).is_err());
        assert!(write(&Json::String("a".repeat(MAX_BYTES))).is_err());
    }
}
