//! What those conditions say that only an `MCPServer` has.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::conditions::mcp_server::{
    ExternalAuthConfigValidated, RateLimitConfigValid, SpecValid, StdioReplicaCapped,
    TelemetryConfigRefValidated, WebhookConfigValidated,
};
use thv_api::kinds::MCPServerSpec;
use thv_api::shared::RateLimiting;

use crate::deployed::replicas;
use crate::invalid::InvalidList;
use crate::proxied::Findings;
use crate::reference_conditions::{absent_or, tell};
use crate::resolve::Cause;

/// All of them. What is wrong with a reference that has no condition is told by `Ready`.
pub(super) fn own(findings: &Findings<'_, MCPServerSpec>, observe: &Observation<'_>) -> Vec<Condition> {
    let (spec, resolved) = (&findings.snapshot.owner.spec, findings.resolved);
    let mut all = vec![
        stdio_cap(spec, observe),
        rate_limits(spec, observe),
        spec_valid(&findings.invalid, findings.taken.as_ref(), observe),
    ];
    all.extend(tell(
        &resolved.telemetry,
        "the telemetry settings",
        Some(TelemetryConfigRefValidated::Valid),
        absent_or(TelemetryConfigRefValidated::NotFound, TelemetryConfigRefValidated::Invalid),
        observe,
    ));
    let auth = "the external authentication settings";
    all.extend(tell(&resolved.external_auth, auth, None, external_auth_reason, observe));
    all.extend(tell(&resolved.webhooks, "the webhooks", None, |_| WebhookConfigValidated::Invalid, observe));
    all
}

const fn external_auth_reason(cause: Cause) -> ExternalAuthConfigValidated {
    match cause {
        Cause::Absent => ExternalAuthConfigValidated::InvalidExternalAuthConfig,
        Cause::Invalid => ExternalAuthConfigValidated::ValidationFailed,
        Cause::Unsupported => ExternalAuthConfigValidated::EnterpriseRequired,
        Cause::SeveralUpstreams => ExternalAuthConfigValidated::MultiUpstreamNotSupported,
        Cause::Incomplete | Cause::WrongType | Cause::Unfit => ExternalAuthConfigValidated::InvalidConfig,
    }
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

/// Whether the spec makes sense by itself.
fn spec_valid(invalid: &InvalidList, taken: Option<&String>, observe: &Observation<'_>) -> Condition {
    match (invalid.is_empty(), taken) {
        (true, None) => observe.condition(SpecValid::Valid, "the spec makes sense by itself"),
        (true, Some(taken)) => observe.condition(SpecValid::NameTaken, taken),
        (false, _) => observe.condition(SpecValid::Invalid, invalid.to_string()),
    }
}
