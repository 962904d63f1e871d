//! Which tools are offered: `MCPToolConfig`.

use std::collections::BTreeMap;

use thv_api::kinds::MCPToolConfigSpec;
use thv_api::shared::{ToolConfigRef, ToolOverride};

use super::config::{Config, read, valid};
use super::outcome::{Outcome, Unusable};
use crate::invalid::InvalidList;
use crate::reference::{Reference, References};

/// What is wrong with a choice of tools.
pub fn validate(spec: &MCPToolConfigSpec) -> Result<(), InvalidList> {
    let MCPToolConfigSpec { tools_filter, tools_override } = spec;
    let mut invalid = InvalidList::default();
    for (index, tool) in tools_filter.iter().flatten().enumerate() {
        let path = format!("toolsFilter[{index}]");
        invalid.required(tool, &path);
        invalid.unless(!tool.contains([',', '\r', '\n']), path, "has a comma or a line break: name one tool");
    }
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for (tool, ToolOverride { name, description, annotations }) in tools_override.iter().flatten() {
        let path = format!("toolsOverride[{tool:?}]");
        let says_something = [name, description].into_iter().flatten().any(|text| !text.is_empty());
        invalid.unless(
            says_something || annotations.is_some(),
            &path,
            "changes nothing: give a name or a description, or remove it",
        );
        let Some(name) = name.as_deref().filter(|name| !name.is_empty()) else { continue };
        if let Some(other) = taken.insert(name, tool) {
            invalid.add(path, format!("has the same name as the tool {other:?}: give each its own"));
        }
    }
    invalid.finish()
}

/// What has to be read for a reference.
pub(crate) fn references(ToolConfigRef { name }: &ToolConfigRef) -> Vec<Reference> {
    vec![Reference::object::<MCPToolConfigSpec>(name)]
}

/// What becomes of a reference.
pub(crate) fn resolve(
    path: &str,
    reference: Option<&ToolConfigRef>,
    references: &References,
) -> Outcome<Config<MCPToolConfigSpec>> {
    Outcome::of(reference, |ToolConfigRef { name }| usable(path, name, references))
}

fn usable(path: &str, name: &str, references: &References) -> Result<Config<MCPToolConfigSpec>, Unusable> {
    let spec = read(path, references.object::<MCPToolConfigSpec>(name), name)?;
    let mut config = valid(path, spec, name, validate(spec))?;
    config.notes = notes(spec);
    Ok(config)
}

/// Overrides of annotations have no place in the configuration of a proxy.
fn notes(spec: &MCPToolConfigSpec) -> Vec<String> {
    let annotated = spec.tools_override.iter().flatten().filter(|(_, change)| change.annotations.is_some());
    annotated
        .map(|(tool, _)| {
            format!("the annotations of the tool {tool:?} have no effect here: only a VirtualMCPServer changes them")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(spec: serde_json::Value) -> Result<(), String> {
        validate(&serde_json::from_value(spec).unwrap()).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn a_sound_choice_is_valid() {
        check(json!({})).unwrap();
        check(
            json!({"toolsFilter": ["a"], "toolsOverride": {"a": {"name": "b"}, "c": {"description": "d"}}}),
        )
        .unwrap();
    }

    #[test]
    fn nonsense_is_told_with_its_place() {
        for (spec, part) in [
            (json!({"toolsFilter": ["ok", " "]}), "toolsFilter[1]: is empty"),
            (json!({"toolsFilter": ["a,b"]}), "comma"),
            (json!({"toolsOverride": {"a": {}}}), "changes nothing"),
            (json!({"toolsOverride": {"a": {"name": ""}}}), "changes nothing"),
            (
                json!({"toolsOverride": {"a": {"name": "x"}, "b": {"name": "x"}}}),
                "same name as the tool \"a\"",
            ),
        ] {
            let error = check(spec).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn annotations_are_noted() {
        let spec = json!({"toolsOverride": {"a": {"name": "b", "annotations": {"title": "A"}}}});
        assert_eq!(notes(&serde_json::from_value(spec).unwrap()).len(), 1);
    }
}
