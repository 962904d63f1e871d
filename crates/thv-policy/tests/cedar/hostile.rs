//! Texts that are made to do harm.

use std::thread;

use thv_policy::cedar::validate;

use crate::support::{ANY, check, errors};

/// Far less than parsing takes, and than any thread of ours has.
const STACK: usize = 256 << 10;

fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap()
}

fn when(condition: &str) -> String {
    format!("permit(principal, action, resource) when {{ {condition} }};")
}

/// Expressions of a size.
fn deep(size: usize) -> Vec<String> {
    let nested = |open: &str, middle: &str, close: &str| {
        when(&format!("{}{middle}{}", open.repeat(size), close.repeat(size)))
    };
    let chain = |start: &str, link: &str| when(&format!("{start}{}", link.repeat(size)));
    vec![
        nested("(", "true", ")"),
        nested("[", "1", "]"),
        nested("{a:", "1", "}"),
        nested("!", "true", ""),
        nested("-", "1", ""),
        nested("if true then true else ", "true", ""),
        nested("if ", "true", " then true else true"),
        nested("if true then ", "true", " else true"),
        nested("context.f(", "1", ")"),
        nested("context[", "\"a\"", "]"),
        chain("context", ".a"),
        chain("context", "[\"a\"]"),
        chain("context", ".contains(1)"),
        chain("context has a", ".a"),
        chain("true", " && true"),
        chain("true", " || context.a"),
        chain("1", " + 1"),
        chain("1", " * 1"),
        chain("1", " == 1"),
        nested("(true || ", "true", ")"),
        nested("([", "1", "])"),
        // Never closed, closed too often, closed by something else.
        when(&"(".repeat(size)),
        when(&")".repeat(size)),
        when(&"(]".repeat(size)),
        "(".repeat(size),
        ")".repeat(size),
        "permit(".repeat(size),
        "permit(principal, action, resource)".to_owned() + &" when { true }".repeat(size) + ";",
        "@a(\"b\")".repeat(size) + ANY,
        ";".repeat(size),
        when(&format!("\"{}\"", "\\q".repeat(size))),
        when(&format!("\"{}\"", "\r".repeat(size))),
        when(&format!("[{}1]", "1, ".repeat(size))),
        when(&"a ".repeat(size)),
        "\"".repeat(size),
        "a::".repeat(size),
    ]
}

#[test]
fn hostile_texts_are_refused_on_a_small_stack() {
    for text in deep(100_000) {
        let start = text.chars().take(60).collect::<String>();
        let found = on_a_small_stack(move || errors(&check(&[&text])));
        assert!(!found.is_empty() && found.len() <= 6, "{start}: {found:?}");
    }
}

#[test]
fn texts_up_to_the_limits_are_parsed_on_a_small_stack() {
    for size in [10, 48, 49, 50, 51, 499, 999, 1_999, 2_001] {
        for text in deep(size) {
            on_a_small_stack(move || check(&[&text]));
        }
    }
    let deepest = when(&format!("{}true{}", "[".repeat(49), "]".repeat(49)));
    let longest = when(&format!("context.a{}", " + 1".repeat(1_997)));
    assert_eq!(on_a_small_stack(move || errors(&check(&[&deepest, &longest]))), Vec::<String>::new());
}

#[test]
fn policies_that_are_too_long_in_all_are_refused() {
    let set = when(&format!("[{}].contains(resource)", vec!["Tool::\"a\""; 2_400].join(", ")));
    let found = errors(&check(&vec![set.as_str(); 20]));
    assert_eq!(
        found,
        ["policies[10]: up to this one, the policies are too long: make fewer or shorter ones"]
    );
}

#[test]
fn a_policy_for_many_tools_is_accepted() {
    let tools = |number: usize| (0..number).map(|index| format!("resource == Tool::\"tool-{index}\""));
    let chain = when(&tools(900).collect::<Vec<_>>().join(" || "));
    let set = when(&format!("[{}].contains(resource)", vec!["Tool::\"a\""; 2_400].join(", ")));
    assert_eq!(on_a_small_stack(move || errors(&check(&[&chain, &set]))), Vec::<String>::new());
}

/// Each is the parent of the next, or of all that follow.
fn entities(number: usize, all: bool) -> String {
    let uid = |index: usize| format!(r#"{{"type": "A", "id": "{index}"}}"#);
    let one = |index: usize| {
        let until = if all { number } else { (index + 2).min(number) };
        let parents: Vec<_> = (index + 1..until).map(uid).collect();
        format!(r#"{{"uid": {}, "parents": [{}]}}"#, uid(index), parents.join(","))
    };
    format!("[{}]", (0..number).map(one).collect::<Vec<_>>().join(","))
}

#[test]
fn a_hierarchy_with_too_many_ancestors_is_refused_on_a_small_stack() {
    let found = |json: String| on_a_small_stack(move || errors(&validate(&[ANY.to_owned()], &json)));
    for json in [entities(400, false), entities(40, true)] {
        assert_eq!(found(json), Vec::<String>::new());
    }
    for json in [entities(500, false), entities(3_000, false), entities(100, true)] {
        assert_eq!(
            found(json),
            ["entities_json: the entities have too many ancestors in all: leave out levels of the hierarchy"]
        );
    }
}

#[test]
fn json_that_is_deep_or_long_is_refused() {
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let attribute =
        |value: String| format!(r#"[{{"uid": {{"type": "A", "id": "a"}}, "attrs": {{"a": {value}}}}}]"#);
    let list = format!("[{}1]", "1,".repeat(200_000));
    for json in [
        attribute(list),
        nested("[", "]"),
        nested("{\"a\":", "}"),
        attribute(nested("[", "]")),
        attribute(nested("{\"a\":", "}")),
    ] {
        assert_eq!(on_a_small_stack(move || validate(&[ANY.to_owned()], &json).errors.len()), 1);
    }
}

#[test]
fn the_name_of_a_type_that_is_as_long_as_a_document_is_refused_before_it_is_parsed() {
    let name = format!("{}in", "a::".repeat(300_000));
    let entities = format!(r#"[{{"uid": {{"type": "{name}", "id": "x"}}, "attrs": {{}}, "parents": []}}]"#);
    let found = thv_policy::cedar::validate(&["permit(principal, action, resource);".to_owned()], &entities);
    assert!(found.errors.iter().any(|error| error.to_string().contains("too long")), "{:?}", found.errors);
}
