//! What is found in a definition, bounded in number and length.

use std::fmt;

use crate::limits::MAX_FINDINGS;

/// The longest text of the definition that a message or a path repeats, in characters.
const LONGEST: usize = 64;
/// The longest path, in bytes. What is below it is told with it.
const LONGEST_PATH: usize = 256;
/// The longest message of a parser that is told, in characters.
const LONGEST_MESSAGE: usize = 240;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Which sort of rule it breaks.
    pub rule: Rule,
    /// The field, such as `steps[2].arguments.query`, as seen from the definition.
    pub path: String,
    /// What is wrong with it, and what to do.
    pub message: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Sorts of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Fields have values that make sense together.
    Definition,
    /// JSON Schemas are JSON Schemas.
    Schema,
    /// Templates can be parsed, and read what there is.
    Template,
    /// No step waits for itself.
    Cycle,
}

/// Something that is not wrong, and probably not what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The field, as seen from the definition.
    pub path: String,
    /// What to know about it.
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// The first things that were found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    errors: Vec<Invalid>,
    more_errors: usize,
    notes: Vec<Note>,
}

impl Findings {
    pub(crate) fn error(&mut self, rule: Rule, path: impl Into<String>, message: impl Into<String>) {
        let invalid = Invalid { rule, path: path.into(), message: message.into() };
        if self.errors.contains(&invalid) {
            return;
        }
        if self.errors.len() < MAX_FINDINGS {
            self.errors.push(invalid);
        } else {
            self.more_errors += 1;
        }
    }

    /// A field breaks a rule over the definition.
    pub(crate) fn wrong(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.error(Rule::Definition, path, message);
    }

    /// A field breaks a rule over the definition unless `fine`.
    pub(crate) fn unless(&mut self, fine: bool, path: impl Into<String>, message: impl Into<String>) {
        if !fine {
            self.wrong(path, message);
        }
    }

    pub(crate) fn note(&mut self, path: impl Into<String>, message: impl Into<String>) {
        let note = Note { path: path.into(), message: message.into() };
        if self.notes.len() < MAX_FINDINGS && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The notes, or everything that was wrong.
    pub(crate) fn finish(mut self) -> Result<Vec<Note>, Vec<Invalid>> {
        if self.errors.is_empty() {
            return Ok(self.notes);
        }
        if self.more_errors > 0 {
            let message = format!("has {} more errors: mend the others first", self.more_errors);
            self.errors.push(Invalid { rule: Rule::Definition, path: "steps".to_owned(), message });
        }
        Err(self.errors)
    }
}

/// A text of the definition as part of a message or a path.
pub(crate) fn shorten(text: &str) -> String {
    cut(text, LONGEST)
}

/// The path of a field of what is at `path`.
pub(crate) fn below(path: &str, field: &str) -> String {
    if path.len() > LONGEST_PATH { path.to_owned() } else { format!("{path}.{}", shorten(field)) }
}

/// The path of an item of what is at `path`.
pub(crate) fn item(path: &str, index: usize) -> String {
    if path.len() > LONGEST_PATH { path.to_owned() } else { format!("{path}[{index}]") }
}

/// What a parser says, on one line.
pub(crate) fn told(message: impl fmt::Display) -> String {
    cut(&message.to_string(), LONGEST_MESSAGE)
}

fn cut(text: &str, longest: usize) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = characters.by_ref().take(longest).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_errors_are_told_and_the_others_counted() {
        let mut findings = Findings::default();
        for number in 0..MAX_FINDINGS + 7 {
            findings.error(Rule::Template, format!("steps[{number}]"), "is wrong");
        }
        let errors = findings.finish().unwrap_err();
        assert_eq!(errors.len(), MAX_FINDINGS + 1);
        assert_eq!(errors[0].to_string(), "steps[0]: is wrong");
        assert_eq!(errors[MAX_FINDINGS].message, "has 7 more errors: mend the others first");
    }

    #[test]
    fn texts_of_strangers_are_cut_and_have_no_control_characters() {
        assert_eq!(shorten("a\nb"), "a b");
        assert_eq!(shorten(&"ä".repeat(1000)).chars().count(), LONGEST + 1);
    }
}
