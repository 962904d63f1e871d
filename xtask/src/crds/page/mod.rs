//! The page of the book that lists every field of every kind.

mod text;
mod types;

use std::fmt::Write;

use anyhow::{Context, Result};
use serde_json::Value;

use self::text::{block, cell, code};
use self::types::{describe, literal};
use super::files::Files;

const PATH: &str = "docs/crds.md";

const TOP: &str = "\
<!-- Made by `cargo xtask crds`; do not edit. -->

# Custom resources

Every kind and every field, as `kubectl explain` shows them. In the name of a field, `[]` stands for the elements of
a list and `*` for the keys of a map.
";

pub(super) fn add(files: &mut Files, crds: &[Value]) -> Result<()> {
    let mut page = String::from(TOP);
    page.push_str("\n| Kind | Short names | What it is |\n|---|---|---|\n");
    for crd in crds {
        let kind = kind(crd)?;
        let about = cell(description(stored(crd)?).split("\n\n").next().unwrap_or_default());
        let anchor = kind.to_lowercase();
        writeln!(
            page,
            "| [{kind}](#{anchor}) | {} | {about} |",
            codes(crd.pointer("/spec/names/shortNames"))
        )?;
    }
    for crd in crds {
        section(&mut page, crd)
            .with_context(|| format!("cannot describe {}", kind(crd).unwrap_or("a kind")))?;
    }
    files.texts.insert(PATH.to_owned(), page);
    Ok(())
}

fn section(page: &mut String, crd: &Value) -> Result<()> {
    let kind = kind(crd)?;
    let schema = stored(crd)?;
    writeln!(page, "\n## {kind}\n\n{}\n", block(description(schema)))?;
    let word = |pointer: &str| crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    writeln!(page, "- Resource: `{}`, {}", word("/metadata/name"), word("/spec/scope").to_lowercase())?;
    writeln!(page, "- Short names: {}", codes(crd.pointer("/spec/names/shortNames")))?;
    writeln!(page, "- Categories: {}", codes(crd.pointer("/spec/names/categories")))?;
    let versions: Vec<String> = versions(crd).map(|version| describe_version(version, schema)).collect();
    writeln!(page, "- Versions: {}", versions.join("; "))?;

    columns(page, stored_version(crd)?)?;
    for (part, title) in [("spec", "spec"), ("status", "status")] {
        let Some(schema) = schema.pointer(&format!("/properties/{part}")) else { continue };
        writeln!(page, "\n### {kind} {title}\n\n| Field | Type | Required | Default | Description |")?;
        page.push_str("|---|---|---|---|---|\n");
        fields(page, "", schema)?;
        let mut rules = Vec::new();
        collect_rules(part, schema, &mut rules);
        if !rules.is_empty() {
            page.push_str("\nRules:\n\n| Where | What | Expression |\n|---|---|---|\n");
            for (path, rule) in rules {
                let word = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default();
                writeln!(page, "| `{path}` | {} | {} |", cell(word("message")), code(word("rule")))?;
            }
        }
    }
    Ok(())
}

fn kind(crd: &Value) -> Result<&str> {
    crd.pointer("/spec/names/kind").and_then(Value::as_str).context("a definition names no kind")
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn codes(list: Option<&Value>) -> String {
    let words: Vec<String> = list.and_then(Value::as_array).into_iter().flatten().map(literal).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn versions(crd: &Value) -> impl Iterator<Item = &Value> {
    crd.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten()
}

fn stored_version(crd: &Value) -> Result<&Value> {
    let is_stored = |version: &&Value| version.get("storage") == Some(&Value::Bool(true));
    versions(crd).find(is_stored).context("no version is stored")
}

/// The schema that is shown: that of the stored version.
fn stored(crd: &Value) -> Result<&Value> {
    schema(stored_version(crd)?).context("the stored version has no schema")
}

fn schema(version: &Value) -> Option<&Value> {
    version.pointer("/schema/openAPIV3Schema")
}

fn describe_version(version: &Value, shown: &Value) -> String {
    let is = |key: &str| version.get(key) == Some(&Value::Bool(true));
    let mut words = Vec::new();
    if is("storage") {
        words.push("stored");
    }
    if is("deprecated") {
        words.push("deprecated");
    }
    if !is("served") {
        words.push("not served");
    }
    if schema(version) != Some(shown) {
        words.push("with other fields than shown here");
    }
    let name = literal(version.get("name").unwrap_or(&Value::Null));
    if words.is_empty() { name } else { format!("{name} ({})", words.join(", ")) }
}

fn columns(page: &mut String, version: &Value) -> Result<()> {
    let columns = version.get("additionalPrinterColumns").and_then(Value::as_array);
    page.push_str("\nWhat `kubectl get` shows:\n\n| Column | Type | Value |\n|---|---|---|\n");
    for column in columns.into_iter().flatten() {
        let word = |key: &str| column.get(key).and_then(Value::as_str).unwrap_or_default();
        let wide = column.get("priority").and_then(Value::as_i64).is_some_and(|priority| priority > 0);
        let only = if wide { ", only with `-o wide`" } else { "" };
        writeln!(page, "| {} | {} | {}{only} |", cell(word("name")), word("type"), code(word("jsonPath")))?;
    }
    Ok(())
}

/// A row for every field below a schema.
fn fields(page: &mut String, path: &str, schema: &Value) -> Result<()> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, field) in properties(schema) {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let yes = if required.contains(&name.as_str()) { "yes" } else { "" };
        let default = field.get("default").map(literal).unwrap_or_default();
        let (kind, about) = (describe(field), cell(description(field)));
        writeln!(page, "| `{path}` | {kind} | {yes} | {default} | {about} |")?;
        below(&path, field, &mut |path, inner| fields(page, path, inner))?;
    }
    Ok(())
}

/// Visits the schemas with fields in a schema: itself, the elements of a list, the values of a map.
fn below(path: &str, schema: &Value, visit: &mut impl FnMut(&str, &Value) -> Result<()>) -> Result<()> {
    visit(path, schema)?;
    match (schema.get("items"), schema.get("additionalProperties")) {
        (Some(items), _) => below(&format!("{path}[]"), items, visit),
        (None, Some(values)) => below(&format!("{path}.*"), values, visit),
        (None, None) => Ok(()),
    }
}

/// Fields by name.
fn properties(schema: &Value) -> Vec<(&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut properties: Vec<_> = properties.into_iter().flatten().collect();
    properties.sort_by_key(|(name, _)| *name);
    properties
}

fn collect_rules<'a>(path: &str, schema: &'a Value, rules: &mut Vec<(String, &'a Value)>) {
    let here = schema.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
    rules.extend(here.map(|rule| (path.to_owned(), rule)));
    for (name, field) in properties(schema) {
        collect_rules(&format!("{path}.{name}"), field, rules);
    }
    for (inner, sign) in [(schema.get("items"), "[]"), (schema.get("additionalProperties"), ".*")] {
        if let Some(inner) = inner {
            collect_rules(&format!("{path}{sign}"), inner, rules);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page() -> String {
        let schema = json!({ "type": "object", "description": "A thing.\n\nIt is thin.", "properties": {
            "spec": { "type": "object", "required": ["size"], "properties": {
                "size": { "type": "integer", "default": 3, "description": "How big." },
                "parts": { "type": "array", "description": "Its parts.", "items": {
                    "type": "object", "properties": { "name": { "type": "string", "description": "Of the part." } },
                    "x-kubernetes-validations": [{ "rule": "a || b", "message": "a or b" }] } },
                "tags": { "type": "object", "additionalProperties": {
                    "type": "object", "properties": { "x": { "type": "string" } } } },
            } },
        } });
        let crd = json!({
            "metadata": { "name": "things.example.org" },
            "spec": {
                "scope": "Namespaced", "names": { "kind": "Thing", "shortNames": ["th"] },
                "versions": [
                    { "name": "v1", "served": true, "deprecated": true, "schema": { "openAPIV3Schema": schema } },
                    { "name": "v2", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema },
                        "additionalPrinterColumns": [{ "name": "Size", "type": "integer", "jsonPath": ".spec.size",
                            "priority": 1 }] },
                ],
            },
        });
        let mut files = Files::default();
        add(&mut files, &[crd]).unwrap();
        files.texts.remove(PATH).unwrap()
    }

    #[test]
    fn the_page_tells_everything_about_a_kind() {
        let page = page();
        for line in [
            "| [Thing](#thing) | `th` | A thing. |",
            "## Thing\n\nA thing.\n\nIt is thin.",
            "- Resource: `things.example.org`, namespaced",
            "- Categories: none",
            "- Versions: `v1` (deprecated); `v2` (stored)",
            "| Size | integer | `.spec.size`, only with `-o wide` |",
            "### Thing spec",
            "| `parts` | list of object |  |  | Its parts. |",
            "| `parts[].name` | string |  |  | Of the part. |",
            "| `size` | integer | yes | `3` | How big. |",
            "| `tags.*.x` | string |  |  |  |",
            r"| `spec.parts[]` | a or b | `a \|\| b` |",
        ] {
            assert!(page.contains(&format!("\n{line}\n")), "{line}\n\n{page}");
        }
    }

    #[test]
    fn all_our_kinds_can_be_described() {
        let mut files = Files::default();
        add(&mut files, &super::super::definitions().unwrap()).unwrap();
        let page = &files.texts[PATH];
        assert_eq!(page.matches("\n## ").count(), thv_api::crds().len());
        assert!(!page.contains("with other fields"));
    }
}
