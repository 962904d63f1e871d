//! Objects of every kind of configuration, and what a plan says of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPOIDCConfigSpec, MCPTelemetryConfigSpec,
    MCPToolConfigSpec, MCPWebhookConfigSpec,
};
use thv_api::shared::ConfigStatus;
use thv_api::{Kind, Object};
use thv_plan::{Children, Planned, Read, Reference, References, Referent, Settings, Snapshot, Target};

/// An object of the kind `S` with this spec and this status.
pub(crate) fn object<S: Kind>(spec: &Value, status: Option<&ConfigStatus>, generation: i64) -> Object<S> {
    let value = json!({
        "apiVersion": Object::<S>::api_version_text(), "kind": S::KIND,
        "metadata": {"name": "shared", "namespace": "ns", "uid": "u", "generation": generation},
        "spec": spec, "status": status,
    });
    serde_json::from_value(value).unwrap()
}

/// The status that a plan gives to an object to which these refer.
pub(crate) fn status<S: Planned<Live = ()> + Kind<Status = ConfigStatus>>(
    object: Object<S>,
    referrers: &[Target],
) -> ConfigStatus {
    let mut references = References::new();
    let query = Reference::referred_by::<S>("shared");
    assert_eq!(S::refs(&object, &references, &Settings::default()), [query.clone()].into());
    references.insert(query, Read::Found(Referent::Targets(referrers.to_vec())));
    let snapshot = Snapshot {
        owner: Arc::new(object),
        requested: BTreeMap::new(),
        references,
        live: (),
        settings: Arc::new(Settings::default()),
        now: "2026-11-16T10:00:00Z".parse().unwrap(),
    };
    let plan = S::plan(&snapshot);
    assert_eq!(plan.children, Children::Exactly(Vec::new()), "nothing is made for configuration");
    plan.status
}

/// A kind, a spec that can be used, one that cannot, and the reasons for both.
pub(crate) struct Sample {
    pub(crate) kind: &'static str,
    pub(crate) good: Value,
    pub(crate) bad: Value,
    pub(crate) reasons: [&'static str; 2],
    /// What a plan says of an object with this spec, this status and this generation.
    pub(crate) status: fn(&Value, Option<&ConfigStatus>, i64) -> ConfigStatus,
    pub(crate) finalizer: Option<&'static str>,
}

fn sample<S: Planned<Live = ()> + Kind<Status = ConfigStatus>>(
    good: Value,
    bad: Value,
    reasons: [&'static str; 2],
) -> Sample {
    Sample {
        kind: S::KIND,
        good,
        bad,
        reasons,
        status: |spec, before, generation| status(object::<S>(spec, before, generation), &[]),
        finalizer: S::FINALIZER,
    }
}

/// One of each kind.
pub(crate) fn samples() -> Vec<Sample> {
    const VALIDATED: [&str; 2] = ["ValidationSucceeded", "ValidationFailed"];
    const CHECKED: [&str; 2] = ["ConfigValid", "ConfigInvalid"];
    let inline = |issuer: &str| json!({"type": "inline", "inline": {"issuer": issuer}});
    let policy = |text: &str| json!({"type": "cedarv1", "config": {"policies": [text]}});
    let exchange =
        |url: &str| json!({"type": "tokenExchange", "tokenExchange": {"tokenUrl": url, "audience": "a"}});
    let webhook = |url: &str| json!({"validating": [{"name": "w", "url": url}]});
    vec![
        sample::<MCPToolConfigSpec>(
            json!({"toolsFilter": ["a"]}),
            json!({"toolsOverride": {"a": {"name": "x"}, "b": {"name": "x"}}}),
            VALIDATED,
        ),
        sample::<MCPOIDCConfigSpec>(inline("https://i"), inline("http://i"), CHECKED),
        sample::<MCPTelemetryConfigSpec>(
            json!({"prometheus": {"enabled": true}}),
            json!({"openTelemetry": {"endpoint": "c:4318"}}),
            VALIDATED,
        ),
        sample::<MCPAuthzConfigSpec>(policy("permit(principal, action, resource);"), policy(" "), CHECKED),
        sample::<MCPExternalAuthConfigSpec>(exchange("https://t"), exchange("t"), VALIDATED),
        sample::<MCPWebhookConfigSpec>(webhook("https://w"), webhook("http://w"), VALIDATED),
    ]
}
