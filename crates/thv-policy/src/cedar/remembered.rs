//! Results of the last validations. Policies that many refer to are validated whenever somebody looks at one of those,
//! and parsing them takes up to a quarter of a second.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::Validation;

/// How many results are kept, a few kilobytes each at most.
const KEPT: usize = 128;

/// What tells texts apart.
type Key = [u8; 32];

/// The newest results, the newest first.
static RESULTS: Mutex<VecDeque<(Key, Validation)>> = Mutex::new(VecDeque::new());

/// The result for these texts: the one that is kept, or the one that `validate` comes to. It depends on the texts alone.
pub(super) fn or_else(
    policies: &[String],
    entities_json: &str,
    validate: impl FnOnce() -> Validation,
) -> Validation {
    let key = key(policies, entities_json);
    if let Some(known) = look_up(&key) {
        return known;
    }
    let result = validate();
    let mut results = RESULTS.lock().unwrap_or_else(PoisonError::into_inner);
    results.push_front((key, result.clone()));
    results.truncate(KEPT);
    result
}

fn look_up(key: &Key) -> Option<Validation> {
    let mut results = RESULTS.lock().unwrap_or_else(PoisonError::into_inner);
    let index = results.iter().position(|(other, _)| other == key)?;
    let found = results.remove(index)?;
    let result = found.1.clone();
    results.push_front(found);
    Some(result)
}

fn key(policies: &[String], entities_json: &str) -> Key {
    let mut digest = Sha256::new();
    for text in policies.iter().map(String::as_str).chain([entities_json]) {
        // Where one text ends and the next begins makes a difference.
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn the_same_texts_are_validated_once_and_others_anew() {
        let mut count = 0;
        let mut validated = |policies: &[&str], entities: &str| {
            or_else(&texts(policies), entities, || {
                count += 1;
                Validation::default()
            });
            count
        };
        assert_eq!(validated(&["remembered", "1"], "e"), 1);
        assert_eq!(validated(&["remembered", "1"], "e"), 1);
        assert_eq!(validated(&["remembered1", ""], "e"), 2);
        assert_eq!(validated(&["remembered", "1"], ""), 3);
    }

    #[test]
    fn results_are_bounded_in_number() {
        for number in 0..KEPT * 2 {
            or_else(&[format!("bounded {number}")], "", Validation::default);
        }
        assert!(RESULTS.lock().unwrap().len() <= KEPT);
    }
}
