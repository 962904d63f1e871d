//! Bytes to document.

use serde_json::error::Category;

use super::RunConfig;
use crate::json::{Decoded, Json, Malformed};

/// Why bytes are not a run configuration. Quotes keys but no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The bytes are not JSON.
    #[error(
        "line {line}, column {column}: not JSON: {problem}; correct the file or let the operator write it anew"
    )]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong there.
        problem: String,
    },

    /// The document could be read in two ways.
    #[error(transparent)]
    Ambiguous(Malformed),

    /// A value is not what it should be.
    #[error(transparent)]
    Malformed(#[from] Malformed),

    /// A key is not there that has no default.
    #[error("{path}: is missing: {remedy}")]
    Missing {
        /// The key.
        path: &'static str,
        /// What to do.
        remedy: &'static str,
    },
}

impl RunConfig {
    /// Reads a document. Nothing is changed or filled in; see [`Self::normalise`] and [`Self::validate`].
    pub fn parse(bytes: &[u8]) -> Result<Decoded<Self>, ParseError> {
        let json = tree(bytes)?;
        let decoded = json.decode::<Self>()?;
        // Every other key has a default that means "none". A transport that someone forgot is not stdio.
        if matches!(json.get("transport"), None | Some(Json::Null)) {
            let remedy = "write stdio, sse or streamable-http";
            return Err(ParseError::Missing { path: "transport", remedy });
        }
        Ok(decoded)
    }

    /// Fills in what a document may leave out, as the proxy understands it.
    pub fn normalise(&mut self) {
        if self.schema_version.is_empty() {
            Self::SCHEMA_VERSION.clone_into(&mut self.schema_version);
        }
        self.proxy_mode = Some(self.effective_mode());
    }
}

/// The bytes as a tree, if they are one JSON value with no key twice.
fn tree(bytes: &[u8]) -> Result<Json, ParseError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let json = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        match error.inner().classify() {
            Category::Data => {
                let path = error.path().to_string();
                let path = if path == "." { String::new() } else { path };
                ParseError::Ambiguous(Malformed::new(path, without_position(error.inner())))
            }
            Category::Io | Category::Syntax | Category::Eof => syntax(error.inner()),
        }
    })?;
    deserializer.end().map_err(|error| syntax(&error))?;
    Ok(json)
}

fn syntax(error: &serde_json::Error) -> ParseError {
    ParseError::Syntax { line: error.line(), column: error.column(), problem: without_position(error) }
}

/// The text of an error without the position that `serde_json` puts at its end.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}
