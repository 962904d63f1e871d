//! One policy, from its text.

use cedar_policy::{ParseError, Policy};
use miette::Diagnostic as _;

use super::finding::shorten;
use super::outline::{Outline, POLICY, TooBig, outline};
use super::position::Position;

/// Of one text. An error is often followed by others that are its consequences.
const MOST_ERRORS: usize = 5;

/// Where an error is, and what it is.
pub(super) type Located = (Option<Position>, String);

/// What reading a text has come to.
pub(super) struct Parsed {
    /// The policy, or what is wrong with it.
    pub(super) result: Result<Policy, Vec<Located>>,
    /// How many tokens were parsed.
    pub(super) tokens: usize,
}

/// Reads a text that holds one policy and no template.
///
/// The reference reads the first policy of a text and ignores whatever follows it, which may be what forbids. So that
/// nobody relies on what is ignored, a text with several policies is an error.
pub(super) fn parse(text: &str) -> Parsed {
    let (end, rest, tokens) = match outline(text, &POLICY) {
        Ok(Outline { end, rest, tokens }) => (end, rest, tokens),
        Err(TooBig { offset, message }) => {
            let error = (Some(Position::of(text, offset)), message.to_owned());
            return Parsed { result: Err(vec![error]), tokens: 0 };
        }
    };
    if tokens == 0 {
        let error = (None, "is empty: write a policy, or remove the entry".to_owned());
        return Parsed { result: Err(vec![error]), tokens };
    }
    let second = rest.map(|offset| {
        let message = "a second policy begins here: give each policy an entry of its own";
        (Some(Position::of(text, offset)), message.to_owned())
    });
    let result = match (Policy::parse(None, text.get(..end).unwrap_or(text)), second) {
        (Ok(policy), None) => Ok(policy),
        (Ok(_), Some(second)) => Err(vec![second]),
        (Err(errors), second) => {
            let errors = errors.iter().take(MOST_ERRORS).map(|error| located(text, error));
            Err(errors.chain(second).collect())
        }
    };
    Parsed { result, tokens }
}

fn located(text: &str, error: &ParseError) -> Located {
    let label = error.labels().and_then(|mut labels| labels.next());
    let position = label.as_ref().map(|label| Position::of(text, label.offset()));
    let mut message = error.to_string();
    let advice = error.help().map(|help| help.to_string());
    for more in label.iter().filter_map(|label| label.label()).chain(advice.as_deref()) {
        message.push_str(": ");
        message.push_str(more);
    }
    (position, shorten(&message))
}
