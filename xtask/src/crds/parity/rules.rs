//! CEL rules compared by what they mean.

use serde_json::Value;

use super::cel;
use super::findings::{ABSENT, Findings};

/// Compares the rules of one schema, in any order.
pub(super) fn compare(path: &str, ours: Option<&Value>, theirs: Option<&Value>, found: &mut Findings) {
    let (mut ours, mut theirs) = (rules(ours), rules(theirs));
    let place = format!("{path} rule").trim_start().to_owned();
    // First those that agree in everything, so that two rules with one expression find their own partners.
    for same in [same_rule, same_meaning, same_message] {
        let (pairs, our_rest, their_rest) = pair(ours, theirs, same);
        for (ours, theirs) in pairs {
            compare_pair(&place, ours, theirs, found);
        }
        (ours, theirs) = (our_rest, their_rest);
    }
    for rule in ours {
        found.differ(&place, text(rule, "rule"), ABSENT.to_owned());
    }
    for rule in theirs {
        found.differ(&place, ABSENT.to_owned(), text(rule, "rule"));
    }
}

fn rules(list: Option<&Value>) -> Vec<&Value> {
    list.and_then(Value::as_array).into_iter().flatten().collect()
}

type Pairs<'a> = (Vec<(&'a Value, &'a Value)>, Vec<&'a Value>, Vec<&'a Value>);

/// Finds a partner for each of our rules. The rest is what has none.
fn pair<'a>(ours: Vec<&'a Value>, mut theirs: Vec<&'a Value>, same: fn(&Value, &Value) -> bool) -> Pairs<'a> {
    let (mut pairs, mut rest) = (Vec::new(), Vec::new());
    for rule in ours {
        match theirs.iter().position(|their| same(rule, their)) {
            Some(at) => pairs.push((rule, theirs.remove(at))),
            None => rest.push(rule),
        }
    }
    (pairs, rest, theirs)
}

fn same_rule(ours: &Value, theirs: &Value) -> bool {
    same_meaning(ours, theirs) && same_message(ours, theirs)
}

fn same_meaning(ours: &Value, theirs: &Value) -> bool {
    meaning(&text(ours, "rule")) == meaning(&text(theirs, "rule"))
}

fn same_message(ours: &Value, theirs: &Value) -> bool {
    ours.get("message").is_some() && ours.get("message") == theirs.get("message")
}

/// An expression that we cannot read means what it says, to the letter.
fn meaning(expression: &str) -> String {
    cel::normal(expression).unwrap_or_else(|| expression.to_owned())
}

fn compare_pair(place: &str, ours: &Value, theirs: &Value, found: &mut Findings) {
    expressions(place, ours, theirs, "rule", found);
    expressions(&format!("{place} messageExpression"), ours, theirs, "messageExpression", found);
    // What the API server takes when there is none.
    let default_reason = Value::from("FieldValueInvalid");
    let off = Value::from(false);
    for (key, default) in [
        ("message", None),
        ("fieldPath", None),
        ("reason", Some(default_reason)),
        ("optionalOldSelf", Some(off)),
    ] {
        let value = |rule: &'_ Value| rule.get(key).filter(|value| Some(*value) != default.as_ref()).cloned();
        // Which rule it is about stands in front: a schema has many.
        let place = format!("{place} {key} of {}", text(theirs, "rule"));
        found.values(&place, value(ours).as_ref(), value(theirs).as_ref());
    }
}

fn expressions(place: &str, ours: &Value, theirs: &Value, key: &str, found: &mut Findings) {
    let (ours, theirs) = (text(ours, key), text(theirs, key));
    if meaning(&ours) != meaning(&theirs) {
        found.differ(place, ours, theirs);
    } else if ours != theirs {
        found.note(place, ours, theirs);
    }
}

fn text(rule: &Value, key: &str) -> String {
    rule.get(key).and_then(Value::as_str).unwrap_or(ABSENT).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::findings::Finding;
    use super::*;

    fn found(ours: Value, theirs: Value) -> (Vec<String>, Vec<String>) {
        let mut found = Findings::default();
        compare("spec", Some(&ours), Some(&theirs), &mut found);
        (found.differences(), found.notes.iter().map(Finding::line).collect())
    }

    #[test]
    fn order_makes_no_difference() {
        let (a, b) = (json!({ "rule": "a", "message": "m" }), json!({ "rule": "b" }));
        assert_eq!(found(json!([a, b]), json!([b, a])), (vec![], vec![]));
    }

    #[test]
    fn another_spelling_is_a_note() {
        let (differences, notes) = found(json!([{ "rule": "(a)&&b" }]), json!([{ "rule": "a && b" }]));
        assert_eq!(differences, Vec::<String>::new());
        assert_eq!(notes, ["spec rule: (a)&&b / a && b"]);
    }

    #[test]
    fn another_meaning_is_a_difference() {
        let ours = json!([{ "rule": "a || b", "message": "m" }, { "rule": "c" }]);
        let theirs = json!([{ "rule": "d" }, { "rule": "a && b", "message": "m" }]);
        let expected = ["spec rule: a || b / a && b", "spec rule: c / –", "spec rule: – / d"];
        assert_eq!(found(ours, theirs).0, expected);
    }

    #[test]
    fn an_expression_that_cannot_be_read_is_compared_to_the_letter() {
        assert_eq!(found(json!([{ "rule": "a b" }]), json!([{ "rule": "a b" }])).0, Vec::<String>::new());
        assert_eq!(found(json!([{ "rule": "a b" }]), json!([{ "rule": "a  b" }])).0.len(), 2);
    }

    #[test]
    fn everything_about_a_rule_is_compared() {
        for (key, ours, theirs) in [
            ("message", json!("x"), json!("y")),
            ("messageExpression", json!("'x'"), json!("'y'")),
            ("reason", json!("FieldValueRequired"), json!("FieldValueInvalid")),
            ("fieldPath", json!(".x"), json!(".y")),
            ("optionalOldSelf", json!(true), json!(false)),
        ] {
            let rule = |value: &Value| json!([{ "rule": "a", key: value }]);
            let differences = found(rule(&ours), rule(&theirs)).0;
            assert!(differences.len() == 1 && differences[0].contains(key), "{key}: {differences:?}");
            assert_eq!(found(rule(&ours), json!([{ "rule": "a" }])).0.len(), 1, "{key}");
            assert_eq!(found(rule(&ours), rule(&ours)), (vec![], vec![]), "{key}");
        }
    }

    #[test]
    fn defaults_of_a_rule_are_no_difference() {
        let ours = json!([{ "rule": "a", "reason": "FieldValueInvalid", "optionalOldSelf": false }]);
        assert_eq!(found(ours, json!([{ "rule": "a" }])), (vec![], vec![]));
    }

    #[test]
    fn two_rules_with_one_expression_find_their_own_partners() {
        let (a, b) = (json!({ "rule": "a", "message": "1" }), json!({ "rule": "a", "message": "2" }));
        assert_eq!(found(json!([a, b]), json!([b, a])), (vec![], vec![]));
        assert_eq!(found(json!([a, b]), json!([b])).0, ["spec rule: a / –"]);
    }
}
