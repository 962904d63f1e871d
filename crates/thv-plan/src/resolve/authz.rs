//! Who may call what: `authzConfig` and `MCPAuthzConfig`.

use serde_json::{Value, json};
use thv_api::kinds::MCPAuthzConfigSpec;
use thv_api::names::children;
use thv_api::shared::{AuthzConfig, AuthzConfigMap, AuthzConfigRef, AuthzSource, InlineAuthz};
use thv_config::Json;
use thv_config::authz::{AuthzDocument, CedarConfig};

use super::authz_document::{decode, parse, validate_document};
use super::config::{config_hash, read};
use super::need::{Need, check};
use super::outcome::{Cause, Outcome, Unusable};
use crate::invalid::InvalidList;
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
    /// Keys of the document that have no effect.
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
    /// Keys of the document that have no effect.
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
    let key = match type_.as_str() {
        AuthzDocument::CEDAR => Some("cedar"),
        AuthzDocument::HTTP => Some("pdp"),
        _ => None,
    };
    invalid.unless(key.is_some(), "type", "is not known: use cedarv1 or httpv1");
    invalid.unless(!config.0.is_empty(), "config", "is empty: write the rules");
    invalid.finish()?;
    let envelope = json!({"version": AuthzDocument::VERSION, "type": type_, key.unwrap_or_default(): config});
    let mut invalid = InvalidList::default();
    match json_of(&envelope).and_then(|json| decode(&json)) {
        Ok((document, notes)) => {
            invalid.below("config", validate_document(&document));
            invalid.finish().map(|()| (document, notes))
        }
        Err(text) => {
            invalid.add("config", text);
            invalid.finish().map(|()| (AuthzDocument::default(), Vec::new()))
        }
    }
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
    validate_document(&rules.document)
        .map_err(|invalid| Cause::Invalid.at(path, format!("authzConfig: {invalid}")))?;
    Ok(rules)
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
    let key = file_key(key);
    let place = format!("the key {key:?} of the ConfigMap {name:?}");
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
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::reference::Referent;

    fn map_with(text: &str) -> References {
        let mut references = References::new();
        let data = BTreeMap::from([("authz.json".to_owned(), text.to_owned())]);
        let found = Read::Found(Referent::ConfigMap(Arc::new(data)));
        references.insert(Reference::config_map("rules"), found);
        references
    }

    fn from_map() -> AuthzConfig {
        serde_json::from_value(
            json!({"type": "configMap", "configMap": {"name": "rules"}, "groupClaimName": "g"}),
        )
        .unwrap()
    }

    #[test]
    fn rules_from_a_config_map_are_read_as_yaml_or_json() {
        let yaml = "version: '1.0'\ntype: cedarv1\ncedar:\n  policies:\n  - permit(principal, action, resource);\n  \
                    entities_json: '[]'\n";
        let json = r#"{"version":"1.0","type":"cedarv1","cedar":{"policies":["permit(principal, action, resource);"],
            "entities_json":"[]","group_claim_name":"other"}}"#;
        for text in [yaml, json] {
            let outcome = resolve("spec.authzConfig", Some(&from_map()), &map_with(text), "web");
            let Outcome::Usable(authz) = outcome else { panic!("{outcome:?}") };
            let cedar = authz.document.cedar.unwrap();
            assert_eq!(cedar.policies.len(), 1);
            assert_eq!(cedar.group_claim_name, "g");
        }
    }

    #[test]
    fn rules_that_are_not_there_are_waited_for_and_nonsense_is_not() {
        let cases = [
            (References::new(), Cause::Incomplete),
            (map_with(" "), Cause::Incomplete),
            (map_with("{"), Cause::Invalid),
            (map_with(r#"{"version":"1.0","type":"other"}"#), Cause::Invalid),
            (map_with(r#"{"version":"1.0","type":"cedarv1","cedar":{"policies":[]}}"#), Cause::Invalid),
        ];
        for (references, expected) in cases {
            let outcome = resolve("spec.authzConfig", Some(&from_map()), &references, "web");
            assert_eq!(outcome.unusable().unwrap().cause, expected);
        }
    }

    #[test]
    fn keys_that_nobody_knows_are_noted() {
        let text = r#"{"version":"1.0","type":"cedarv1","cedar":{"policies":["p"],"polices":[]}}"#;
        let outcome = resolve("spec.authzConfig", Some(&from_map()), &map_with(text), "web");
        assert_eq!(outcome.usable().unwrap().notes.len(), 1);
    }

    #[test]
    fn shared_rules_are_checked_by_type() {
        let check = |value: Value| validate(&serde_json::from_value(value).unwrap());
        check(json!({"type": "cedarv1", "config": {"policies": ["p"]}})).unwrap();
        check(json!({"type": "httpv1", "config": {"http": {"url": "https://pdp"}, "claim_mapping": "mpe"}}))
            .unwrap();
        for bad in [
            json!({"type": "opa", "config": {"a": 1}}),
            json!({"type": "cedarv1", "config": {}}),
            json!({"type": "cedarv1", "config": {"policies": []}}),
            json!({"type": "cedarv1", "config": {"policies": "p"}}),
            json!({"type": "cedarv1", "config": {"policies": ["p"], "entities_json": "{}"}}),
            json!({"type": "httpv1", "config": {"claim_mapping": "mpe"}}),
            json!({"type": "httpv1", "config": {"http": {"url": "https://pdp"}, "claim_mapping": "x"}}),
        ] {
            assert!(check(bad.clone()).is_err(), "{bad}");
        }
    }
}
