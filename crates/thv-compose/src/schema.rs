//! JSON Schemas in definitions.

use jsonschema::{draft4, draft6, draft7, draft201909, draft202012};
use serde_json::{Map, Value};

use crate::findings::{Findings, Rule, shorten, told};
use crate::json::is_within;
use crate::limits::MAX_DEPTH;

/// Tells what keeps this from being a JSON Schema. Nothing is fetched, so a reference has to stay within it.
pub(crate) fn check(findings: &mut Findings, path: &str, schema: &Map<String, Value>) {
    if !is_within(schema, MAX_DEPTH) {
        findings.error(Rule::Schema, path, format!("is nested deeper than {MAX_DEPTH} levels"));
        return;
    }
    let whole = Value::Object(schema.clone());
    if let Some((place, message)) = flaw(&whole) {
        findings.error(Rule::Schema, format!("{path}{place}"), message);
    }
    if let Some(target) = outward_reference(&whole) {
        let message = format!(
            "refers to {:?}: only references within the schema are followed, such as \"#/$defs/a\"",
            shorten(target)
        );
        findings.error(Rule::Schema, path, message);
    }
}

/// What the schema of schemas says, and where.
fn flaw(schema: &Value) -> Option<(String, String)> {
    let named = schema.get("$schema").map(|draft| draft.as_str().unwrap_or_default());
    let named = named.map(|draft| {
        draft.trim_end_matches('#').trim_start_matches("https://").trim_start_matches("http://")
    });
    let result = match named {
        // ToolHive reads schemas that do not say what they are as of draft 7.
        None | Some("json-schema.org/draft-07/schema") => draft7::meta::validate(schema),
        Some("json-schema.org/draft/2020-12/schema") => draft202012::meta::validate(schema),
        Some("json-schema.org/draft/2019-09/schema") => draft201909::meta::validate(schema),
        Some("json-schema.org/draft-06/schema") => draft6::meta::validate(schema),
        Some("json-schema.org/draft-04/schema") => draft4::meta::validate(schema),
        Some(other) => {
            let message = format!(
                "{:?} is no draft that is known: leave it out, or name draft 2020-12",
                shorten(other)
            );
            return Some((".$schema".to_owned(), message));
        }
    };
    let error = result.err()?;
    let place: String = error.instance_path().as_str().replace('/', ".");
    Some((shorten(&place), format!("is no JSON Schema: {}", told(error.masked()))))
}

/// A reference that leads out of the schema.
fn outward_reference(schema: &Value) -> Option<&str> {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                let target = fields.get("$ref").and_then(Value::as_str);
                if let Some(target) = target.filter(|target| !target.starts_with('#')) {
                    return Some(target);
                }
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(schema: Value) -> Vec<String> {
        let mut findings = Findings::default();
        check(&mut findings, "schema", schema.as_object().unwrap());
        findings.finish().err().into_iter().flatten().map(|error| error.to_string()).collect()
    }

    #[test]
    fn schemas_of_every_draft_are_taken() {
        let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!(found(plain.clone()), Vec::<String>::new());
        for draft in ["draft-04/schema#", "draft-07/schema#", "draft/2019-09/schema", "draft/2020-12/schema"]
        {
            let mut schema = plain.clone();
            schema["$schema"] = json!(format!("https://json-schema.org/{draft}"));
            assert_eq!(found(schema), Vec::<String>::new(), "{draft}");
        }
    }

    #[test]
    fn what_is_no_schema_is_told_with_its_place() {
        let errors = found(json!({"type": "object", "properties": {"a": {"type": "text"}}}));
        assert_eq!(errors.len(), 1);
        assert!(errors[0].starts_with("schema.properties.a.type: is no JSON Schema: "), "{errors:?}");
        let errors = found(json!({"$schema": "https://example.com/own"}));
        assert!(errors[0].starts_with("schema.$schema: \"example.com/own\" is no draft"), "{errors:?}");
    }

    #[test]
    fn nothing_is_fetched_for_a_schema() {
        let within = json!({"properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": {"type": "string"}}});
        assert_eq!(found(within), Vec::<String>::new());
        let outward = found(json!({"properties": {"a": {"$ref": "http://169.254.169.254/latest"}}}));
        assert!(outward[0].contains("169.254.169.254"), "{outward:?}");
    }

    #[test]
    fn a_schema_that_is_too_deep_is_not_looked_into() {
        let mut deep = json!({});
        for _ in 0..=MAX_DEPTH {
            deep = json!({"not": deep});
        }
        assert_eq!(found(deep), ["schema: is nested deeper than 100 levels"]);
    }
}
