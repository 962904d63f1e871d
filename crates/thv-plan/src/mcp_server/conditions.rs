//! What the conditions of a server say, besides those about its references.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::conditions::mcp_server::{
    AuthzPrimaryUpstreamProviderIgnored, AutoscalerConflict, OverridesAccepted, PodTemplateValid,
    RateLimitConfigValid, SessionStorageWarning, SpecValid, StdioReplicaCapped,
};
use thv_api::kinds::{MCPServerSpec, Transport};
use thv_api::shared::{RateLimiting, SessionProvider};

use super::replicas;
use crate::invalid::{Invalid, InvalidList};
use crate::overrides::IgnoredOverrides;
use crate::snapshot::Snapshot;

/// The conditions that follow from the spec alone, or from it and what is there. None of them stops anything.
pub(super) fn advisory(snapshot: &Snapshot<MCPServerSpec>, observe: &Observation<'_>) -> Vec<Condition> {
    let spec = &snapshot.owner.spec;
    let mut all =
        vec![stdio_cap(spec, observe), session_storage(snapshot, observe), rate_limits(spec, observe)];
    all.extend(autoscalers(snapshot, observe));
    all.extend(ignored_provider(spec, observe));
    all
}

fn stdio_cap(spec: &MCPServerSpec, observe: &Observation<'_>) -> Condition {
    if replicas::is_capped(spec) {
        let wanted = spec.replicas.unwrap_or_default();
        let message = format!(
            "one replica runs in place of {wanted}: a stdio server has one proxy at most; use another transport \
             for more"
        );
        observe.condition(StdioReplicaCapped::CapAt1, message)
    } else {
        observe.condition(StdioReplicaCapped::NotActive, "the transport allows as many replicas as asked for")
    }
}

/// Several proxies that do not share sessions lose them. A Redis of the whole operator counts for servers that do not
/// say where sessions are to be kept.
fn session_storage(snapshot: &Snapshot<MCPServerSpec>, observe: &Observation<'_>) -> Condition {
    let spec = &snapshot.owner.spec;
    let shared = match spec.session_storage.as_ref().map(|storage| storage.provider) {
        Some(SessionProvider::Redis) => true,
        Some(SessionProvider::Memory) => false,
        None => snapshot.settings.default_redis.is_some(),
    };
    match spec.replicas {
        Some(count) if count > 1 && shared => {
            observe.condition(SessionStorageWarning::Configured, "all replicas share the sessions in Redis")
        }
        Some(count) if count > 1 => observe.condition(
            SessionStorageWarning::Missing,
            format!(
                "{count} replicas do not share sessions: a client that reaches another one has to start over; set \
                 sessionStorage.provider to redis"
            ),
        ),
        Some(_) => observe.condition(
            SessionStorageWarning::NotApplicable,
            "there is one replica at most, which keeps its sessions itself",
        ),
        None => {
            observe.condition(SessionStorageWarning::NotApplicable, "the number of replicas is left to others")
        }
    }
}

fn rate_limits(spec: &MCPServerSpec, observe: &Observation<'_>) -> Condition {
    let identified = spec.oidc_config_ref.is_some() || spec.external_auth_config_ref.is_some();
    match &spec.rate_limiting {
        None => observe.condition(RateLimitConfigValid::NotApplicable, "there are no limits"),
        Some(limits) if limits_users(limits) && !identified => observe.condition(
            RateLimitConfigValid::PerUserRequiresAuth,
            "limits per user need to know the user: set oidcConfigRef or externalAuthConfigRef, or remove perUser",
        ),
        Some(_) => observe.condition(RateLimitConfigValid::Valid, "the limits can be enforced"),
    }
}

fn limits_users(limits: &RateLimiting) -> bool {
    let RateLimiting { shared: _, per_user, tools } = limits;
    per_user.is_some() || tools.iter().flatten().any(|tool| tool.per_user.is_some())
}

fn autoscalers(snapshot: &Snapshot<MCPServerSpec>, observe: &Observation<'_>) -> Option<Condition> {
    let mut names = snapshot.live.autoscalers.clone();
    if names.is_empty() {
        return None;
    }
    names.sort();
    let names = names.join(", ");
    let spec = &snapshot.owner.spec;
    match (spec.replicas, spec.transport) {
        (Some(count), _) => Some(observe.condition(
            AutoscalerConflict::ReplicasSet,
            format!(
                "the autoscaler {names} targets the Deployment, and spec.replicas is {count}: what the autoscaler \
                 sets is set back; remove spec.replicas, or the autoscaler"
            ),
        )),
        (None, Transport::Stdio) => Some(observe.condition(
            AutoscalerConflict::StdioTransport,
            format!(
                "the autoscaler {names} targets the Deployment of a stdio server, which has one proxy at most: \
                 remove the autoscaler, or use another transport"
            ),
        )),
        (None, Transport::StreamableHttp | Transport::Sse) => None,
    }
}

fn ignored_provider(spec: &MCPServerSpec, observe: &Observation<'_>) -> Option<Condition> {
    let rules = spec.authz_config.as_ref()?.inline.as_ref()?;
    rules.primary_upstream_provider.as_ref().filter(|provider| !provider.is_empty())?;
    Some(observe.condition(
        AuthzPrimaryUpstreamProviderIgnored::Ignored,
        "authzConfig.inline.primaryUpstreamProvider has no effect on an MCPServer: remove it",
    ))
}

/// Whether all overrides were accepted. Without any there is nothing to say.
pub(super) fn overrides(
    any: bool,
    ignored: &IgnoredOverrides,
    observe: &Observation<'_>,
) -> Option<Condition> {
    if !ignored.is_empty() {
        return Some(observe.condition(OverridesAccepted::ReservedNames, ignored.message()));
    }
    any.then(|| observe.condition(OverridesAccepted::Accepted, "nothing that was added had to be left out"))
}

/// Whether the pod template can be used. Without one there is nothing to say.
pub(super) fn pod_template(
    result: Option<&Result<(), Invalid>>,
    observe: &Observation<'_>,
) -> Option<Condition> {
    Some(match result? {
        Ok(()) => observe.condition(PodTemplateValid::Valid, "podTemplateSpec is a pod template"),
        Err(invalid) => observe.condition(PodTemplateValid::Invalid, invalid.to_string()),
    })
}

/// Whether the spec makes sense by itself.
pub(super) fn spec_valid(
    invalid: &InvalidList,
    taken: Option<&String>,
    observe: &Observation<'_>,
) -> Condition {
    match (invalid.is_empty(), taken) {
        (true, None) => observe.condition(SpecValid::Valid, "the spec makes sense by itself"),
        (true, Some(taken)) => observe.condition(SpecValid::NameTaken, taken),
        (false, _) => observe.condition(SpecValid::Invalid, invalid.to_string()),
    }
}
