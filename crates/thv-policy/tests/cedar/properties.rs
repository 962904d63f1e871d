//! What holds for every text.

use std::str::FromStr as _;

use cedar_policy::{Effect, PolicySet};
use proptest::prelude::*;
use thv_policy::cedar::{Part, Position, validate};

use crate::support::ANY;

/// Words that texts are put together from, so that many of them almost are policies.
const WORDS: [&str; 46] = [
    "permit",
    "forbid",
    "(",
    ")",
    "principal",
    "action",
    "resource",
    ",",
    ";",
    "when",
    "unless",
    "{",
    "}",
    "[",
    "]",
    "==",
    "in",
    "is",
    "has",
    "like",
    "if",
    "then",
    "else",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    ".",
    "context",
    "a",
    "1",
    "true",
    "\"s\"",
    "\"",
    "\\",
    "Action::\"call_tool\"",
    "Action::",
    "?principal",
    "@a(\"b\")",
    "//",
    "\n",
    "é",
    "<",
    "permit(principal, action, resource)",
];

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40).prop_map(|words| words.join(" "))
}

/// A policy in which some words are replaced.
fn almost() -> impl Strategy<Value = String> {
    let whole = "permit ( principal in Team::\"a\" , action == Action::\"call_tool\" , resource ) when { context . a == \"x\" && \
                 ! ( resource . b . contains ( 1 ) || if true then 1 < 2 else context has c ) } ;";
    let words: Vec<&'static str> = whole.split_whitespace().collect();
    let changes = prop::collection::vec((0..words.len(), prop::sample::select(&WORDS[..])), 0..3);
    changes.prop_map(move |changes| {
        let mut words = words.clone();
        for (index, word) in changes {
            words[index] = word;
        }
        words.join(" ")
    })
}

/// Whether a place is one of the text, or just behind a line of it.
fn is_inside(Position { line, column }: Position, text: &str) -> bool {
    text.split('\n').nth(line - 1).is_some_and(|line| (1..=line.chars().count() + 1).contains(&column))
}

fn check(texts: &[String]) -> Result<(), TestCaseError> {
    let found = validate(texts, "");
    for error in &found.errors {
        prop_assert!(!error.message.is_empty());
        match error.part {
            Part::Policy(index) => {
                let position = error.position.is_none_or(|position| is_inside(position, &texts[index]));
                prop_assert!(position, "{error}");
            }
            other => prop_assert!(false, "{other}"),
        }
    }
    if found.errors.is_empty() {
        let joined = PolicySet::from_str(&texts.join("\n"));
        prop_assert!(joined.is_ok(), "{:?}", joined);
        prop_assert_eq!(joined.unwrap().policies().count(), texts.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_texts_are_survived_and_what_is_accepted_cedar_accepts_too(texts in prop::collection::vec("\\PC{0,60}", 1..3)) {
        check(&texts)?;
    }

    #[test]
    fn words_of_cedar_in_any_order_are_survived(texts in prop::collection::vec(words(), 1..3)) {
        check(&texts)?;
    }

    #[test]
    fn policies_with_a_mistake_are_told_where_it_is(text in almost()) {
        check(&[text])?;
    }

    #[test]
    fn what_cedar_writes_is_accepted(effect in prop::bool::ANY, group in "\\PC{0,20}") {
        let effect = if effect { Effect::Permit } else { Effect::Forbid };
        let text = format!("{effect}(principal in G::\"{}\", action, resource);", group.escape_debug());
        if PolicySet::from_str(&text).is_ok() {
            prop_assert_eq!(validate(&[text], "").errors, vec![]);
        }
    }

    #[test]
    fn any_entities_are_survived(text in r#"[\[\]{}":,0-9a-e_ .-]{0,60}"#, name in "\\PC{0,10}") {
        for json in [text, format!(r#"[{{"uid": {{"type": {name:?}, "id": {name:?}}}}}]"#)] {
            for error in validate(&[ANY.to_owned()], &json).errors {
                prop_assert!(matches!(error.part, Part::Entities | Part::Entity(_)), "{}", error);
                prop_assert!(error.position.is_none_or(|position| is_inside(position, &json)), "{}", error);
            }
        }
    }
}
