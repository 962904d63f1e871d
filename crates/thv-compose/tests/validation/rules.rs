//! The rules over definitions, each broken alone.

use serde_json::{Value, json};
use thv_api::kinds::VirtualMCPCompositeToolDefinitionSpec;
use thv_compose::{Action, Invalid, OnError, OutputValue, Rule, Workflow};

fn definition(value: Value) -> VirtualMCPCompositeToolDefinitionSpec {
    serde_json::from_value(value).unwrap()
}

/// A definition that has everything, and with which nothing is wrong.
fn whole() -> Value {
    json!({
        "name": "triage",
        "description": "Looks an issue up, asks, and tells people",
        "parameters": {
            "type": "object",
            "properties": {"repo": {"type": "string"}, "notify": {"type": "boolean"}},
            "required": ["repo"],
        },
        "timeout": "2m",
        "steps": [
            {"id": "issue", "tool": "github_get_issue", "arguments": {"repo": "{{.params.repo}}", "deep": [{"n": 1}]},
             "onError": {"action": "retry", "retryCount": 2, "retryDelay": "500ms"}},
            {"id": "owners", "tool": "github.list_owners", "arguments": {"repo": "{{.params.repo}}"},
             "onError": {"action": "continue"}, "defaultResults": {"owners": []}},
            {"id": "confirm", "type": "elicitation", "message": "Comment on {{.steps.issue.output.title}}?",
             "schema": {"type": "object", "properties": {"comment": {"type": "string"}}},
             "timeout": "20s", "onDecline": {"action": "skip_remaining"}},
            {"id": "tell", "type": "forEach", "dependsOn": ["confirm"], "condition": "{{.params.notify}}",
             "collection": "{{json .steps.owners.output.owners}}", "itemVar": "who", "maxParallel": 3,
             "defaultResults": {"count": 0},
             "step": {"id": "dm", "tool": "slack_send",
                      "arguments": {"user": "{{.forEach.who}}", "n": "{{.forEach.index}}"}}},
        ],
        "output": {
            "properties": {
                "title": {"type": "string", "description": "Its title", "value": "{{.steps.issue.output.title}}"},
                "told": {"type": "object", "description": "Who was told", "properties": {
                    "count": {"type": "integer", "description": "How many", "default": "0",
                              "value": "{{.steps.tell.output.count}}"},
                }},
            },
            "required": ["title"],
        },
        "annotations": {"readOnlyHint": false},
    })
}

/// The whole definition with something else at a place.
fn with(pointer: &str, value: Value) -> Value {
    let mut whole = whole();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    match whole.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[field.parse::<usize>().unwrap()] = value,
        parent => drop(parent.as_object_mut().unwrap().insert(field.to_owned(), value)),
    }
    whole
}

fn errors(value: Value) -> Vec<Invalid> {
    Workflow::new(&definition(value)).err().unwrap_or_default()
}

fn notes(value: Value) -> Vec<String> {
    Workflow::new(&definition(value)).unwrap().notes().iter().map(ToString::to_string).collect()
}

#[test]
fn a_valid_definition_becomes_what_is_executed() {
    let workflow = Workflow::new(&definition(whole())).unwrap();
    assert_eq!(workflow.notes(), []);
    let needs: Vec<_> = workflow.steps().iter().map(|step| (step.id.as_str(), step.needs.clone())).collect();
    let wanted = [("issue", vec![]), ("owners", vec![]), ("confirm", vec![0]), ("tell", vec![1, 2])];
    assert_eq!(needs, wanted);
    assert_eq!(workflow.order(), [0, 1, 2, 3]);
    assert_eq!(workflow.timeout().as_secs(), 120);
    let [issue, owners, confirm, tell] = workflow.steps() else { panic!("there are four") };
    assert!(matches!(issue.on_error, OnError::Retry { count: 2, delay } if delay.as_millis() == 500));
    assert_eq!(owners.default_results, json!({"owners": []}).as_object().cloned());
    assert_eq!((confirm.timeout.as_secs(), tell.timeout.as_secs()), (20, 300));
    let Action::ForEach(each) = &tell.action else { panic!("it is a forEach") };
    assert_eq!((each.item_var.as_str(), each.max_parallel, each.max_iterations), ("who", 3, 100));
    let output = workflow.output().unwrap();
    assert!(matches!(&output.fields[1].value, OutputValue::Fields(fields) if fields[0].name == "count"));
}

#[test]
fn every_rule_is_told_with_its_path() {
    use Rule::{Cycle, Definition, Schema, Template};
    let tool = json!({"id": "issue"});
    for (pointer, value, rule, path) in [
        ("/name", json!(""), Definition, "name"),
        ("/description", json!(""), Definition, "description"),
        ("/timeout", json!("-1s"), Definition, "timeout"),
        ("/parameters", json!({"type": "array"}), Schema, "parameters.type"),
        ("/parameters/properties", json!([]), Schema, "parameters.properties"),
        ("/parameters/required", json!("repo"), Schema, "parameters.required"),
        ("/steps/0", tool, Definition, "steps[0].tool"),
        ("/steps/0/tool", json!("-search"), Definition, "steps[0].tool"),
        ("/steps/0/tool", json!("search all"), Definition, "steps[0].tool"),
        ("/steps/0/timeout", json!("-1s"), Definition, "steps[0].timeout"),
        ("/steps/3/condition", json!("{{"), Template, "steps[3].condition"),
        ("/steps/3/condition", json!("perhaps"), Definition, "steps[3].condition"),
        ("/steps/0/arguments", json!({"repo": "{{nothing}}"}), Template, "steps[0].arguments.repo"),
        ("/steps/0/arguments/deep", json!([{"n": "{{"}]), Template, "steps[0].arguments.deep[0].n"),
        ("/steps/0/onError/retryCount", json!(0), Definition, "steps[0].onError.retryCount"),
        ("/steps/0/onError/retryDelay", json!("-1s"), Definition, "steps[0].onError.retryDelay"),
        ("/steps/1/defaultResults", json!(["owners"]), Definition, "steps[1].defaultResults"),
        ("/steps/2/message", json!(""), Definition, "steps[2].message"),
        ("/steps/2/message", json!("{{.steps.issue"), Template, "steps[2].message"),
        ("/steps/2/schema", json!({"type": "text"}), Schema, "steps[2].schema.type"),
        ("/steps/2/dependsOn", json!(["nobody"]), Definition, "steps[2].dependsOn[0]"),
        ("/steps/2/dependsOn", json!(["confirm"]), Cycle, "steps[2].dependsOn[0]"),
        ("/steps/3/tool", json!("slack"), Definition, "steps[3].tool"),
        ("/steps/3/message", json!("Hello"), Definition, "steps[3].message"),
        ("/steps/3/collection", json!(""), Definition, "steps[3].collection"),
        ("/steps/3/collection", json!("{{"), Template, "steps[3].collection"),
        ("/steps/3/collection", json!("one, two"), Definition, "steps[3].collection"),
        ("/steps/3/maxParallel", json!(51), Definition, "steps[3].maxParallel"),
        ("/steps/3/maxIterations", json!(-1), Definition, "steps[3].maxIterations"),
        ("/steps/3/step/type", json!("elicitation"), Definition, "steps[3].step.type"),
        ("/steps/3/step/type", json!("other"), Definition, "steps[3].step.type"),
        ("/steps/3/step/tool", json!(""), Definition, "steps[3].step.tool"),
        ("/steps/3/step", json!({"tool": "slack"}), Definition, "steps[3].step"),
        ("/steps/3/step/arguments/user", json!("{{"), Template, "steps[3].step.arguments.user"),
        (
            "/output/properties/title/description",
            json!(""),
            Definition,
            "output.properties.title.description",
        ),
        ("/output/properties/title/value", json!(""), Definition, "output.properties.title"),
        ("/output/properties/title/value", json!("{{"), Template, "output.properties.title.value"),
        ("/output/properties/title/properties", json!({"a": {}}), Definition, "output.properties.title"),
        ("/output/properties/told/type", json!("string"), Definition, "output.properties.told.type"),
        (
            "/output/properties/told/properties/count/type",
            json!("text"),
            Definition,
            "output.properties.told.properties.count.type",
        ),
        ("/output/required", json!(["other"]), Definition, "output.required[0]"),
    ] {
        let found: Vec<_> =
            errors(with(pointer, value.clone())).into_iter().map(|it| (it.rule, it.path)).collect();
        assert_eq!(found, [(rule, path.to_owned())], "{pointer} {value}");
    }
    // Others read what is missing then, which is told as well.
    for (pointer, value, path) in [
        ("/steps", json!([]), "steps"),
        ("/steps/0/id", json!(""), "steps[0].id"),
        ("/steps/1/id", json!("issue"), "steps[1].id"),
    ] {
        let found = errors(with(pointer, value));
        assert!(found.iter().any(|it| it.rule == Definition && it.path == path), "{pointer}: {found:?}");
    }
    for field in ["message", "schema"] {
        let mut definition = whole();
        definition["steps"][2].as_object_mut().unwrap().remove(field);
        assert_eq!(errors(definition)[0].path, format!("steps[2].{field}"));
    }
}

#[test]
fn what_templates_read_has_to_be_there() {
    for (pointer, template, says) in [
        ("/steps/0/arguments/repo", "{{.steps.nobody.output.x}}", "there is no such step"),
        ("/steps/2/message", "{{index .steps \"no-body\"}}", "there is no such step"),
        ("/steps/2/message", "{{.steps.issue.result}}", "status, output, content and error"),
        ("/steps/2/message", "{{.input.repo}}", "there are .params, .steps and .workflow"),
        ("/steps/2/message", "{{.forEach.who}}", "only the step of a forEach"),
        ("/steps/3/step/arguments/user", "{{.forEach.item}}", "there are who and index"),
        ("/output/properties/title/value", "{{.steps.dm.output}}", "there is no such step"),
    ] {
        let found = errors(with(pointer, json!(template)));
        assert_eq!(found.len(), 1, "{template}: {found:?}");
        assert_eq!(found[0].rule, Rule::Template);
        assert!(found[0].message.contains(says), "{template}: {found:?}");
    }
    let fine = "{{with .params}}{{.anything}}{{.steps.x}}{{end}}{{.workflow.id}}{{.vars.x}}";
    assert_eq!(errors(with("/steps/2/message", json!(fine))), []);
}

#[test]
fn a_step_that_may_be_skipped_has_defaults_for_what_others_read_of_it() {
    let message =
        json!("{{.steps.owners.output.count}} {{.steps.owners.output.owners}} {{.steps.owners.status}}");
    let found = errors(with("/steps/2/message", message));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "steps[1].defaultResults");
    assert!(found[0].message.contains("has no \"count\", which steps[2].message reads"), "{found:?}");

    // ToolHive does not look at these.
    let told = notes(with("/steps/3/collection", json!("{{json .steps.owners.output.names}}")));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].starts_with("steps[1].defaultResults: has no \"names\", which steps[3].collection"),
        "{told:?}"
    );
}

#[test]
fn steps_that_wait_for_each_other_are_told_with_the_way_around() {
    let mut definition = whole();
    definition["steps"][0]["dependsOn"] = json!(["tell"]);
    definition["steps"][2]["dependsOn"] = json!(["issue"]);
    let found = errors(definition);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].rule, found[0].path.as_str()), (Rule::Cycle, "steps[3].dependsOn[0]"));
    assert!(found[0].message.ends_with("tell → confirm → issue → tell"), "{found:?}");
}

#[test]
fn a_template_that_reads_what_waits_for_it_does_not_wait_and_that_is_told() {
    let definition = with(
        "/steps/0/arguments/repo",
        json!("{{.steps.confirm.output.content.repo}}{{.steps.issue.status}}"),
    );
    let workflow = Workflow::new(&self::definition(definition)).unwrap();
    // The first that is read is waited for.
    assert_eq!((workflow.steps()[0].needs.clone(), workflow.steps()[2].needs.clone()), (vec![2], vec![]));
    assert_eq!(workflow.order(), [1, 2, 0, 3]);
    let told: Vec<_> = workflow.notes().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("steps[0].arguments.repo: reads .steps.issue"), "{told:?}");
    assert!(told[1].starts_with("steps[2].message: reads .steps.issue"), "{told:?}");

    // What is declared comes first.
    let mut declared = with("/steps/0/arguments/repo", json!("{{.steps.confirm.output.content.repo}}"));
    declared["steps"][2]["dependsOn"] = json!(["issue"]);
    let workflow = Workflow::new(&self::definition(declared)).unwrap();
    assert_eq!(workflow.order(), [0, 1, 2, 3]);
    assert!(workflow.notes()[0].to_string().starts_with("steps[0].arguments.repo: reads .steps.confirm"));
}

#[test]
fn what_has_no_effect_is_told() {
    for (pointer, value, path) in [
        ("/steps/0/message", json!("Hello"), "steps[0].message"),
        ("/steps/0/itemVar", json!("x"), "steps[0].itemVar"),
        ("/steps/2/tool", json!("slack"), "steps[2].tool"),
        ("/steps/2/timeout", json!("11m"), "steps[2].timeout"),
        ("/steps/0/onError/retryCount", json!(11), "steps[0].onError.retryCount"),
        ("/steps/3/onError", json!({"action": "retry", "retryCount": 1}), "steps[3].onError"),
        ("/steps/3/step/condition", json!("true"), "steps[3].step.condition"),
        ("/steps/3/step/anything", json!("goes"), "steps[3].step.anything"),
        (
            "/output/properties/told/properties/count/default",
            json!("many"),
            "output.properties.told.properties.count.default",
        ),
        ("/name", json!("n".repeat(65)), "name"),
    ] {
        let told = notes(with(pointer, value));
        assert_eq!(told.len(), 1, "{pointer}: {told:?}");
        assert!(told[0].starts_with(&format!("{path}: ")), "{pointer}: {told:?}");
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let mut definition = whole();
    definition["name"] = json!("");
    definition["steps"][0]["arguments"]["repo"] = json!("{{");
    definition["steps"][2]["dependsOn"] = json!(["nobody"]);
    definition["output"]["required"] = json!(["other"]);
    let paths: Vec<_> = errors(definition).into_iter().map(|error| error.path).collect();
    assert_eq!(paths, ["name", "steps[0].arguments.repo", "output.required[0]", "steps[2].dependsOn[0]"]);
}

#[test]
fn more_than_there_may_be_is_refused() {
    let step = |number: usize| json!({"id": format!("s{number}"), "tool": "t"});
    let many = |count: usize| with("/steps", (0..count).map(step).collect());
    let mut hundred = many(100);
    hundred.as_object_mut().unwrap().remove("output");
    assert_eq!(errors(hundred), []);
    assert_eq!(errors(many(101))[0].path, "steps");

    let mut deep = json!("x");
    for _ in 0..101 {
        deep = json!([deep]);
    }
    assert_eq!(errors(with("/steps/0/arguments/deep", deep))[0].path, "steps[0].arguments");
    let mut schema = json!({"type": "string"});
    for _ in 0..11 {
        schema = json!({"not": schema});
    }
    assert_eq!(errors(with("/steps/2/schema", schema))[0].path, "steps[2].schema");
    let wide = json!({"type": "object", "description": "x".repeat(100 * 1024)});
    assert_eq!(errors(with("/steps/2/schema", wide))[0].path, "steps[2].schema");
    let mut properties = json!({"type": "string", "description": "d", "value": "v"});
    for _ in 0..10 {
        properties = json!({"type": "object", "description": "d", "properties": {"p": properties}});
    }
    let found = errors(with("/output/properties/told", properties));
    assert!(found[0].message.contains("deeper than 10 levels"), "{found:?}");
    let tokens = "{{.params.repo}}".repeat(4_000);
    let arguments: Value =
        (0..5).map(|n| (format!("a{n}"), json!(tokens))).collect::<serde_json::Map<_, _>>().into();
    let found = errors(with("/steps/0/arguments", arguments));
    assert!(found[0].message.contains("more tokens"), "{found:?}");
}
