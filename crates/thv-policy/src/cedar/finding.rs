//! What is found in texts, bounded in number and length.

use std::fmt;

use super::position::Position;

/// The longest message, in characters.
const LONGEST: usize = 240;
/// The most findings of one kind. A condition of Kubernetes takes 32,768 characters, which this stays far below.
const MOST: usize = 50;

/// A text of the configuration, written as the path of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One policy.
    Policy(usize),
    /// The document of entities.
    Entities,
    /// One entity of the document.
    Entity(usize),
    /// All of them.
    Whole,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(index) => write!(f, "policies[{index}]"),
            Self::Entities => f.write_str("entities_json"),
            Self::Entity(index) => write!(f, "entities_json[{index}]"),
            Self::Whole => f.write_str("policies"),
        }
    }
}

/// Something that was found in a text. Written, it is the position and the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The text.
    pub part: Part,
    /// Where in it, if Cedar tells.
    pub position: Option<Position>,
    /// What, and what to do. It may quote a word of the text, and never all of it.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{position}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// The first findings.
#[derive(Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    pub(super) fn extend(&mut self, found: impl IntoIterator<Item = Finding>) {
        let room = MOST - self.0.len();
        self.0.extend(found.into_iter().take(room));
    }

    pub(super) fn finish(mut self) -> Vec<Finding> {
        if self.is_full() {
            let message = "there may be more: mend these first".to_owned();
            self.0.push(Finding { part: Part::Whole, position: None, message });
        }
        self.0
    }
}

/// A message of somebody else as one line that is not too long.
pub(super) fn shorten(message: &str) -> String {
    let mut characters = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}
