use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::reference::Referent;

const ANY: &str = "permit(principal, action, resource);";

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
    let text =
        format!(r#"{{"version":"1.0","type":"cedarv1","cedar":{{"policies":["{ANY}"],"polices":[]}}}}"#);
    let outcome = resolve("spec.authzConfig", Some(&from_map()), &map_with(&text), "web");
    assert_eq!(outcome.usable().unwrap().notes.len(), 1);
}

#[test]
fn shared_rules_are_checked_by_type() {
    let check = |value: Value| validate(&serde_json::from_value(value).unwrap());
    check(json!({"type": "cedarv1", "config": {"policies": [ANY]}})).unwrap();
    check(json!({"type": "httpv1", "config": {"http": {"url": "https://pdp"}, "claim_mapping": "mpe"}}))
        .unwrap();
    for bad in [
        json!({"type": "opa", "config": {"a": 1}}),
        json!({"type": "cedarv1", "config": {}}),
        json!({"type": "cedarv1", "config": {"policies": []}}),
        json!({"type": "cedarv1", "config": {"policies": ANY}}),
        json!({"type": "cedarv1", "config": {"policies": [ANY], "group_entity_type": "A::B"}}),
        json!({"type": "cedarv1", "config": {"policies": [ANY], "group_entity_type": "1A"}}),
        json!({"type": "httpv1", "config": {"claim_mapping": "mpe"}}),
        json!({"type": "httpv1", "config": {"http": {"url": "https://pdp"}, "claim_mapping": "x"}}),
    ] {
        assert!(check(bad.clone()).is_err(), "{bad}");
    }
}

/// Rules with an error in the second policy, one in the entities and one in the name of a type; and rules without,
/// in which the second policy has no effect.
#[cfg(feature = "policy")]
fn bad_and_good() -> [(Vec<&'static str>, &'static str, &'static str); 2] {
    let nobody = "permit(principal, action == Action::\"delete_tool\", resource);";
    [
        (vec![ANY, "permit(principal,\n action resource);"], "[{\"uid\": 1}]", "in"),
        (vec![ANY, nobody], "[]", "Team"),
    ]
}

#[cfg(feature = "policy")]
#[test]
fn wrong_cedar_is_told_at_its_field_with_line_and_column() {
    let [bad, good] = bad_and_good();
    let inline = |(policies, entities, group): (Vec<&str>, &str, &str)| {
        let rules = json!({"policies": policies, "entitiesJson": entities});
        let authz = json!({"type": "inline", "inline": rules, "groupEntityType": group});
        resolve("spec.authzConfig", serde_json::from_value(authz).ok().as_ref(), &References::new(), "web")
    };
    let message = inline(bad).unusable().unwrap().invalid.message.clone();
    assert!(message.starts_with("authzConfig: groupEntityType: is not a name"), "{message}");
    for place in ["; inline.policies[1]: line 2, column 9: ", "; inline.entitiesJson[0]: "] {
        assert!(message.contains(place), "{message}");
    }
    assert!(inline(good).usable().unwrap().notes[0].starts_with("inline.policies[1]: no request has"));
}

#[cfg(feature = "policy")]
#[test]
fn wrong_cedar_in_a_config_map_and_in_a_shared_object_is_told_by_their_keys() {
    let rules = |(policies, entities, group): (Vec<&str>, &str, &str)| json!({"policies": policies, "entities_json": entities, "group_entity_type": group});
    let in_map = |cedar: Value| {
        let text = json!({"version": "1.0", "type": "cedarv1", "cedar": cedar}).to_string();
        resolve("spec.authzConfig", Some(&from_map()), &map_with(&text), "web")
    };
    let shared = |cedar: Value| {
        document_of(&serde_json::from_value(json!({"type": "cedarv1", "config": cedar})).unwrap())
    };
    let [bad, good] = bad_and_good().map(rules);
    let message = in_map(bad.clone()).unusable().unwrap().invalid.message.clone();
    let map = "the key \"authz.json\" of the ConfigMap \"rules\": cedar.group_entity_type: ";
    assert!(message.starts_with(map), "{message}");
    let paths: Vec<_> = shared(bad).unwrap_err().iter().map(|invalid| invalid.path.clone()).collect();
    assert_eq!(paths, ["config.group_entity_type", "config.policies[1]", "config.entities_json[0]"]);
    for path in &paths {
        assert!(message.contains(&path.replace("config", "cedar")), "{message}");
    }
    assert!(in_map(good.clone()).usable().unwrap().notes[0].starts_with("cedar.policies[1]: no request has"));
    assert!(shared(good).unwrap().1[0].starts_with("config.policies[1]: no request has"));
}
