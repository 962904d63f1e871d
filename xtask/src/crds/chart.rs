//! The Helm chart that installs the definitions.
//!
//! They are templates, because Helm installs what is in `crds/` once and never updates it. They have no template
//! syntax, so that `kubectl apply -f` takes the folder as well.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use thv_plan::canonical;

use super::files::Files;
use super::yaml;

const FOLDER: &str = "deploy/charts/operator-crds";

/// The first line of every file.
const HEADER: &str = "# Made by `cargo xtask crds`; do not edit.\n";

pub(super) fn add(files: &mut Files, crds: &[Value]) -> Result<()> {
    let chart = json!({
        "apiVersion": "v2",
        "name": "toolhive-operator-crds",
        "description": "The kinds of the ToolHive API. Install it before the operator; an upgrade updates the kinds.",
        "type": "application",
        "version": env!("CARGO_PKG_VERSION"),
        "appVersion": env!("CARGO_PKG_VERSION"),
    });
    files.texts.insert(format!("{FOLDER}/Chart.yaml"), document(&chart)?);
    let schema: Value = serde_json::from_str(&canonical(&values_schema()))?;
    files.texts.insert(format!("{FOLDER}/values.schema.json"), format!("{schema:#}\n"));

    let templates = format!("{FOLDER}/templates");
    for crd in crds {
        let plural =
            crd.pointer("/spec/names/plural").and_then(Value::as_str).context("a kind has no plural")?;
        files.texts.insert(format!("{templates}/{plural}.yaml"), document(&kept(crd.clone()))?);
    }
    files.folders.push(templates);
    Ok(())
}

/// The chart has no values. Those that other charts for these kinds have are accepted as long as they ask for what
/// happens anyway; Helm refuses the rest, rather than ignoring it.
fn values_schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "global": {},
            "crds": {
                "type": "object",
                "properties": { "install": { "const": true }, "keep": { "const": true } },
                "additionalProperties": false,
            },
        },
        "additionalProperties": false,
    })
}

/// When the chart is uninstalled, its definitions stay: with them would go every object of their kinds.
fn kept(mut crd: Value) -> Value {
    if let Some(metadata) = crd.get_mut("metadata").and_then(Value::as_object_mut) {
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert("helm.sh/resource-policy".to_owned(), "keep".into());
        }
    }
    crd
}

fn document(value: &Value) -> Result<String> {
    Ok(format!("{HEADER}{}", yaml::write(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        let mut files = Files::default();
        add(&mut files, &super::super::definitions().unwrap()).unwrap();
        files
    }

    fn templates(files: &Files) -> impl Iterator<Item = (&String, &String)> {
        files.texts.iter().filter(|(path, _)| path.contains("/templates/"))
    }

    #[test]
    fn the_files_hold_the_definitions() {
        let files = files();
        let mut read: Vec<Value> = Vec::new();
        for (path, text) in templates(&files) {
            let [mut crd] = <[Value; 1]>::try_from(yaml::read(text).unwrap()).unwrap();
            let annotations = crd["metadata"].as_object_mut().unwrap().remove("annotations").unwrap();
            assert_eq!(annotations, json!({ "helm.sh/resource-policy": "keep" }), "{path}");
            read.push(crd);
        }
        assert_eq!(read, super::super::definitions().unwrap());
    }

    #[test]
    fn nothing_changes_from_one_time_to_the_next() {
        assert_eq!(files().texts, files().texts);
    }

    #[test]
    fn helm_takes_them_as_they_are() {
        for (path, text) in &files().texts {
            assert!(!text.contains("{{"), "{path}");
        }
    }

    #[test]
    fn kubectl_can_apply_them() {
        // `kubectl apply` keeps what it was given in an annotation, and these have a limit. A quarter is left for
        // what other tools add.
        const LIMIT: usize = 256 * 1024 * 3 / 4;
        for (path, text) in templates(&files()) {
            let [crd] = <[Value; 1]>::try_from(yaml::read(text).unwrap()).unwrap();
            let size = crd.to_string().len();
            assert!(size < LIMIT, "{path} has {size} bytes as JSON");
        }
    }
}
