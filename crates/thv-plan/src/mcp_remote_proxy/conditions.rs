//! What those conditions say that only an `MCPRemoteProxy` has.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::conditions::mcp_remote_proxy::{
    AuthConfigured, ConfigurationValid, ExternalAuthConfigValidated, ToolConfigValidated,
};
use thv_api::kinds::MCPRemoteProxySpec;

use super::checks::REMOTE_URL;
use crate::proxied::{Findings, Resolved};
use crate::reference_conditions::{self, absent_or, tell};
use crate::resolve::{Cause, Outcome, Unusable};

/// All of them.
pub(super) fn own(findings: &Findings<'_, MCPRemoteProxySpec>, observe: &Observation<'_>) -> Vec<Condition> {
    let resolved = findings.resolved;
    [
        Some(configuration(findings, observe)),
        auth(resolved, observe),
        tell(
            &resolved.tool_config,
            "the choice of tools",
            Some(ToolConfigValidated::Valid),
            absent_or(ToolConfigValidated::NotFound, ToolConfigValidated::Invalid),
            observe,
        ),
        reference_conditions::telemetry(&resolved.telemetry, observe),
        tell(
            &resolved.external_auth,
            "the external authentication settings",
            Some(ExternalAuthConfigValidated::Valid),
            external_auth_reason,
            observe,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether the spec makes sense, with what it names beside objects of the API: those have conditions of their own.
fn configuration(findings: &Findings<'_, MCPRemoteProxySpec>, observe: &Observation<'_>) -> Condition {
    let is_inline = findings.snapshot.owner.spec.authz_config.as_ref().is_some_and(|it| it.inline.is_some());
    let Resolved { headers, authz_config, session_redis, .. } = findings.resolved;
    let taken = findings.taken.iter().map(|message| (ConfigurationValid::NameTaken, message.clone()));
    let invalid = findings.invalid.iter().map(|invalid| {
        let is_url = invalid.path == REMOTE_URL;
        let reason =
            if is_url { ConfigurationValid::RemoteURLInvalid } else { ConfigurationValid::InvalidSpec };
        (reason, invalid.to_string())
    });
    let wrong: Vec<(ConfigurationValid, String)> = taken
        .chain(invalid)
        .chain(because(headers, |cause| match cause {
            Cause::Absent | Cause::Incomplete => ConfigurationValid::HeaderSecretNotFound,
            _ => ConfigurationValid::InvalidSpec,
        }))
        .chain(because(authz_config, |cause| match cause {
            _ if is_inline => ConfigurationValid::AuthzPolicySyntaxInvalid,
            Cause::Absent | Cause::Incomplete => ConfigurationValid::AuthzConfigMapNotFound,
            _ => ConfigurationValid::AuthzConfigMapInvalid,
        }))
        .chain(because(session_redis, |_| ConfigurationValid::InvalidSpec))
        .collect();
    let Some((reason, _)) = wrong.first() else {
        return observe.condition(ConfigurationValid::Valid, "the spec makes sense by itself");
    };
    let messages: Vec<&str> = wrong.iter().map(|(_, message)| message.as_str()).collect();
    observe.condition(*reason, messages.join("; "))
}

fn because<T>(
    outcome: &Outcome<T>,
    reason: impl Fn(Cause) -> ConfigurationValid,
) -> Option<(ConfigurationValid, String)> {
    let Unusable { cause, invalid } = outcome.unusable()?;
    Some((reason(*cause), invalid.message.clone()))
}

/// Whether callers are checked and signed in as the spec asks. Without any of that there is nothing to say.
fn auth(resolved: &Resolved, observe: &Observation<'_>) -> Option<Condition> {
    let Resolved {
        oidc,
        oidc_ca_bundle,
        authz_config,
        authz_config_ref,
        external_auth,
        auth_server,
        // Nothing of these is about who calls.
        tool_config: _,
        telemetry: _,
        webhooks: _,
        permission_profile: _,
        session_redis: _,
        secrets: _,
        headers: _,
        group: _,
    } = resolved;
    let all = [
        say(oidc),
        say(oidc_ca_bundle),
        say(authz_config),
        say(authz_config_ref),
        say(external_auth),
        say(auth_server),
    ];
    let referenced: Vec<Result<(), &str>> = all.into_iter().flatten().collect();
    let wrong: Vec<&str> = referenced.iter().filter_map(|one| one.err()).collect();
    if referenced.is_empty() {
        return None;
    }
    Some(if wrong.is_empty() {
        observe.condition(AuthConfigured::Valid, "callers are checked and signed in as the spec asks")
    } else {
        observe.condition(AuthConfigured::Invalid, wrong.join("; "))
    })
}

/// What came of a reference, if there is one.
fn say<T>(outcome: &Outcome<T>) -> Option<Result<(), &str>> {
    match outcome {
        Outcome::NotReferenced => None,
        Outcome::Usable(_) => Some(Ok(())),
        Outcome::Unusable(unusable) => Some(Err(&unusable.invalid.message)),
    }
}

const fn external_auth_reason(cause: Cause) -> ExternalAuthConfigValidated {
    match cause {
        Cause::Absent => ExternalAuthConfigValidated::NotFound,
        Cause::Invalid => ExternalAuthConfigValidated::ValidationFailed,
        Cause::Unsupported => ExternalAuthConfigValidated::EnterpriseRequired,
        Cause::SeveralUpstreams => ExternalAuthConfigValidated::MultiUpstreamNotSupported,
        Cause::Incomplete | Cause::WrongType | Cause::Unfit => ExternalAuthConfigValidated::InvalidConfig,
    }
}
