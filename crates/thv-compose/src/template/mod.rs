//! Templates: Go's `text/template`, with the functions `json`, `quote` and `fromJson`.
//!
//! gtmpl-ng parses them. It is given a form of them that it reads as Go reads the original: our own [`tokens`] tell
//! strings and blocks apart, [`normal`] writes those anew that it would misread, and refuses what it would recurse too
//! deep into.

mod functions;
mod normal;
mod paths;
mod strings;
mod tokens;

use std::fmt;

use gtmpl_ng::ParseError;

use self::normal::Normal;
pub(crate) use self::paths::DataPath;
use crate::findings::told;
use crate::limits::MAX_TEMPLATE_BYTES;

/// A template that can be rendered.
pub struct Template {
    source: String,
    /// Nothing for a text without actions.
    parsed: Option<gtmpl_ng::Template>,
}

impl Template {
    /// Parses a template, and tells what it reads of the data of the workflow. `tokens` is how many it may have, and
    /// then how many are left.
    pub(crate) fn parse(source: &str, tokens: &mut usize) -> Result<(Self, Vec<DataPath>), String> {
        let (parsed, paths) = match normal(source, tokens).map_err(|error| error.told(source))? {
            Some(normal) => (Some(parse(&normal).map_err(|error| error.told(source))?), normal.paths),
            None => (None, Vec::new()),
        };
        Ok((Self { source: source.to_owned(), parsed }, paths))
    }

    /// As it is written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What renders it. Nothing for a text without actions, which is its own rendering.
    pub const fn parsed(&self) -> Option<&gtmpl_ng::Template> {
        self.parsed.as_ref()
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

/// Why a text is no template.
#[derive(Debug)]
struct SyntaxError {
    /// Where in the text, in bytes, if that is known.
    at: Option<usize>,
    message: String,
}

impl SyntaxError {
    /// The message, with line and column.
    fn told(self, source: &str) -> String {
        let Self { at, message } = self;
        let position = at.and_then(|at| source.get(..at)).map(|before| {
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!("line {line}, column {column}: ")
        });
        format!("is no template: {}{}", position.unwrap_or_default(), told(message))
    }
}

/// The form that is parsed. Nothing for a text without actions.
fn normal(source: &str, left: &mut usize) -> Result<Option<Normal>, SyntaxError> {
    if source.len() > MAX_TEMPLATE_BYTES {
        let message = format!("it has more than {MAX_TEMPLATE_BYTES} bytes: make it shorter");
        return Err(SyntaxError { at: None, message });
    }
    if !source.contains("{{") {
        return Ok(None);
    }
    let tokens = tokens::tokens(source, *left)?;
    *left -= tokens.len();
    normal::normalise(&tokens).map(Some)
}

fn parse(normal: &Normal) -> Result<gtmpl_ng::Template, SyntaxError> {
    let mut template = gtmpl_ng::Template::default();
    template.add_funcs(functions::ALL);
    match template.parse(normal.text.as_str()) {
        Ok(()) => Ok(template),
        Err(ParseError::WithContext(place, message)) => {
            Err(SyntaxError { at: normal.origin(place.line, place.col), message })
        }
        Err(other) => Err(SyntaxError { at: None, message: other.to_string() }),
    }
}

#[cfg(test)]
mod tests;
