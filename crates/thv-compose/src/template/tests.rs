use std::collections::HashMap;

use gtmpl_ng::{Context, Value};
use proptest::prelude::*;

use super::*;
use crate::limits::{MAX_NESTING, MAX_TOKENS};

fn parse_all(source: &str) -> Result<(Template, Vec<DataPath>), String> {
    let mut tokens = MAX_TOKENS;
    Template::parse(source, &mut tokens)
}

fn error(source: &str) -> String {
    parse_all(source).unwrap_err()
}

/// What a template comes to over `{"a": "", "b": "x", "list": ["1", "2"]}`.
fn rendered(source: &str) -> String {
    let (template, _) = parse_all(source).unwrap();
    let list: Value = vec!["1", "2"].into();
    let data = HashMap::from([
        ("a".to_owned(), Value::from("")),
        ("b".to_owned(), Value::from("x")),
        ("list".to_owned(), list),
    ]);
    match template.parsed() {
        Some(parsed) => parsed.render(&Context::from(Value::Map(data))).unwrap(),
        None => template.source().to_owned(),
    }
}

fn paths(source: &str) -> Vec<(String, bool)> {
    let (_, paths) = parse_all(source).unwrap();
    paths.into_iter().map(|path| (path.names.join("/"), path.is_certain)).collect()
}

#[test]
fn templates_come_to_what_they_come_to_in_go() {
    for (source, wanted) in [
        ("no action", "no action"),
        ("{{.b}} and }} {", "x and }} {"),
        ("{{if .a}}A{{else if .b}}B{{else}}C{{end}}!", "B!"),
        ("{{with .a}}A{{else with .b}}B{{.}}{{else}}C{{end}}!", "Bx!"),
        ("{{with .a}}A{{else with .a}}B{{else with .b}}C{{.}}{{end}}!", "Cx!"),
        ("{{with .a}}A{{else with .a}}B{{else}}C{{.b}}{{end}}!", "Cx!"),
        ("  {{- with .a}}A{{- else with .b -}}  B  {{- end -}}  !", "B!"),
        ("{{range .list}}{{with $.a}}{{else with .}}<{{.}}>{{end}}{{end}}", "<1><2>"),
        ("{{print `a\\b`}}", "a\\b"),
        ("{{print `two\r\nlines \"quoted\"`}}", "two\nlines \"quoted\""),
        (r#"{{print "ends with \\"}}"#, r"ends with \"),
        (r#"{{print "\\" "\\n" "a\"b"}}"#, "\\\\na\"b"),
        (r#"{{print "\u263a and more ä"}}"#, "☺ and more ä"),
        (r#"{{print "\x41\102 and more"}}"#, "AB and more"),
        (r"{{printf `%d` 'a'}} {{printf `%d` '\\'}}", "97 92"),
        ("{{/* a comment */}}{{- /* another */ -}} x", "x"),
        ("{{json .list}} {{quote .b}} {{(fromJson `{\"k\": [true]}`).k}}", "[\"1\",\"2\"] \"x\" [true]"),
        ("{{if and (eq .b `x`) (not .a)}}yes{{end}}", "yes"),
        ("{{define `t`}}<{{.}}>{{end}}{{template `t` .b}}", "<x>"),
    ] {
        assert_eq!(rendered(source), wanted, "{source}");
    }
}

#[test]
fn what_is_no_template_is_told_with_its_place() {
    for (source, wanted) in [
        ("ab{{.b", "is no template: line 1, column 7: an action is not closed"),
        ("{{\n  \"open\n}}", "is no template: line 2, column 3: a quote is not closed on its line"),
        ("{{`open}}", "is no template: line 1, column 3: a backquote is not closed"),
        ("{{(.b}}", "is no template: line 1, column 6: a parenthesis is not closed"),
        ("{{.b)}}", "is no template: line 1, column 5: a parenthesis is closed that was not opened"),
        ("{{/* open}}", "is no template: line 1, column 1: a comment is not closed"),
        ("{{/*/}}", "is no template: line 1, column 1: a comment is not closed"),
        (r#"{{print "\q"}}"#, "has an escape that is unknown"),
        ("{{.steps.my-step.output}}", "index .steps \"my-step\""),
        ("{{`long\nand longer` | unknown}}", "line 2, column 15: function unknown not defined"),
        ("{{if .b}}", "unexpected"),
        ("{{end}}", "unexpected"),
        ("{{if .a}}{{else with .b}}{{end}}", "with"),
        ("{{with .a}}{{else if .b}}{{end}}", "if"),
        ("{{$x}}", "undefined variable $x"),
        ("{{.a | 1}}", "non executable"),
        ("{{break}}", "outside"),
        ("{{}}", "missing value"),
    ] {
        let error = error(source);
        assert!(error.starts_with("is no template: ") && error.contains(wanted), "{source}: {error}");
    }
}

#[test]
fn what_would_take_too_much_is_refused() {
    let parens = |count: usize| format!("{{{{{}.a{}}}}}", "(".repeat(count), ")".repeat(count));
    let chain = |count: usize| format!("{{{{if .a}}}}{}{{{{end}}}}", "{{else if .a}}".repeat(count));
    let withs = |count: usize| format!("{{{{with .a}}}}{}{{{{end}}}}", "{{else with .a}}".repeat(count));
    let blocks = |count: usize| format!("{}{}", "{{range .list}}".repeat(count), "{{end}}".repeat(count));
    for make in [&parens as &dyn Fn(usize) -> String, &chain, &withs, &blocks] {
        assert!(parse_all(&make(MAX_NESTING - 1)).is_ok(), "{}", make(1));
        assert!(error(&make(1_000)).contains("inside each other"), "{}", make(1));
    }
    assert!(error(&"x".repeat(MAX_TEMPLATE_BYTES + 1)).contains("bytes"));
    let mut left = 5;
    assert!(Template::parse("{{.a}}", &mut left).is_ok());
    assert_eq!(left, 2);
    assert!(Template::parse("{{.a}}", &mut left).unwrap_err().contains("more tokens"));
}

#[test]
fn what_is_read_is_known_where_it_is_literal() {
    let certain = |all: &[&str]| all.iter().map(|path| ((*path).to_owned(), true)).collect::<Vec<_>>();
    for (source, wanted) in [
        ("text", vec![]),
        ("{{.steps.a.output.x}} {{$.params.q}}", certain(&["steps/a/output/x", "params/q"])),
        ("{{json (index .steps \"a-b\" `output` \"x\")}}", certain(&["steps/a-b/output/x"])),
        ("{{index .steps.a.output \"x\" 0}}", certain(&["steps/a/output/x"])),
        ("{{index $ \"steps\" \"a\"}} {{index . \"steps\"}}", certain(&["steps/a", "steps"])),
        ("{{(fromJson .params.p).steps.a}}", certain(&["params/p"])),
        ("{{$x := .params}}{{$x.steps.a}}", certain(&["params"])),
        ("{{print \".steps.a\" `.steps.b`}}{{/* .steps.c */}}.steps.d", vec![]),
        ("{{if .steps.a}}{{.steps.b}}{{end}}", certain(&["steps/a", "steps/b"])),
    ] {
        assert_eq!(paths(source), wanted, "{source}");
    }
}

#[test]
fn inside_of_blocks_that_bind_it_the_dot_may_be_anything() {
    let source = "{{with .steps.a}}{{.steps.b}}{{$.steps.c}}{{if .x}}{{.y}}{{end}}\
                  {{else with .steps.d}}{{.z}}{{else}}{{.steps.e}}{{end}}{{.steps.f}}";
    let wanted = [
        ("steps/a", true),
        ("steps/b", false),
        ("steps/c", true),
        ("x", false),
        ("y", false),
        ("steps/d", true),
        ("z", false),
        ("steps/e", true),
        ("steps/f", true),
    ];
    assert_eq!(paths(source), wanted.map(|(path, is_certain)| (path.to_owned(), is_certain)));
    let elsewhere = paths("{{define `t`}}{{.steps.a}}{{$.steps.b}}{{end}}{{template `t` .}}");
    assert_eq!(elsewhere, [("steps/a".to_owned(), false), ("steps/b".to_owned(), false)]);
}

/// Pieces that templates are made of.
const PIECES: [&str; 32] = [
    "{{",
    "}}",
    "{{-",
    "-}}",
    " ",
    "\n",
    ".",
    ".a",
    ".steps.b",
    "$",
    "$x",
    ":=",
    "=",
    ",",
    "|",
    "(",
    ")",
    "\"",
    "`",
    "'",
    "\\",
    "\\u26",
    "/*",
    "*/",
    "if",
    "else",
    "with",
    "end",
    "range .",
    "define \"t\"",
    "1.5e+3",
    "ä☺",
];

proptest! {
    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        let _ = parse_all(&text);
        let _ = parse_all(&format!("{{{{{text}}}}}"));
    }

    #[test]
    fn no_mixture_is_too_strange(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..24)) {
        let text = pieces.concat();
        let _ = parse_all(&text);
        let _ = parse_all(&format!("{{{{{text}}}}}"));
        let _ = parse_all(&format!("{{{{with .a}}}}{text}{{{{end}}}}"));
    }

    /// Whatever a string stands for, the parser takes it for that.
    #[test]
    fn every_string_stays_what_it_is(text in any::<String>()) {
        let text = text.replace('\r', "");
        let quoted = strings::quoted(&text);
        let (template, _) = parse_all(&format!("{{{{print {quoted}}}}}")).unwrap();
        prop_assert_eq!(template.parsed().unwrap().render(&Context::empty()).unwrap(), text.clone());
        if !text.contains('`') {
            let (template, _) = parse_all(&format!("{{{{print `{text}`}}}}")).unwrap();
            prop_assert_eq!(template.parsed().unwrap().render(&Context::empty()).unwrap(), text);
        }
    }
}
