//! Other values for the leaves of virtual servers and of what they refer to, where it will not do to append something. The
//! tests against an API server set the same.

use serde_json::{Value, json};

/// Not the entities that the examples have.
const ENTITIES: &str = r#"[{"uid": {"type": "Team", "id": "web"}}]"#;

/// Another value for a leaf, if it needs one of its own.
pub(crate) fn special(pointer: &str, value: &Value) -> Option<Value> {
    let last = pointer.rsplit('/').next()?;
    let text = value.as_str()?;
    Some(json!(match (last, text) {
        _ if is_duration(text) => return Some(json!(format!("1{text}"))),
        ("type", "oidc") if pointer == "/incomingAuth/type" => "anonymous",
        ("type", "anonymous") => "oidc",
        ("type", "inline") if pointer.ends_with("/authzConfig/type") => "configMap",
        ("type", "discovered") => "externalAuthConfigRef",
        ("type", "entry") => "",
        ("type", "upstreamInject" | "xaa" | "headerInjection") => "unauthenticated",
        // Of composite tools.
        ("type", "tool") => "elicitation",
        ("type", "elicitation" | "forEach") => "tool",
        ("type", "object") => "array",
        ("type", "string") => "integer",
        ("type", "integer") => "number",
        ("action", _) => "abort",
        ("source", "inline") | ("type", "externalAuthConfigRef") => "discovered",
        ("source", "discovered") | ("type", "configMap") => "inline",
        ("serviceType", _) => "NodePort",
        ("sessionAffinity", _) => "None",
        ("conflictResolution", _) => "manual",
        ("prefixFormat", _) => "{workload}.",
        ("defaultToolVisibility", _) => "deny",
        ("partialFailureMode", _) => "fail",
        ("embeddingProvider", "tei") => "openai",
        ("embeddingProvider", _) => "tei",
        ("transport", "sse") => "streamable-http",
        ("transport" | "proxyMode", _) => "sse",
        ("provider", "redis") => "memory",
        ("hybridSearchSemanticRatio" | "semanticDistanceThreshold", _) => "0.6",
        ("medium", _) => "HugePages",
        ("sizeLimit", _) => "2Gi",
        ("imagePullPolicy", _) => "Never",
        ("entitiesJson", _) => ENTITIES,
        ("primaryUpstreamProvider" | "providerName" | "subjectProviderName", "corp") => "git",
        ("primaryUpstreamProvider", "git") => "corp",
        ("subjectTokenType", _) => "jwt",
        ("region", _) => "eu-west-2",
        // There is a volume of this name as well.
        ("name", "vmcp-config") => "scratch",
        _ => return None,
    }))
}

/// Whether a text is a number and a unit of time.
fn is_duration(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < text.len() && ["ms", "s", "m", "h", "m0s"].contains(&unit)
}
