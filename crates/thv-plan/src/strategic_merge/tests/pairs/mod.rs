//! Documents and patches for them, built along the table of types.
//!
//! A document and its patch are built together, so that they have much in common: a patch for something else
//! tests nothing. Now and then something is wrong with either of them.

mod lists;
mod settled;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::Schema;
use super::super::schema::{Field, Shape};
use super::choices::Choices;

type Object = Map<String, Value>;

/// A document and its patch.
pub(super) struct Pair {
    pub(super) schema: Schema,
    pub(super) original: Value,
    pub(super) patch: Value,
}

/// A value before and in the patch. Either may be absent.
type Both = (Option<Value>, Option<Value>);

/// The types of documents, the first ones as often as all the others.
const ROOTS: &[&str] =
    &["PodTemplateSpec", "PodSpec", "Container", "ObjectMeta", "Deployment", "StatefulSet"];
const OTHER_ROOTS: &[&str] = &[
    "Affinity",
    "CronJob",
    "DeploymentSpec",
    "EnvVar",
    "Pod",
    "PodStatus",
    "Probe",
    "SecurityContext",
    "Volume",
];

/// Fields that people patch, chosen more often than others.
const FAVOURITES: &[&str] = &[
    "add",
    "affinity",
    "annotations",
    "args",
    "capabilities",
    "conditions",
    "configMap",
    "containers",
    "drop",
    "env",
    "envFrom",
    "ephemeralContainers",
    "finalizers",
    "hostAliases",
    "hostnames",
    "httpGet",
    "httpHeaders",
    "imagePullSecrets",
    "initContainers",
    "items",
    "labels",
    "limits",
    "livenessProbe",
    "metadata",
    "nodeAffinity",
    "nodeSelector",
    "ownerReferences",
    "ports",
    "preferredDuringSchedulingIgnoredDuringExecution",
    "resourceClaims",
    "resources",
    "secretKeyRef",
    "securityContext",
    "spec",
    "strategy",
    "template",
    "tolerations",
    "topologySpreadConstraints",
    "valueFrom",
    "volumeClaimTemplates",
    "volumeMounts",
    "volumes",
];

/// Objects are nested no deeper than this; then scalars take their place.
const DEPTH: usize = 9;

pub(super) fn pair(choices: &mut Choices) -> Pair {
    let roots = if choices.chance(50) { OTHER_ROOTS } else { ROOTS };
    let schema = Schema::named(choices.one_of(roots)).unwrap();
    let (mut original, mut patch) = objects(choices, schema, DEPTH);
    settled::original(&mut original);
    settled::patch(&mut patch);
    let mut pair = Pair { schema, original: Value::Object(original), patch: Value::Object(patch) };
    if choices.chance(1) {
        pair.original = junk(choices);
    }
    if choices.chance(1) {
        pair.patch = junk(choices);
    }
    pair
}

/// Two objects of a type.
fn objects(choices: &mut Choices, schema: Schema, depth: usize) -> (Object, Object) {
    let (mut original, mut patch) = (Object::new(), Object::new());
    let mut chosen = BTreeSet::new();
    for _ in 0..=choices.below(4) {
        let Some(field) = choose_field(choices, schema) else {
            break;
        };
        if !chosen.insert(field.name) {
            continue;
        }
        let (before, change) = field_values(choices, field, depth);
        let mut name = field.name.to_owned();
        if choices.chance(2) {
            name = name.to_uppercase();
        }
        original.extend(before.map(|value| (name.clone(), value)));
        patch.extend(change.map(|value| (name.clone(), value)));
        add_list_directives(choices, field, &name, &original, &mut patch);
    }
    if choices.chance(10) {
        original.insert("xNew".to_owned(), junk(choices));
    }
    if choices.chance(10) {
        patch.insert("xNew".to_owned(), junk(choices));
    }
    add_object_directives(choices, &original, &mut patch);
    (original, patch)
}

fn choose_field(choices: &mut Choices, schema: Schema) -> Option<Field> {
    let fields: Vec<_> = schema.fields().collect();
    let favourites: Vec<_> =
        fields.iter().copied().filter(|field| FAVOURITES.contains(&field.name)).collect();
    let chosen = if favourites.is_empty() || choices.chance(30) { fields } else { favourites };
    (!chosen.is_empty()).then(|| choices.one_of(&chosen))
}

fn field_values(choices: &mut Choices, field: Field, depth: usize) -> Both {
    let (mut before, mut change) = match field.shape {
        Shape::List(strategy) => lists::lists(choices, strategy, field.holds, depth),
        _ if depth > 0 && field.holds.fields().next().is_some() => {
            let (before, change) = objects(choices, field.holds, depth - 1);
            (Some(Value::Object(before)), Some(Value::Object(change)))
        }
        _ => plain(choices),
    };
    match choices.below(100) {
        0..60 => {}
        60..75 => change = None,
        75..90 => before = None,
        90..97 => change = Some(Value::Null),
        97 => before = Some(Value::Null),
        98 => before = Some(junk(choices)),
        _ => change = Some(junk(choices)),
    }
    (before, change)
}

/// Two values of a field that holds no object with known fields: scalars, or maps such as `nodeSelector`.
fn plain(choices: &mut Choices) -> Both {
    match choices.below(6) {
        0 => (Some(json!(lists::word(choices))), Some(json!(lists::word(choices)))),
        1 => (Some(json!(choices.below(3))), Some(json!(choices.below(3)))),
        2 => (Some(json!(choices.chance(50))), Some(json!(choices.chance(50)))),
        3 => (Some(junk(choices)), Some(junk(choices))),
        _ => {
            let (before, mut change) = (map(choices), map(choices));
            for value in change.values_mut() {
                if choices.chance(25) {
                    *value = Value::Null;
                }
            }
            add_object_directives(choices, &before, &mut change);
            (Some(Value::Object(before)), Some(Value::Object(change)))
        }
    }
}

fn map(choices: &mut Choices) -> Object {
    let names = choices.some_of(lists::WORDS, 4);
    names.into_iter().map(|name| (name.to_owned(), json!(lists::word(choices)))).collect()
}

/// Something that need not belong where it is.
fn junk(choices: &mut Choices) -> Value {
    let directive =
        json!({ "a": null, "b": { "$patch": "delete" }, "c": [{ "$patch": "replace", "d": 1 }, null] });
    let options = [
        Value::Null,
        json!("a"),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(u64::MAX),
        json!(true),
        json!([]),
        json!({}),
        json!(["a", "b"]),
        json!([1, "a"]),
        json!([null, 1]),
        json!([[1]]),
        json!({ "a": "b" }),
        json!({ "a": { "b": { "c": 1 } } }),
        json!([{ "name": "a" }, { "name": "b", "value": null }]),
        directive,
    ];
    options[choices.below(options.len())].clone()
}

fn add_object_directives(choices: &mut Choices, original: &Object, patch: &mut Object) {
    if choices.chance(3) {
        let directives = [json!("replace"), json!("delete"), json!("merge"), json!("other"), json!(1)];
        patch.insert("$patch".to_owned(), directives[choices.below(directives.len())].clone());
    }
    if choices.chance(6) {
        let mut kept: Vec<_> = patch.keys().map(|name| json!(name)).collect();
        kept.extend(original.keys().filter(|_| choices.chance(50)).map(|name| json!(name)));
        if choices.chance(15) {
            kept.pop();
        }
        if choices.chance(5) {
            kept.push(junk(choices));
        }
        let kept = if choices.chance(3) { junk(choices) } else { Value::Array(kept) };
        patch.insert("$retainKeys".to_owned(), kept);
    }
}

fn add_list_directives(
    choices: &mut Choices,
    field: Field,
    name: &str,
    original: &Object,
    patch: &mut Object,
) {
    let Shape::List(strategy) = field.shape else {
        if choices.chance(1) {
            patch.insert(format!("{}{name}", settled::DELETIONS), junk(choices));
        }
        return;
    };
    if choices.chance(25) {
        let order = lists::order(choices, strategy, original.get(name), patch.get(name));
        patch.insert(format!("$setElementOrder/{name}"), order);
    }
    let scalars = field.holds.fields().next().is_none();
    if choices.chance(if scalars { 30 } else { 2 }) {
        let deletions =
            if choices.chance(5) { junk(choices) } else { json!(choices.some_of(lists::WORDS, 4)) };
        patch.insert(format!("{}{name}", settled::DELETIONS), deletions);
    }
}
