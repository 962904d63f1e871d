//! The document of entities.

use thv_policy::cedar::validate;

use crate::support::{ANY, errors};

fn check(json: &str) -> Vec<String> {
    errors(&validate(&[ANY.to_owned()], json))
}

#[test]
fn entities_of_every_form_are_accepted() {
    for json in [
        "",
        " ",
        "[]",
        r#"[{"uid": {"type": "Client", "id": "a"}, "attrs": {}, "parents": []}]"#,
        r#"[{"uid": {"__entity": {"type": "A::B", "id": "é"}}, "attrs": {"n": 1, "s": ["x"], "r": {"k": true},
            "d": {"__extn": {"fn": "decimal", "arg": "1.5"}}}, "parents": [{"type": "G", "id": "g"}], "tags": {"t": "x"}}]"#,
    ] {
        assert_eq!(check(json), Vec::<String>::new(), "{json}");
    }
}

/// cedar-go takes attributes and parents that are not there for none.
#[test]
fn what_an_entity_does_not_say_is_nothing() {
    assert_eq!(check(r#"[{"uid": {"type": "Client", "id": "a"}}]"#), Vec::<String>::new());
    assert_eq!(check(r#"[{"uid": {"type": "Client", "id": "a"}, "parents": null}]"#), Vec::<String>::new());
}

#[test]
fn what_is_wrong_is_told_at_its_entity() {
    let fine = r#"{"uid": {"type": "A", "id": "0"}}"#;
    let cases = [
        ("[", "entities_json: line 1, column 1: is not JSON"),
        ("[\n  x]", "entities_json: line 2, column 3: is not JSON"),
        ("{}", "entities_json: line 1, column 1: is not a list of entities"),
        ("[1]", "entities_json: line 1, column 2: is not a list of entities"),
        (r#"[{"attrs": {}}]"#, "entities_json: line 1, column 14: is not a list of entities"),
        (
            r#"[{"uid": {"type": "A", "id": "1"}, "uid": {"type": "A", "id": "2"}}]"#,
            "is not a list of entities",
        ),
        (&format!(r#"[{fine}, {{"uid": "x"}}]"#), "entities_json[1]: "),
        (&format!(r#"[{fine}, {{"uid": {{"type": "A B", "id": "1"}}}}]"#), "entities_json[1]: "),
        (
            &format!(r#"[{fine}, {{"uid": {{"type": "A", "id": "1"}}, "attrs": {{"a": 1.5}}}}]"#),
            "entities_json[1]: ",
        ),
        (
            &format!(r#"[{fine}, {{"uid": {{"type": "A", "id": "1"}}, "attrs": {{"a": 1, "a": 2}}}}]"#),
            "entities_json[1]: ",
        ),
        (
            &format!(r#"[{fine}, {{"uid": {{"type": "A", "id": "0"}}, "attrs": {{"a": 1}}}}]"#),
            "entities_json: duplicate entity",
        ),
        (r#"[{"uid": {"type": "A", "id": "1"}, "parents": [{"type": "A", "id": "1"}]}]"#, "entities_json: "),
    ];
    for (json, expected) in cases {
        let found = check(json);
        assert_eq!(found.len(), 1, "{json}: {found:?}");
        assert!(found[0].contains(expected), "{json}: {found:?}");
    }
}

#[test]
fn every_entity_is_looked_at() {
    let wrong = r#"{"uid": 1}"#;
    assert_eq!(check(&format!("[{wrong}, {wrong}]")).len(), 2);
    assert_eq!(check(&format!("[{}]", [wrong; 500].join(","))).len(), 51);
}
