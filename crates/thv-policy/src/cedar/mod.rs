//! Cedar: the language of policies.
//!
//! Policies come from whoever may write a manifest, and are read by programs that serve everybody. Every text is
//! therefore measured before Cedar parses it ([`outline`], [`hierarchy`]), and messages are bounded in number and length.

mod actions;
mod entities;
mod finding;
mod hierarchy;
mod outline;
mod policy;
mod position;
mod remembered;
mod tokens;

use std::str::FromStr as _;

use cedar_policy::EntityTypeName;

pub use finding::{Finding, Part};
pub use position::Position;

use finding::Findings;
use policy::Parsed;

/// What parsing takes at most, with the texts that are let through to it: 4 MiB without optimisation, 1 MiB with it.
const STACK: usize = 5 << 20;
/// The most tokens of all policies together. Parsing so many takes a quarter of a second.
const TOKENS: usize = 100_000;

/// What validation has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validation {
    /// What keeps the texts from being used. Empty if they can be.
    pub errors: Vec<Finding>,
    /// What can be used and has no effect.
    pub notes: Vec<Finding>,
}

/// Validates policies, each text one of them, and the entities that they are about, which may be an empty text. The same
/// texts are parsed once, for as long as few others come.
pub fn validate(policies: &[String], entities_json: &str) -> Validation {
    remembered::or_else(policies, entities_json, || parse(policies, entities_json))
}

fn parse(policies: &[String], entities_json: &str) -> Validation {
    stacker::maybe_grow(STACK, STACK, || {
        let mut errors = Findings::default();
        let notes = validate_policies(policies, &mut errors);
        if let Err(found) = entities::parse(entities_json) {
            errors.extend(found);
        }
        Validation { errors: errors.finish(), notes }
    })
}

fn validate_policies(policies: &[String], errors: &mut Findings) -> Vec<Finding> {
    let (mut notes, mut tokens_before) = (Findings::default(), 0);
    for (index, text) in policies.iter().enumerate() {
        // Whatever else is wrong would not be told, and texts with errors are the ones that take long to parse.
        if errors.is_full() {
            break;
        }
        let part = Part::Policy(index);
        let Parsed { result, tokens } = policy::parse(text);
        let finding = |(position, message)| Finding { part, position, message };
        match result {
            Ok(policy) => notes.extend(actions::notes(&policy).into_iter().map(|note| finding((None, note)))),
            Err(found) => errors.extend(found.into_iter().map(finding)),
        }
        tokens_before += tokens;
        if tokens_before > TOKENS {
            let message = "up to this one, the policies are too long: make fewer or shorter ones";
            errors.extend([finding((None, message.to_owned()))]);
            break;
        }
    }
    notes.finish()
}

/// Whether entities can be of a type of this name: identifiers that are not keywords, joined by `::`.
pub fn is_type_name(name: &str) -> bool {
    EntityTypeName::from_str(name).is_ok()
}
