//! Texts of policies.

use thv_policy::cedar::is_type_name;

use crate::support::{ANY, check, errors};

#[test]
fn policies_of_every_form_are_accepted() {
    let policies = [
        ANY,
        "forbid(principal, action, resource);",
        "// who\npermit(principal == Client::\"a\", action == Action::\"call_tool\", resource == Tool::\"weather\",);\n// end",
        "permit(principal in THVGroup::\"a;b\", action in [Action::\"get_prompt\", Action::\"read_resource\"], resource);",
        "@id(\"x\") permit(principal is Client, action, resource in MCP::\"web\") when { principal has claim_email.domain };",
        "permit(principal, action, resource) when { context.claim_roles.contains(\"a\") } unless { resource.arg_n.lessThan(decimal(\"1.5\")) };",
        "permit(principal, action, resource) when { ip(context.arg_ip).isInRange(ip(\"10.0.0.0/8\")) && datetime(\"2026-01-01\") < context.t };",
        "permit(principal, action, resource) when { if resource has readOnlyHint then resource.readOnlyHint else false };",
        "permit(principal, action, resource) when { context[\"claim_a b\"] like \"x*\\u{e9}\" };",
    ];
    let found = check(&policies);
    assert_eq!((errors(&found), found.notes), (vec![], vec![]));
}

#[test]
fn what_is_wrong_is_told_where_it_is_with_advice() {
    let cases = [
        (
            "permitt(principal, action, resource);",
            "line 1, column 1: invalid policy effect: permitt: effect must be",
        ),
        (
            "permit(principal, action, resource)",
            "line 1, column 36: unexpected end of input: expected `;` or identifier",
        ),
        (
            "permit(principal,\n  action resource);",
            "line 2, column 10: unexpected token `resource`: expected",
        ),
        ("permit(principal, action, resource)\nwhen { é };", "line 2, column 8: invalid token"),
        (
            "permit(principal, action, resource) when { \"é\" = 1 };",
            "line 1, column 44: '=' is not a valid operator",
        ),
        (
            "permit(principal, action, resource) when { context.a.foo() };",
            "line 1, column 44: `foo` is not a valid method",
        ),
        ("permit(principal, action);", "line 1, column 25: this policy is missing the `resource` variable"),
        (
            "permit(principal, action, resource) when { 'a' };",
            "column 44: invalid token: strings must use double quotes",
        ),
        ("p", "line 1, column 2: unexpected end of input"),
    ];
    for (text, expected) in cases {
        let found = check(&[ANY, text]);
        assert!(errors(&found)[0].contains(expected), "{text}: {:?}", errors(&found));
        assert!(errors(&found)[0].starts_with("policies[1]: "), "{:?}", errors(&found));
    }
}

#[test]
fn every_text_is_looked_at_and_so_is_every_clause() {
    let two = "permit(principal, action, resource) when { 1 + } unless { context.2 };";
    let found = check(&["nonsense", ANY, two]);
    let places: Vec<_> =
        errors(&found).iter().map(|error| error.split(": ").take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        places,
        ["policies[0] line 1, column 9", "policies[2] line 1, column 48", "policies[2] line 1, column 67"]
    );
}

#[test]
fn a_text_with_nothing_in_it_is_refused() {
    for text in ["", " \n", "// permit(principal, action, resource);"] {
        assert_eq!(errors(&check(&[text])), ["policies[0]: is empty: write a policy, or remove the entry"]);
    }
}

#[test]
fn a_text_with_two_policies_is_refused_where_the_second_begins() {
    let second = "a second policy begins here: give each policy an entry of its own";
    let text = format!("{ANY} // and\n  forbid(principal, action, resource);");
    assert_eq!(errors(&check(&[&text])), [format!("policies[0]: line 2, column 3: {second}")]);
    let both = errors(&check(&[&format!("permit(); {ANY}")]));
    assert!(both.len() > 1 && both.last().unwrap().ends_with(second), "{both:?}");
}

#[test]
fn a_template_is_refused() {
    let found = check(&["permit(principal == ?principal, action, resource);"]);
    assert!(
        errors(&found)[0].contains("column 21: expected a static policy, got a template"),
        "{:?}",
        errors(&found)
    );
    assert!(!check(&["permit(principal, action, resource) when { ?resource };"]).errors.is_empty());
}

#[test]
fn actions_that_no_request_has_are_noted() {
    let notes = |text: &str| {
        let found = check(&[ANY, text]);
        assert_eq!(errors(&found), Vec::<String>::new());
        found.notes.iter().map(|note| format!("{}: {note}", note.part)).collect::<Vec<_>>()
    };
    let scope = |actions: &str| format!("permit(principal, action {actions}, resource);");
    assert!(
        notes(&scope("in [Action::\"call_tool\", Action::\"get_prompt\", Action::\"read_resource\"]"))
            .is_empty()
    );
    assert_eq!(
        notes(&scope("== Action::\"delete_tool\"")),
        [
            "policies[1]: no request has the action Action::\"delete_tool\": use call_tool, get_prompt, read_resource"
        ]
    );
    assert!(notes(&scope("== MCP::Action::\"call_tool\""))[0].contains("MCP::Action"));
    let both = notes(&scope("in [Action::\"list_tools\", Action::\"b\", Action::\"b\"]"));
    assert_eq!(both.len(), 2);
    assert!(both[0].contains("Action::\"list_tools\" decides nothing"), "{both:?}");
    let condition = "permit(principal, action, resource) when { action == Action::\"x\" || principal == Client::\"Action\" };";
    assert_eq!(notes(condition).len(), 1);
}

#[test]
fn messages_are_bounded_and_have_one_line() {
    let long = "x".repeat(100_000);
    let wrong = format!("permit(principal, action, resource) when {{ {long} }};");
    let found = check(&vec![wrong.as_str(); 200]);
    assert_eq!(found.errors.len(), 51);
    assert_eq!(found.errors[50].to_string(), "there may be more: mend these first");
    let spread = "permit(principal, action, resource) when { principal is \"a\nb\" };";
    let unknown = format!("permit(principal, action == Action::\"{long}\", resource);");
    for found in [found, check(&[spread]), check(&[&unknown])] {
        for one in found.errors.iter().chain(&found.notes) {
            let text = one.to_string();
            assert!(text.chars().count() < 400 && !text.contains('\n'), "{text}");
        }
    }
}

#[test]
fn a_keyword_is_not_the_name_of_a_type() {
    for name in ["THVGroup", "_a", "A::B"] {
        assert!(is_type_name(name), "{name}");
    }
    for name in ["", "in", "if", "1a", "a b", "a-b", "__cedar", "A::", " A"] {
        assert!(!is_type_name(name), "{name}");
    }
}
