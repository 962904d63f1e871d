//! What an object names that cannot be read: enough to know that it refers to something.

use std::collections::BTreeSet;
use std::slice;

use serde_json::Value;
use thv_api::Kind;
use thv_api::kinds::{
    EmbeddingServerSpec, MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec,
    MCPTelemetryConfigSpec, MCPToolConfigSpec, MCPWebhookConfigSpec, VirtualMCPCompositeToolDefinitionSpec,
};

use crate::reference::Target;

/// The fields that name another object, or several, and their kind.
const FIELDS: [(&str, &str); 10] = [
    ("authServerRef", MCPExternalAuthConfigSpec::KIND),
    ("authzConfigRef", MCPAuthzConfigSpec::KIND),
    ("compositeToolRefs", VirtualMCPCompositeToolDefinitionSpec::KIND),
    ("embeddingServerRef", EmbeddingServerSpec::KIND),
    ("externalAuthConfigRef", MCPExternalAuthConfigSpec::KIND),
    ("groupRef", MCPGroupSpec::KIND),
    ("oidcConfigRef", MCPOIDCConfigSpec::KIND),
    ("telemetryConfigRef", MCPTelemetryConfigSpec::KIND),
    ("toolConfigRef", MCPToolConfigSpec::KIND),
    ("webhookConfigRef", MCPWebhookConfigSpec::KIND),
];

/// The objects that a spec names, wherever in it, whether or not the rest of it makes sense.
pub fn named_targets(spec: &Value) -> BTreeSet<Target> {
    let mut found = BTreeSet::new();
    // Nothing in JSON that was read is nested deeper than its parser allows.
    let mut open = vec![spec];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                for (field, value) in fields {
                    let kind = FIELDS.iter().find(|(name, _)| name == field).map(|(_, kind)| *kind);
                    let all = value.as_array().map_or(slice::from_ref(value), Vec::as_slice);
                    for name in all.iter().filter_map(|one| one.get("name")?.as_str()) {
                        found.extend(kind.map(|kind| Target { kind, name: name.to_owned() }));
                    }
                    open.push(value);
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_named_is_found_beside_what_makes_no_sense() {
        let spec = json!({
            "transport": 7,
            "groupRef": {"name": "g"},
            "toolConfigRef": "t",
            "incomingAuth": {"oidcConfigRef": {"name": "o", "audience": 1}},
            "outgoingAuth": {"backends": {"b": {"externalAuthConfigRef": {"name": "e"}}}},
            "config": {
                "aggregation": {"tools": [{"toolConfigRef": {"name": "t"}}]},
                "compositeToolRefs": [{"name": "c"}, 7, {"name": "d"}],
            },
        });
        let found: Vec<String> =
            named_targets(&spec).into_iter().map(|Target { kind, name }| format!("{kind} {name}")).collect();
        let expected = [
            "MCPExternalAuthConfig e",
            "MCPGroup g",
            "MCPOIDCConfig o",
            "MCPToolConfig t",
            "VirtualMCPCompositeToolDefinition c",
            "VirtualMCPCompositeToolDefinition d",
        ];
        assert_eq!(found, expected);
        assert!(named_targets(&json!(null)).is_empty());
    }
}
