//! Authorization documents: reading and checking them.

use thv_config::Json;
use thv_config::authz::{AuthzDocument, CedarConfig, PdpConfig, PdpHttp};
#[cfg(feature = "policy")]
use thv_policy::cedar::Validation;

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

/// The key of a document that has the rules of a type, if the type is known.
pub(super) fn rules_key(type_: &str) -> Option<&'static str> {
    match type_ {
        AuthzDocument::CEDAR => Some("cedar"),
        AuthzDocument::HTTP => Some("pdp"),
        _ => None,
    }
}

/// What is wrong with a document, else notes about what in it has no effect.
pub(super) fn validate_document(document: &AuthzDocument) -> Result<Vec<String>, InvalidList> {
    let mut invalid = InvalidList::default();
    let mut notes = Vec::new();
    invalid.required(&document.version, "version");
    match (rules_key(&document.type_), validate_rules(document)) {
        (None, _) => invalid.add("type", "is not known: use cedarv1 or httpv1"),
        (Some(key), None) => invalid.add(key, "is missing: write the rules"),
        (Some(key), Some(Err(rules))) => invalid.below(key, Err(rules)),
        (Some(key), Some(Ok(found))) => notes.extend(found.iter().map(|note| format!("{key}.{note}"))),
    }
    invalid.finish().map(|()| notes)
}

/// What is wrong with the rules in a document, else notes about them. Nothing if there are no rules of its type.
pub(super) fn validate_rules(document: &AuthzDocument) -> Option<Result<Vec<String>, InvalidList>> {
    let AuthzDocument { version: _, type_, cedar, pdp } = document;
    match type_.as_str() {
        AuthzDocument::CEDAR => cedar.as_ref().map(validate_cedar),
        AuthzDocument::HTTP => pdp.as_ref().map(|pdp| validate_pdp(pdp).map(|()| Vec::new())),
        _ => None,
    }
}

fn validate_cedar(cedar: &CedarConfig) -> Result<Vec<String>, InvalidList> {
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
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = group_entity_type.is_empty()
        || group_entity_type.chars().all(plain) && is_type_name(group_entity_type);
    let advice = "is not a name: use letters, digits and underscores, and no keyword of Cedar";
    invalid.unless(named, "group_entity_type", advice);
    let notes = validate_texts(policies, entities_json, &mut invalid);
    invalid.finish().map(|()| notes)
}

/// Has Cedar parse what is written in its language. Without the feature `policy`, Cedar is not there: whatever is wrong
/// with the texts then shows when they are loaded.
#[cfg(feature = "policy")]
fn validate_texts(policies: &[String], entities_json: &str, invalid: &mut InvalidList) -> Vec<String> {
    let Validation { errors, notes } = thv_policy::cedar::validate(policies, entities_json);
    for error in errors {
        invalid.add(error.part.to_string(), error.to_string());
    }
    notes.iter().map(|note| format!("{}: {note}", note.part)).collect()
}

#[cfg(feature = "policy")]
fn is_type_name(name: &str) -> bool {
    thv_policy::cedar::is_type_name(name)
}

#[cfg(not(feature = "policy"))]
fn is_type_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(not(feature = "policy"))]
const fn validate_texts(
    _policies: &[String],
    _entities_json: &str,
    _invalid: &mut InvalidList,
) -> Vec<String> {
    Vec::new()
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
