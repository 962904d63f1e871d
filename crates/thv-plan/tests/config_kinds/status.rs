//! The status of configuration.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use serde_json::json;
use thv_api::conditions::Observation;
use thv_api::kinds::{MCPExternalAuthConfigSpec, MCPOIDCConfigSpec};
use thv_api::names::finalizers;
use thv_api::shared::ConfigStatus;
use thv_plan::resolve::config_hash;
use thv_plan::{Deletion, Failure, Planned, Target};

use crate::support::{object, samples, status};

fn condition<'a>(status: &'a ConfigStatus, type_: &str) -> Option<&'a Condition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == type_)
}

/// The status, the reason and the message of a condition.
fn told<'a>(status: &'a ConfigStatus, type_: &str) -> (&'a str, &'a str, &'a str) {
    let found = condition(status, type_).unwrap_or_else(|| panic!("there is no {type_}"));
    (found.status.as_str(), found.reason.as_str(), found.message.as_str())
}

#[test]
fn every_kind_says_whether_it_can_be_used_and_keeps_the_digest_of_what_could() {
    for sample in samples() {
        let kind = sample.kind;
        let good = (sample.status)(&sample.good, None, 1);
        assert_eq!(&told(&good, "Valid").0, &"True", "{kind}");
        assert_eq!(told(&good, "Valid").1, sample.reasons[0], "{kind}");
        assert!(good.config_hash.is_some() && good.observed_generation == Some(1), "{kind}");

        let bad = (sample.status)(&sample.bad, Some(&good), 2);
        let (status, reason, message) = told(&bad, "Valid");
        assert_eq!((status, reason), ("False", sample.reasons[1]), "{kind}");
        assert!(message.contains(": "), "{kind}: the message names a field: {message}");
        assert_eq!(
            bad.config_hash, good.config_hash,
            "{kind}: those who refer to it stay with what was valid"
        );
        assert_eq!(bad.observed_generation, Some(2), "{kind}");

        let again = (sample.status)(&sample.good, Some(&bad), 3);
        assert_eq!((told(&again, "Valid").0, &again.config_hash), ("True", &good.config_hash), "{kind}");
    }
}

#[test]
fn objects_that_the_go_operator_made_can_be_deleted_under_ours() {
    let expected = [
        finalizers::MCP_TOOL_CONFIG,
        finalizers::MCP_OIDC_CONFIG,
        finalizers::MCP_TELEMETRY_CONFIG,
        finalizers::MCP_AUTHZ_CONFIG,
        finalizers::MCP_EXTERNAL_AUTH_CONFIG,
        finalizers::MCP_WEBHOOK_CONFIG,
    ];
    let found: Vec<_> = samples().iter().map(|sample| sample.finalizer.unwrap()).collect();
    assert_eq!(found, expected);
}

fn issuer() -> serde_json::Value {
    json!({"type": "inline", "inline": {"issuer": "https://i"}})
}

fn referrers() -> [Target; 2] {
    ["VirtualMCPServer", "MCPServer"].map(|kind| Target { kind, name: "web".to_owned() })
}

#[test]
fn who_refers_to_an_object_is_named() {
    let config = || object::<MCPOIDCConfigSpec>(&issuer(), None, 1);
    let alone = status(config(), &[]);
    assert_eq!(&told(&alone, "Referenced").0, &"False");
    let wanted = status(config(), &referrers());
    assert_eq!(told(&wanted, "Referenced"), ("True", "Referenced", "MCPServer web; VirtualMCPServer web"));
    assert_eq!(MCPOIDCConfigSpec::urgent(&alone), MCPOIDCConfigSpec::urgent(&wanted), "that can wait");
    assert_eq!(condition(&wanted, "DeletionBlocked"), None);
}

#[test]
fn an_object_that_is_being_deleted_says_who_keeps_it() {
    let Deletion::BlockedWhileReferenced { status: blocked } = MCPOIDCConfigSpec::DELETION else {
        panic!("it is not kept")
    };
    let config = object::<MCPOIDCConfigSpec>(&issuer(), None, 2);
    let observe = Observation::new(2, Timestamp::UNIX_EPOCH, &[]);
    let status = blocked(&config, &observe, &referrers());
    let (is_blocked, reason, message) = told(&status, "DeletionBlocked");
    assert_eq!((is_blocked, reason), ("True", "ReferencedByWorkloads"));
    assert!(message.contains("MCPServer web; VirtualMCPServer web"), "{message}");
    assert_eq!(told(&status, "Valid").0, "True", "those who refer to it can still use it");
    assert_eq!(status.config_hash, Some(config_hash(&config.spec)));
}

#[test]
fn what_cannot_be_told_leaves_what_was_said_of_everything_else() {
    let before = status(object::<MCPOIDCConfigSpec>(&issuer(), None, 1), &referrers());
    let observe = Observation::new(2, Timestamp::UNIX_EPOCH, &[]);
    let unknown = Failure::Unknown("no answer".to_owned());
    let after = MCPOIDCConfigSpec::failing_status(Some(&before), &observe, &unknown);
    assert_eq!(told(&after, "Valid").0, "Unknown");
    assert_eq!(condition(&after, "Referenced"), condition(&before, "Referenced"));
    assert_eq!((&after.config_hash, after.observed_generation), (&before.config_hash, Some(1)));
    let malformed = Failure::Malformed("spec.type: what?".to_owned());
    let after = MCPOIDCConfigSpec::failing_status(Some(&before), &observe, &malformed);
    assert_eq!((told(&after, "Valid").0, after.observed_generation), ("False", Some(2)));
}

#[test]
fn what_this_build_cannot_do_is_not_called_invalid() {
    let spec = json!({"type": "obo", "obo": {}});
    let status = status(object::<MCPExternalAuthConfigSpec>(&spec, None, 1), &[]);
    assert_eq!(&told(&status, "Valid").1, &"EnterpriseRequired");
}

#[test]
fn providers_that_do_not_say_who_the_user_is_are_named() {
    let provider = |name: &str, more: serde_json::Value| {
        let mut config = json!({
            "authorizationEndpoint": "https://p/authorize", "tokenEndpoint": "https://p/token", "clientId": "c",
        });
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"name": name, "type": "oauth2", "oauth2Config": config})
    };
    let told_of = |providers: serde_json::Value| {
        let server = json!({"issuer": "https://i", "upstreamProviders": providers});
        let spec = json!({"type": "embeddedAuthServer", "embeddedAuthServer": server});
        status(object::<MCPExternalAuthConfigSpec>(&spec, None, 1), &[])
    };
    let known = provider("known", json!({"identityFromToken": {"subjectPath": "sub"}}));
    let both = told_of(json!([provider("silent", json!({})), known]));
    let (status, reason, message) = told(&both, "IdentitySynthesized");
    assert_eq!((status, reason), ("True", "OAuth2UpstreamWithoutUserInfo"));
    assert!(message.contains("silent") && !message.contains("known,"), "{message}");
    let all = told_of(json!([provider("known", json!({"userInfo": {"endpointUrl": "https://p/me"}}))]));
    assert_eq!(told(&all, "IdentitySynthesized").0, "False");
}
