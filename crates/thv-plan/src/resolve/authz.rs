//! Who may call what: `authzConfig` and `MCPAuthzConfig`.

use serde_json::{Value, json};
use thv_api::kinds::MCPAuthzConfigSpec;
use thv_api::names::children;
use thv_api::shared::{AuthzConfig, AuthzConfigMap, AuthzConfigRef, AuthzSource, InlineAuthz};
use thv_config::Json;
use thv_config::authz::{AuthzDocument, CedarConfig};

use super::authz_document::{decode, parse, rules_key, validate_document, validate_rules};
use super::config::{config_hash, read};
use super::need::{Need, check};
use super::outcome::{Cause, Outcome, Unusable};
use crate::invalid::{Invalid, InvalidList};
use crate::reference::{Read, Reference, References};

/// Authorization rules that stand in an object or in a ConfigMap that it names.
#[derive(Clone, Debug, PartialEq)]
pub struct Authz {
    /// The rules.
    pub document: AuthzDocument,
    /// The ConfigMap that has them.
    pub config_map: String,
    /// The key in it.
    pub key: String,
    /// What of the document has no effect.
    pub notes: Vec<String>,
}

/// Authorization rules of an `MCPAuthzConfig`.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedAuthz {
    /// The name of the object.
    pub name: String,
    /// Digest of its spec.
    pub hash: String,
    /// The rules.
    pub document: AuthzDocument,
    /// What of the document has no effect.
    pub notes: Vec<String>,
}

/// What is wrong with shared rules, or notes about keys of them that have no effect.
pub fn validate(spec: &MCPAuthzConfigSpec) -> Result<Vec<String>, InvalidList> {
    document_of(spec).map(|(_, notes)| notes)
}

/// The whole document that shared rules are the inner part of.
fn document_of(spec: &MCPAuthzConfigSpec) -> Result<(AuthzDocument, Vec<String>), InvalidList> {
    let MCPAuthzConfigSpec { type_, config } = spec;
    let mut invalid = InvalidList::default();
    let key = rules_key(type_);
    invalid.unless(key.is_some(), "type", "is not known: use cedarv1 or httpv1");
    invalid.unless(!config.0.is_empty(), "config", "is empty: write the rules");
    invalid.finish()?;
    let envelope = json!({"version": AuthzDocument::VERSION, "type": type_, key.unwrap_or_default(): config});
    let (document, mut notes) = json_of(&envelope)
        .and_then(|json| decode(&json))
        .map_err(|error| InvalidList::from(Invalid::new("config", error)))?;
    let mut invalid = InvalidList::default();
    match validate_rules(&document).transpose() {
        Ok(found) => notes.extend(found.iter().flatten().map(|note| format!("config.{note}"))),
        Err(rules) => invalid.below("config", Err(rules)),
    }
    invalid.finish().map(|()| (document, notes))
}

fn json_of(value: &Value) -> Result<Json, String> {
    Json::of(value).map_err(|_| "cannot be read as JSON".to_owned())
}

/// The ConfigMap that an object takes its rules from.
pub(crate) fn needs(authz: &AuthzConfig) -> Vec<Need> {
    let AuthzConfig {
        type_: _,
        config_map,
        inline: _,
        group_claim_name: _,
        role_claim_name: _,
        group_entity_type: _,
    } = authz;
    let map = config_map.as_ref();
    map.map(|AuthzConfigMap { name, key }| {
        Need::config_map("authzConfig.configMap", name, file_key(key), false)
    })
    .into_iter()
    .collect()
}

fn file_key(key: &str) -> &str {
    if key.is_empty() { children::keys::AUTHZ } else { key }
}

fn place(AuthzConfigMap { name, key }: &AuthzConfigMap) -> String {
    format!("the key {:?} of the ConfigMap {name:?}", file_key(key))
}

/// What becomes of the rules of an object. Those that stand in the object itself get a ConfigMap of the name `inline`.
pub(crate) fn resolve(
    path: &str,
    authz: Option<&AuthzConfig>,
    references: &References,
    inline: &str,
) -> Outcome<Authz> {
    Outcome::of(authz, |authz| usable(path, authz, references, inline))
}

fn usable(
    path: &str,
    authz: &AuthzConfig,
    references: &References,
    inline_map: &str,
) -> Result<Authz, Unusable> {
    let AuthzConfig { type_, config_map, inline, group_claim_name, role_claim_name, group_entity_type } =
        authz;
    let mut rules = match (type_, config_map, inline) {
        (AuthzSource::Inline, None, Some(inline)) => from_inline(inline, inline_map),
        (AuthzSource::ConfigMap, Some(map), None) => {
            check(path, &needs(authz), references)?;
            from_config_map(path, map, references)?
        }
        _ => {
            let text = "authzConfig: type, configMap and inline do not fit together: set the one that the type names";
            return Err(Cause::Invalid.at(path, text));
        }
    };
    if let Some(cedar) = &mut rules.document.cedar {
        let overrides = [
            (&mut cedar.group_claim_name, group_claim_name),
            (&mut cedar.role_claim_name, role_claim_name),
            (&mut cedar.group_entity_type, group_entity_type),
        ];
        for (field, value) in overrides {
            if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
                field.clone_from(value);
            }
        }
    }
    let notes = match config_map {
        None => validate_inline(&rules.document)
            .map_err(|invalid| Cause::Invalid.at(path, format!("authzConfig: {invalid}")))?,
        Some(map) => validate_document(&rules.document)
            .map_err(|invalid| Cause::Invalid.at(path, format!("{}: {invalid}", place(map))))?,
    };
    rules.notes.extend(notes);
    Ok(rules)
}

/// What is wrong with inline rules, at the fields of the object that the keys of the document come from.
fn validate_inline(document: &AuthzDocument) -> Result<Vec<String>, InvalidList> {
    match validate_rules(document).transpose() {
        Ok(notes) => Ok(notes.iter().flatten().map(|note| format!("inline.{note}")).collect()),
        Err(invalid) => Err(invalid.into_iter().map(inline_field).collect()),
    }
}

fn inline_field(Invalid { path, message }: Invalid) -> Invalid {
    let path = match (path.as_str(), path.strip_prefix("entities_json")) {
        ("group_entity_type", _) => "groupEntityType".to_owned(),
        (_, Some(entity)) => format!("inline.entitiesJson{entity}"),
        (other, None) => format!("inline.{other}"),
    };
    Invalid { path, message }
}

fn from_inline(inline: &InlineAuthz, config_map: &str) -> Authz {
    // A condition of its own tells that `primaryUpstreamProvider` is not heeded here.
    let InlineAuthz { policies, entities_json, primary_upstream_provider: _ } = inline;
    let cedar = CedarConfig {
        policies: policies.clone(),
        entities_json: entities_json.clone(),
        ..CedarConfig::default()
    };
    Authz {
        document: AuthzDocument::cedar(cedar),
        config_map: config_map.to_owned(),
        key: children::keys::AUTHZ.to_owned(),
        notes: Vec::new(),
    }
}

fn from_config_map(path: &str, map: &AuthzConfigMap, references: &References) -> Result<Authz, Unusable> {
    let AuthzConfigMap { name, key } = map;
    let (key, place) = (file_key(key), place(map));
    let text = match references.config_map(name) {
        Read::Found(data) => data.get(key).map(String::as_str).unwrap_or_default(),
        Read::Absent | Read::Malformed(_) => "",
    };
    if text.trim().is_empty() {
        let message = format!("{place} is empty: write the authorization rules there");
        return Err(Cause::Incomplete.at(path, message));
    }
    let (document, notes) = parse(text)
        .and_then(|json| decode(&json))
        .map_err(|error| Cause::Invalid.at(path, format!("{place} {error}")))?;
    Ok(Authz { document, config_map: name.clone(), key: key.to_owned(), notes })
}

/// What has to be read for a reference to shared rules.
pub(crate) fn shared_references(AuthzConfigRef { name }: &AuthzConfigRef) -> Vec<Reference> {
    vec![Reference::object::<MCPAuthzConfigSpec>(name)]
}

/// What becomes of a reference to shared rules.
pub(crate) fn resolve_shared(
    path: &str,
    reference: Option<&AuthzConfigRef>,
    references: &References,
) -> Outcome<SharedAuthz> {
    Outcome::of(reference, |AuthzConfigRef { name }| {
        let spec = read(path, references.object::<MCPAuthzConfigSpec>(name), name)?;
        let (document, notes) = document_of(spec).map_err(|invalid| {
            Cause::Invalid.at(path, format!("the MCPAuthzConfig {name:?} is not valid: {invalid}"))
        })?;
        Ok(SharedAuthz { name: name.clone(), hash: config_hash(spec), document, notes })
    })
}

#[cfg(test)]
mod tests;
