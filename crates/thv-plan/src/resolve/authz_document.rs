//! Authorization documents: reading and checking them.

use serde_json::Value;
use thv_config::Json;
use thv_config::authz::{AuthzDocument, CedarConfig, PdpConfig, PdpHttp};

use super::url::web_url_error;
use crate::invalid::InvalidList;

/// Reads JSON, or YAML that could be JSON. Errors quote nothing.
pub(super) fn parse(text: &str) -> Result<Json, String> {
    if let Ok(json) = serde_json::from_str(text) {
        return Ok(json);
    }
    serde_saphyr::from_str(text).map_err(|error| match error.location() {
        Some(place) => {
            format!("is neither JSON nor YAML: see line {}, column {}", place.line(), place.column())
        }
        None => "is neither JSON nor YAML".to_owned(),
    })
}

/// Reads a document, with notes about keys of it that nobody knows.
pub(super) fn decode(json: &Json) -> Result<(AuthzDocument, Vec<String>), String> {
    let decoded = json
        .decode::<AuthzDocument>()
        .map_err(|error| format!("is not an authorization document: {error}"))?;
    let notes =
        decoded.unknown.iter().map(|key| format!("the key {key} has no effect: remove or correct it"));
    Ok((decoded.value, notes.collect()))
}

/// What is wrong with a document.
pub(super) fn validate_document(document: &AuthzDocument) -> Result<(), InvalidList> {
    let AuthzDocument { version, type_, cedar, pdp } = document;
    let mut invalid = InvalidList::default();
    invalid.required(version, "version");
    match (type_.as_str(), cedar, pdp) {
        (AuthzDocument::CEDAR, Some(cedar), _) => invalid.below("cedar", validate_cedar(cedar)),
        (AuthzDocument::CEDAR, None, _) => invalid.add("cedar", "is missing: write the policies"),
        (AuthzDocument::HTTP, _, Some(pdp)) => invalid.below("pdp", validate_pdp(pdp)),
        (AuthzDocument::HTTP, _, None) => invalid.add("pdp", "is missing: name the service that decides"),
        _ => invalid.add("type", "is not known: use cedarv1 or httpv1"),
    }
    invalid.finish()
}

fn validate_cedar(cedar: &CedarConfig) -> Result<(), InvalidList> {
    let CedarConfig {
        policies,
        entities_json,
        primary_upstream_provider: _,
        group_claim_name: _,
        role_claim_name: _,
        group_entity_type,
        multi_valued_claims: _,
    } = cedar;
    let mut invalid = InvalidList::default();
    invalid.unless(!policies.is_empty(), "policies", "is empty: without a policy everything is denied");
    for (index, policy) in policies.iter().enumerate() {
        invalid.required(policy, format!("policies[{index}]"));
    }
    let entities = entities_json.trim();
    let fine = entities.is_empty() || serde_json::from_str::<Vec<Value>>(entities).is_ok();
    invalid.unless(fine, "entities_json", "is not a JSON list of entities");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named =
        group_entity_type.chars().all(plain) && !group_entity_type.starts_with(|c: char| c.is_ascii_digit());
    invalid.unless(named, "group_entity_type", "is not a name: use letters, digits and underscores");
    invalid.finish()
}

fn validate_pdp(pdp: &PdpConfig) -> Result<(), InvalidList> {
    let PdpConfig { http, context: _, claim_mapping } = pdp;
    let mut invalid = InvalidList::default();
    match http {
        None => invalid.add("http.url", "is missing: name the service that decides"),
        Some(PdpHttp { url, timeout, insecure_skip_verify: _ }) => {
            if let Some(error) = web_url_error(url, true) {
                invalid.add("http.url", error);
            }
            invalid.unless(*timeout >= 0, "http.timeout", "is negative");
        }
    }
    let known = matches!(claim_mapping.as_str(), "mpe" | "standard");
    invalid.unless(known, "claim_mapping", "is not known: use mpe or standard");
    invalid.finish()
}
