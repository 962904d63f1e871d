//! What holds for every definition, however strange.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use thv_api::kinds::VirtualMCPCompositeToolDefinitionSpec;
use thv_compose::{Rule, Workflow};

/// Identifiers of steps, few enough to meet.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![9 => select(&["a", "b", "c", "d", "e-f", "g"][..]).prop_map(str::to_owned), 1 => any::<String>()]
}

/// Templates that mostly make sense.
fn template() -> impl Strategy<Value = String> {
    let read = prop_oneof![
        id().prop_map(|id| format!("{{{{.steps.{id}.output.x}}}}")),
        id().prop_map(|id| format!("{{{{json (index $.steps {id:?} `output`)}}}}")),
        id().prop_map(|id| format!(
            "{{{{with .params.p}}}}{{{{.x}}}}{{{{else with .steps.{id}}}}}{{{{.}}}}{{{{end}}}}"
        )),
        Just("{{.forEach.item}}".to_owned()),
        Just("true".to_owned()),
        Just("[1, 2]".to_owned()),
        any::<String>(),
    ];
    vec(read, 1..3).prop_map(|parts| parts.concat())
}

/// JSON with templates in it.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        template().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z$]{0,4}", inner, 0..4).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    btree_map("[a-z]{1,3}", value(), 0..3).prop_map(|fields| fields.into_iter().collect())
}

fn schema() -> impl Strategy<Value = Value> {
    prop_oneof![3 => Just(json!({"type": "object"})), 1 => object()]
}

/// A field that may be missing.
fn field<S: Strategy<Value = Value>>(
    name: &'static str,
    of: S,
) -> impl Strategy<Value = Option<(String, Value)>> {
    option::of(of).prop_map(move |value| value.map(|value| (name.to_owned(), value)))
}

fn step() -> impl Strategy<Value = Value> {
    let text = || template().prop_map(Value::from);
    let number = || prop_oneof![0..60_i64, any::<i64>()].prop_map(Value::from);
    let handling = (select(&["abort", "continue", "retry"][..]), number());
    let inner =
        (id(), object()).prop_map(|(id, arguments)| json!({"id": id, "tool": "t", "arguments": arguments}));
    let common = (
        select(&["tool", "elicitation", "forEach"][..]),
        id(),
        field("tool", prop_oneof![4 => Just(json!("a.tool")), 1 => text()]),
        field("arguments", object()),
        field("condition", text()),
        field("dependsOn", vec(id(), 0..3).prop_map(Value::from)),
        field("onError", handling.prop_map(|(action, count)| json!({"action": action, "retryCount": count}))),
        field("defaultResults", prop_oneof![4 => Just(json!({"x": 1})), 1 => value()]),
    );
    let special = (
        field("message", text()),
        field("schema", schema()),
        field("collection", text()),
        field("itemVar", id().prop_map(Value::from)),
        field("maxParallel", number()),
        field("maxIterations", number()),
        field("step", prop_oneof![4 => inner, 1 => object()]),
    );
    (common, special).prop_map(|((type_, id, a, b, c, d, e, f), (g, h, i, j, k, l, m))| {
        let fields = [a, b, c, d, e, f, g, h, i, j, k, l, m].into_iter().flatten();
        let mut step: Value = fields.collect::<serde_json::Map<_, _>>().into();
        step["id"] = json!(id);
        step["type"] = json!(type_);
        step
    })
}

fn definition() -> impl Strategy<Value = Value> {
    let property = (template(), option::of(value()));
    let properties = btree_map("[a-z]{1,3}", property, 0..3).prop_map(|properties| {
        let read = properties.into_iter().map(|(name, (template, default))| {
            (name, json!({"type": "string", "description": "d", "value": template, "default": default}))
        });
        json!({"properties": read.collect::<serde_json::Map<_, _>>()})
    });
    (vec(step(), 0..8), field("parameters", schema()), field("output", properties)).prop_map(
        |(steps, parameters, output)| {
            let mut whole: Value =
                [parameters, output].into_iter().flatten().collect::<serde_json::Map<_, _>>().into();
            whole["name"] = json!("tool");
            whole["description"] = json!("What it does");
            whole["steps"] = json!(steps);
            whole
        },
    )
}

/// Steps that call tools, and wait for and read whichever others. The only thing that can be wrong is a cycle.
fn plain() -> impl Strategy<Value = Value> {
    const STEPS: usize = 12;
    let edges = || vec(0..STEPS, 0..2);
    vec((edges(), edges()), 1..=STEPS).prop_map(|steps| {
        let count = steps.len();
        let name = |number: &usize| format!("s{}", number % count);
        let steps = steps.iter().enumerate().map(|(number, (waits, reads))| {
            let waits: Vec<String> = waits.iter().map(name).collect();
            let reads: Vec<String> =
 reads.iter().map(|read| format!("{{{{.steps.{}.output.x}}}}", name(read))).collect();
            json!({"id": name(&number), "tool": "t", "dependsOn": waits, "arguments": {"text": reads.concat()}})
        });
        json!({"name": "tool", "description": "d", "steps": steps.collect::<Vec<_>>()})
    })
}

/// Each step comes once, after those that it depends on and those that it waits for.
fn is_ordered(
    workflow: &Workflow,
    definition: &VirtualMCPCompositeToolDefinitionSpec,
) -> Result<(), TestCaseError> {
    let (steps, order) = (workflow.steps(), workflow.order());
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    prop_assert_eq!(sorted, (0..definition.steps.len()).collect::<Vec<_>>());
    prop_assert_eq!(steps.len(), definition.steps.len());
    let place = |step: usize| order.iter().position(|other| *other == step);
    for (number, step) in steps.iter().enumerate() {
        prop_assert!(step.needs.iter().all(|needed| place(*needed) < place(number)));
        for id in definition.steps[number].depends_on.iter().flatten() {
            prop_assert!(step.needs.iter().any(|needed| steps[*needed].id == *id));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn validation_of_anything_comes_to_an_end_and_tells_no_more_than_it_may(value in definition()) {
        let Ok(definition) = serde_json::from_value(value) else { return Ok(()) };
        match Workflow::new(&definition) {
            Ok(workflow) => is_ordered(&workflow, &definition)?,
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                prop_assert!(errors.iter().all(|error| error.to_string().chars().count() < 1_000));
            }
        }
    }

    #[test]
    fn every_step_comes_after_what_it_waits_for_and_nothing_but_a_cycle_is_refused(value in plain()) {
        let definition = serde_json::from_value(value).unwrap();
        match Workflow::new(&definition) {
            Ok(workflow) => {
                is_ordered(&workflow, &definition)?;
                // What is read is waited for, or it is told why not.
                for (step, own) in workflow.steps().iter().zip(&definition.steps) {
                    let Some(text) = own.arguments.as_ref().and_then(|it| it.0["text"].as_str()) else { continue };
                    let reads = text.split(".steps.").skip(1).filter_map(|rest| rest.split('.').next());
                    for id in reads {
                        let is_needed = step.needs.iter().any(|needed| workflow.steps()[*needed].id == id);
                        let told = format!("reads .steps.{id},");
                        prop_assert!(is_needed || workflow.notes().iter().any(|note| note.message.starts_with(&told)));
                    }
                }
            }
            Err(errors) => prop_assert!(errors.iter().all(|error| error.rule == Rule::Cycle), "{:?}", errors),
        }
    }
}
