//! The document with every key has every key.

use thv_config::{Json, audit, rate_limit, telemetry, vmcp};

#[path = "../support/mod.rs"]
mod support;

use crate::support::{EVERY_KEY, tree};
use support::fields_of;

/// Says that the object at a pointer of the document has all keys of a type, in order, apart from some.
macro_rules! has_every_key {
    ($( $pointer:literal $type:ty $(, but $absent:expr)? );+ $(;)?) => {{
        let document = tree(EVERY_KEY);
        $(
            let object = $pointer.split('/').skip(1).fold(&document, |json, step| match json {
                Json::Array(items) => &items[step.parse::<usize>().unwrap()],
                _ => json.get(step).unwrap_or_else(|| panic!("no {} in {}", step, $pointer)),
            });
            let Json::Object(members) = object else { panic!("{} is no object", $pointer) };
            let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
            let absent: &[&str] = &[ $( $absent )? ];
            let fields: Vec<&str> =
                fields_of::<$type>().into_iter().filter(|field| !absent.contains(field)).collect();
            assert_eq!(keys, fields, "{}", $pointer);
        )+
    }};
}

#[test]
fn every_key_is_tried() {
    has_every_key! {
        "" vmcp::VmcpConfig;
        "/backends/0" vmcp::Backend;
        "/incomingAuth" vmcp::IncomingAuth;
        "/incomingAuth/oidc" vmcp::IncomingOidc;
        "/incomingAuth/authz" vmcp::Authz;
        "/outgoingAuth" vmcp::OutgoingAuth;
        "/outgoingAuth/default/headerInjection" vmcp::HeaderInjection, but "headerValue";
        "/outgoingAuth/backends/b-exchange/tokenExchange" vmcp::TokenExchange, but "clientSecret";
        "/outgoingAuth/backends/c-upstream/upstreamInject" vmcp::UpstreamInject;
        "/outgoingAuth/backends/d-aws/awsSts" vmcp::AwsSts;
        "/outgoingAuth/backends/d-aws/awsSts/roleMappings/0" vmcp::RoleMapping, but "matcher";
        "/outgoingAuth/backends/e-obo/obo" vmcp::OnBehalfOf, but "clientSecret";
        "/aggregation" vmcp::Aggregation;
        "/aggregation/conflictResolutionConfig" vmcp::ConflictResolutionConfig;
        "/aggregation/tools/0" vmcp::WorkloadTools;
        "/aggregation/tools/0/overrides/list_issues" vmcp::ToolOverride;
        "/aggregation/tools/0/overrides/list_issues/annotations" vmcp::ToolAnnotations;
        "/compositeTools/0" vmcp::CompositeTool;
        "/compositeTools/0/steps/0/onError" vmcp::StepErrorHandling;
        "/compositeTools/0/steps/1/onCancel" vmcp::ElicitationHandling;
        "/compositeTools/0/output" vmcp::Output;
        "/compositeToolRefs/0" vmcp::CompositeToolRef;
        "/operational" vmcp::Operational;
        "/operational/timeouts" vmcp::Timeouts;
        "/operational/failureHandling" vmcp::FailureHandling;
        "/operational/failureHandling/circuitBreaker" vmcp::CircuitBreaker;
        "/telemetry" telemetry::TelemetryConfig;
        "/audit" audit::AuditConfig;
        "/optimizer" vmcp::Optimizer;
        "/codeMode" vmcp::CodeMode;
        "/sessionStorage" vmcp::SessionStorage;
        "/rateLimiting" rate_limit::RateLimitConfig;
        "/rateLimiting/shared" rate_limit::RateLimitBucket;
        "/rateLimiting/tools/0" rate_limit::ToolRateLimit;
    }
}

#[test]
fn every_key_of_a_step_is_tried() {
    let document = tree(EVERY_KEY);
    let Some(Json::Array(tools)) = document.get("compositeTools") else { panic!("no tools") };
    let Some(Json::Array(steps)) = tools[0].get("steps") else { panic!("no steps") };
    let missing: Vec<&str> = fields_of::<vmcp::Step>()
        .into_iter()
        .filter(|field| steps.iter().all(|step| step.get(field).is_none()))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn every_strategy_is_tried() {
    let document = tree(EVERY_KEY);
    let Some(Json::Object(backends)) = document.get("outgoingAuth").and_then(|auth| auth.get("backends"))
    else {
        panic!("no backends")
    };
    let keys: Vec<&str> = backends
        .iter()
        .filter_map(|(_, strategy)| match strategy {
            Json::Object(members) => members.last().map(|(key, _)| key.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(keys, ["type", "tokenExchange", "upstreamInject", "awsSts", "obo", "xaa"]);
    let fields = fields_of::<vmcp::AuthStrategy>();
    assert_eq!(fields.len(), 7, "a type, and one object for each strategy but one: {fields:?}");
}
