//! The rules for writing to the API server are written down, and a PUT does not get past clippy.

use crate::shell::root;
use crate::source::{self, Source};

/// What sends a PUT.
const PUTS: [&str; 3] = ["replace", "replace_status", "replace_scale"];

#[test]
fn s3_12_the_write_rules_are_written_down_and_put_is_forbidden() {
    let sources = source::all(&root()).unwrap();
    let text = |path: &str| sources.iter().find(|source| source.path == path).unwrap().text.as_str();

    let document = text("CONTRIBUTING.md");
    let mut sections = document.split("\n## ");
    let section = sections.find(|section| section.starts_with("Writing to the API server\n"));
    let rules = section.unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for rule in [
        "Patch, never PUT.",
        "Children and status are applied",
        "Every other patch carries a precondition.",
        "A merge patch always replaces arrays whole, with or without one",
        "`resourceVersion` in it only makes a patch that was computed from an old read fail with 409, so that we read \
         again and compute again. It merges nothing.",
        "409 is routine",
        "Never force it, never drop the precondition.",
    ] {
        assert!(rules.contains(rule), "CONTRIBUTING.md does not say: {rule}");
    }
    // What the seed of this rule got wrong.
    for line in document.lines().filter(|line| line.contains("merge patch") && line.contains("arrays")) {
        assert!(!line.contains("merges arrays"), "{line}");
    }

    let clippy = text("clippy.toml");
    for name in PUTS {
        assert!(rules.contains(&format!("`{name}`")), "CONTRIBUTING.md does not name {name}");
        assert!(
            clippy.contains(&format!("path = \"kube::Api::{name}\"")),
            "clippy.toml does not forbid {name}"
        );
    }
    let calls: Vec<String> = sources.iter().filter(|source| is_product(source)).flat_map(puts).collect();
    assert!(calls.is_empty(), "{calls:#?}");
}

#[test]
fn a_put_is_told_from_a_text_with_something_replaced() {
    let source = |text: &str| Source { path: "crates/a/src/lib.rs".to_owned(), text: text.to_owned() };
    let found = |text: &str| puts(&source(text)).len();
    assert_eq!(found("api\n    .replace(\"name\", &PostParams::default(), &object)\n    .await?;"), 1);
    assert_eq!(found("api.replace_status(name, &params, body).await"), 1);
    assert_eq!(found("scales.replace_scale(name, &params, body).await"), 1);
    assert_eq!(found("Request::put(uri)"), 1);
    assert_eq!(found("let key = key.replace('~', \"~0\").replace('/', \"~1\"); PostParams::default()"), 0);
    assert_eq!(found("fn f() {}\n#[cfg(test)]\nmod tests { fn t() { api.replace_status(); } }"), 0);
}

/// Whether it ends up in a program that writes to an API server.
fn is_product(source: &Source) -> bool {
    source.is_rust() && source.path.starts_with("crates/") && source.path.contains("/src/")
}

/// The places in the code, tests aside, that send a PUT.
fn puts(source: &Source) -> Vec<String> {
    let code = source.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut found = Vec::new();
    for sign in [".replace(", ".replace_status(", ".replace_scale(", "Method::PUT", "Request::put("] {
        for (at, _) in code.match_indices(sign) {
            let call: String = code[at..].chars().take_while(|&c| c != ';').take(200).collect();
            // Of the methods named `replace`, only that of an API takes the parameters of a write.
            if sign != ".replace(" || call.contains("PostParams") || call.contains("params") {
                let line = code[..at].lines().count();
                found.push(format!("{}:{line}: {call}", source.path));
            }
        }
    }
    found
}
