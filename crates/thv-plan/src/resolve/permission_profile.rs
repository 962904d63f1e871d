//! What a server may reach.

use thv_api::kinds::{PermissionProfile, PermissionProfileType};
use thv_config::Json;

use super::authz_document::parse;
use super::need::{Need, check};
use super::outcome::{Cause, Outcome, Unusable};
use crate::reference::References;

/// A permission profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// What it says.
    pub document: thv_config::permission::PermissionProfile,
    /// Where it comes from.
    pub origin: ProfileOrigin,
    /// Keys of it that have no effect.
    pub notes: Vec<String>,
}

/// Where a permission profile comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileOrigin {
    /// It comes with ToolHive under this name.
    Builtin(String),
    /// It is in a ConfigMap.
    ConfigMap {
        /// The name of the ConfigMap.
        name: String,
        /// The key in it.
        key: String,
    },
}

/// The ConfigMap that a profile is in.
pub(crate) fn needs(profile: &PermissionProfile) -> Vec<Need> {
    let PermissionProfile { type_, name, key } = profile;
    match type_ {
        PermissionProfileType::Builtin => Vec::new(),
        PermissionProfileType::ConfigMap => {
            vec![Need::config_map("permissionProfile", name, key.as_deref().unwrap_or_default(), false)]
        }
    }
}

/// What becomes of the profile of a server.
pub(crate) fn resolve(
    path: &str,
    profile: Option<&PermissionProfile>,
    references: &References,
) -> Outcome<Profile> {
    Outcome::of(profile, |profile| usable(path, profile, references))
}

fn usable(path: &str, profile: &PermissionProfile, references: &References) -> Result<Profile, Unusable> {
    let PermissionProfile { type_, name, key } = profile;
    let found = match type_ {
        PermissionProfileType::Builtin => builtin(name),
        PermissionProfileType::ConfigMap => {
            check(path, &needs(profile), references)?;
            let key = key.as_deref().unwrap_or_default();
            let data = references.config_map(name).found();
            from_text(name, key, data.and_then(|data| data.get(key)).map_or("", String::as_str))
        }
    };
    found.map_err(|message| Cause::Invalid.at(path, message))
}

fn builtin(name: &str) -> Result<Profile, String> {
    let document = match name {
        "network" => thv_config::permission::PermissionProfile::network(),
        // `stdio` is what `none` was called once.
        "none" | "stdio" => thv_config::permission::PermissionProfile::none(),
        _ => {
            return Err(format!(
                "permissionProfile.name {name:?} is no built-in profile: use none or network, or the type configmap"
            ));
        }
    };
    Ok(Profile { document, origin: ProfileOrigin::Builtin(name.to_owned()), notes: Vec::new() })
}

fn from_text(name: &str, key: &str, text: &str) -> Result<Profile, String> {
    let place = format!("the key {key:?} of the ConfigMap {name:?}");
    let invalid = |error: String| format!("{place} {error}");
    let json: Json = parse(text).map_err(invalid)?;
    if !matches!(json, Json::Object(_)) {
        return Err(invalid("is not a permission profile: write a JSON object".to_owned()));
    }
    let decoded = json
        .decode::<thv_config::permission::PermissionProfile>()
        .map_err(|error| invalid(format!("is not a permission profile: {error}")))?;
    let notes =
        decoded.unknown.iter().map(|key| format!("the key {key} has no effect: remove or correct it"));
    let notes = notes.collect();
    let origin = ProfileOrigin::ConfigMap { name: name.to_owned(), key: key.to_owned() };
    Ok(Profile { document: decoded.value, origin, notes })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::reference::{Read, Reference, Referent};

    fn run(profile: Value, text: Option<&str>) -> Outcome<Profile> {
        let mut references = References::new();
        if let Some(text) = text {
            let data = BTreeMap::from([("profile.json".to_owned(), text.to_owned())]);
            let found = Read::Found(Referent::ConfigMap(Arc::new(data)));
            references.insert(Reference::config_map("profiles"), found);
        }
        resolve("spec.permissionProfile", Some(&serde_json::from_value(profile).unwrap()), &references)
    }

    #[test]
    fn builtin_profiles_are_known_by_name() {
        for (name, reaches) in [("network", true), ("none", false), ("stdio", false)] {
            let outcome = run(json!({"type": "builtin", "name": name}), None);
            let network = outcome.usable().unwrap().document.network.clone().unwrap();
            assert_eq!(network.outbound.unwrap().insecure_allow_all, reaches, "{name}");
        }
        let outcome = run(json!({"type": "builtin", "name": "/etc/passwd"}), None);
        assert_eq!(outcome.unusable().unwrap().cause, Cause::Invalid);
    }

    #[test]
    fn a_profile_in_a_config_map_is_read_from_there() {
        let profile = json!({"type": "configmap", "name": "profiles", "key": "profile.json"});
        let text =
            r#"{"name":"mine","network":{"outbound":{"allow_host":["a.example"],"allow_port":[443]}}}"#;
        let outcome = run(profile.clone(), Some(text));
        let profile_found = outcome.usable().unwrap();
        assert_eq!(profile_found.document.name, "mine");
        assert_eq!(run(profile.clone(), None).unusable().unwrap().cause, Cause::Incomplete);
        for bad in ["[]", "{\"read\": 1}", "{"] {
            let outcome = run(profile.clone(), Some(bad));
            assert_eq!(outcome.unusable().map(|it| it.cause), Some(Cause::Invalid), "{bad}: {outcome:?}");
        }
    }

    #[test]
    fn a_profile_in_a_config_map_needs_a_key() {
        let outcome = run(json!({"type": "configmap", "name": "profiles"}), Some("{}"));
        assert_eq!(outcome.unusable().map(|it| it.cause), Some(Cause::Invalid), "{outcome:?}");
    }
}
