//! Definitions compared: everything around the schemas.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::findings::{ABSENT, Findings};
use super::schema::{self, keys};

/// Compares what a definition says about the kind as a whole.
pub(super) fn compare(ours: &Value, theirs: &Value, found: &mut Findings) {
    found.values("metadata.name", ours.pointer("/metadata/name"), theirs.pointer("/metadata/name"));
    let labels = |crd: &'_ Value| crd.pointer("/metadata/labels").cloned();
    let (our_labels, their_labels) = (labels(ours), labels(theirs));
    for key in keys(our_labels.as_ref(), their_labels.as_ref()) {
        let value = |labels: &'_ Option<Value>| labels.as_ref().and_then(|labels| labels.get(key)).cloned();
        found.values(
            &format!("metadata.labels {key}"),
            value(&our_labels).as_ref(),
            value(&their_labels).as_ref(),
        );
    }
    let (ours, theirs) = (ours.get("spec"), theirs.get("spec"));
    for key in keys(ours, theirs) {
        let (our, their) = (ours.and_then(|spec| spec.get(key)), theirs.and_then(|spec| spec.get(key)));
        let default = match key {
            "versions" => continue,
            "names" => {
                names(our, their, found);
                continue;
            }
            "conversion" => json!({ "strategy": "None" }),
            "preserveUnknownFields" => json!(false),
            _ => Value::Null,
        };
        found.values(key, but(our, &default), but(their, &default));
    }
}

/// A value, unless it is what nothing means as well.
fn but<'a>(value: Option<&'a Value>, default: &Value) -> Option<&'a Value> {
    value.filter(|value| *value != default)
}

fn names(ours: Option<&Value>, theirs: Option<&Value>, found: &mut Findings) {
    for key in keys(ours, theirs) {
        let (our, their) = (ours.and_then(|names| names.get(key)), theirs.and_then(|names| names.get(key)));
        let place = format!("names.{key}");
        match key {
            "shortNames" | "categories" => found.sets(&place, our, their),
            _ => found.values(&place, our, their),
        }
    }
}

/// The versions of a definition by name.
pub(super) fn versions(crd: &Value) -> BTreeMap<&str, &Value> {
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    versions.filter_map(|version| Some((version.get("name")?.as_str()?, version))).collect()
}

/// Compares one version of a kind.
pub(super) fn compare_version(ours: Option<&Value>, theirs: Option<&Value>, found: &mut Findings) {
    let (Some(ours), Some(theirs)) = (ours, theirs) else {
        let there = |version: Option<&Value>| if version.is_some() { "version" } else { ABSENT }.to_owned();
        return found.differ("(version)", there(ours), there(theirs));
    };
    for key in keys(Some(ours), Some(theirs)) {
        let (our, their) = (ours.get(key), theirs.get(key));
        match key {
            "schema" => {
                let empty = json!({});
                let root = |schema: Option<&Value>| {
                    schema.and_then(|schema| schema.get("openAPIV3Schema")).unwrap_or(&empty).clone()
                };
                schema::compare("", &root(our), &root(their), found);
            }
            "additionalPrinterColumns" => columns(our, their, found),
            "subresources" => subresources(our, their, found),
            "selectableFields" => found.sets(key, our, their),
            "deprecated" => found.values(key, but(our, &json!(false)), but(their, &json!(false))),
            _ => found.values(key, our, their),
        }
    }
}

fn subresources(ours: Option<&Value>, theirs: Option<&Value>, found: &mut Findings) {
    for key in keys(ours, theirs) {
        let one = |all: Option<&'_ Value>| all.and_then(|all| all.get(key)).cloned();
        found.values(&format!("subresources.{key}"), one(ours).as_ref(), one(theirs).as_ref());
    }
}

/// Columns go by their name. Where they stand is for readers, and a note.
fn columns(ours: Option<&Value>, theirs: Option<&Value>, found: &mut Findings) {
    let (ours, theirs) = (named(ours), named(theirs));
    let names: BTreeSet<&String> = ours.iter().chain(&theirs).map(|(name, _)| name).collect();
    for name in names {
        let one = |columns: &[(String, Value)]| {
            columns.iter().find(|(other, _)| other == name).map(|(_, column)| column.clone())
        };
        let place = format!("column {name}");
        let (Some(ours), Some(theirs)) = (one(&ours), one(&theirs)) else {
            found.values(&place, one(&ours).as_ref(), one(&theirs).as_ref());
            continue;
        };
        for key in keys(Some(&ours), Some(&theirs)).into_iter().filter(|key| *key != "description") {
            let default = if key == "priority" { json!(0) } else { Value::Null };
            let (our, their) = (but(ours.get(key), &default), but(theirs.get(key), &default));
            found.values(&format!("{place} {key}"), our, their);
        }
    }
    let order = |columns: &[(String, Value)], others: &[(String, Value)]| -> Vec<String> {
        let shared =
            columns.iter().map(|(name, _)| name).filter(|name| others.iter().any(|(o, _)| o == *name));
        shared.cloned().collect()
    };
    let (our_order, their_order) = (order(&ours, &theirs), order(&theirs, &ours));
    if our_order != their_order {
        found.note("columns", our_order.join(", "), their_order.join(", "));
    }
}

/// Columns with their names. A second one of the same name gets a number, so that none is lost.
fn named(columns: Option<&Value>) -> Vec<(String, Value)> {
    let mut named: Vec<(String, Value)> = Vec::new();
    for column in columns.and_then(Value::as_array).into_iter().flatten() {
        let name = column.get("name").and_then(Value::as_str).unwrap_or(ABSENT);
        let before = named.iter().filter(|(_, other)| other.get("name") == column.get("name")).count();
        let name = if before == 0 { name.to_owned() } else { format!("{name} ({})", before + 1) };
        named.push((name, column.clone()));
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crd() -> Value {
        json!({
            "metadata": { "name": "things.example.org", "labels": { "l": "1" }, "annotations": { "made-by": "us" } },
            "spec": {
                "group": "example.org", "scope": "Namespaced",
                "names": { "kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing",
                    "shortNames": ["th", "tg"], "categories": ["all", "ours"] },
            },
        })
    }

    fn version() -> Value {
        json!({
            "name": "v1", "served": true, "storage": true, "deprecated": true, "deprecationWarning": "old",
            "schema": { "openAPIV3Schema": { "type": "object", "description": "ours" } },
            "subresources": { "status": {}, "scale": { "specReplicasPath": ".spec.replicas" } },
            "additionalPrinterColumns": [
                { "name": "A", "type": "string", "jsonPath": ".a", "priority": 1, "format": "byte" },
                { "name": "B", "type": "date", "jsonPath": ".b", "priority": 0, "description": "ours" },
            ],
        })
    }

    /// What is found when one place of `value` is changed to `to`, or taken away if that is null.
    fn changed(
        value: &Value,
        pointer: &str,
        to: Value,
        compare: fn(&Value, &Value, &mut Findings),
    ) -> Vec<String> {
        let mut theirs = value.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match theirs.pointer_mut(parent).unwrap() {
            Value::Object(fields) if to.is_null() => drop(fields.remove(key)),
            Value::Object(fields) => drop(fields.insert(key.to_owned(), to)),
            Value::Array(items) => drop(items.remove(key.parse().unwrap())),
            _ => panic!("{pointer}"),
        }
        let mut found = Findings::default();
        compare(value, &theirs, &mut found);
        found.differences()
    }

    #[test]
    fn everything_about_a_kind_is_compared() {
        for (pointer, to, expected) in [
            ("/metadata/name", json!("x"), r#"metadata.name: "things.example.org" / "x""#),
            ("/metadata/labels/l", json!("2"), r#"metadata.labels l: "1" / "2""#),
            ("/spec/group", json!("x"), r#"group: "example.org" / "x""#),
            ("/spec/scope", json!("Cluster"), r#"scope: "Namespaced" / "Cluster""#),
            (
                "/spec/conversion",
                json!({ "strategy": "Webhook" }),
                r#"conversion: – / {"strategy":"Webhook"}"#,
            ),
            ("/spec/names/kind", json!("X"), r#"names.kind: "Thing" / "X""#),
            ("/spec/names/listKind", Value::Null, r#"names.listKind: "ThingList" / –"#),
            ("/spec/names/plural", json!("x"), r#"names.plural: "things" / "x""#),
            ("/spec/names/singular", json!("x"), r#"names.singular: "thing" / "x""#),
            ("/spec/names/shortNames/1", Value::Null, r#"names.shortNames: "tg" / –"#),
            ("/spec/names/categories/0", Value::Null, r#"names.categories: "all" / –"#),
        ] {
            assert_eq!(changed(&crd(), pointer, to, compare), [expected]);
        }
    }

    #[test]
    fn what_means_nothing_is_ignored() {
        for (pointer, to) in [
            ("/metadata/annotations", Value::Null),
            ("/spec/names/shortNames", json!(["tg", "th"])),
            ("/spec/conversion", json!({ "strategy": "None" })),
            ("/spec/preserveUnknownFields", json!(false)),
        ] {
            assert_eq!(changed(&crd(), pointer, to, compare), Vec::<String>::new(), "{pointer}");
        }
    }

    #[test]
    fn everything_about_a_version_is_compared() {
        let compare = |ours: &Value, theirs: &Value, found: &mut Findings| {
            compare_version(Some(ours), Some(theirs), found);
        };
        for (pointer, to, expected) in [
            ("/served", json!(false), "served: true / false"),
            ("/storage", json!(false), "storage: true / false"),
            ("/deprecated", json!(false), "deprecated: true / –"),
            ("/deprecationWarning", json!("x"), r#"deprecationWarning: "old" / "x""#),
            ("/schema/openAPIV3Schema/type", json!("array"), r#"type: "object" / "array""#),
            ("/subresources/status", Value::Null, "subresources.status: {} / –"),
            (
                "/subresources/scale",
                json!({}),
                r#"subresources.scale: {"specReplicasPath":".spec.replicas"} / {}"#,
            ),
            ("/additionalPrinterColumns/0/type", json!("x"), r#"column A type: "string" / "x""#),
            ("/additionalPrinterColumns/0/jsonPath", json!("x"), r#"column A jsonPath: ".a" / "x""#),
            ("/additionalPrinterColumns/0/priority", json!(0), "column A priority: 1 / –"),
            ("/additionalPrinterColumns/0/format", Value::Null, r#"column A format: "byte" / –"#),
        ] {
            assert_eq!(changed(&version(), pointer, to, compare), [expected]);
        }
        for (pointer, to) in [
            ("/additionalPrinterColumns/1/priority", Value::Null),
            ("/additionalPrinterColumns/1/description", Value::Null),
            ("/schema/openAPIV3Schema/description", json!("theirs")),
        ] {
            assert_eq!(changed(&version(), pointer, to, compare), Vec::<String>::new(), "{pointer}");
        }
        let gone = changed(&version(), "/additionalPrinterColumns/1", Value::Null, compare);
        assert!(gone.len() == 1 && gone[0].starts_with("column B: {"), "{gone:?}");
    }

    #[test]
    fn the_order_of_columns_is_a_note() {
        let (ours, mut theirs) = (version(), version());
        theirs["additionalPrinterColumns"].as_array_mut().unwrap().reverse();
        let mut found = Findings::default();
        compare_version(Some(&ours), Some(&theirs), &mut found);
        assert_eq!((found.differences().len(), found.notes[0].line().as_str()), (0, "columns: A, B / B, A"));
    }
}
