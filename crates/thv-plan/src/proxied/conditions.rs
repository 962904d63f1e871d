//! What the conditions say that all kinds with a proxy have.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::conditions::common::{
    AuthServerRefValidated, AuthzPrimaryUpstreamProviderIgnored, CABundleRefValidated, GroupRefValidated,
    PodTemplateValid, SettingsIgnored,
};
use thv_api::kinds::{MCPGroupSpec, VirtualMCPServerSpec};
use thv_api::shared::AuthzConfig;

use super::{Findings, Proxied, Resolved};
use crate::deployed::conditions::{autoscalers, idle_redis, pod_template, session_storage};
use crate::deployed::restart;
use crate::reference_conditions::{self, absent_or, auth_server_reason, tell};
use crate::resolve::ExternalAuthMethod;
use crate::rotation;
use crate::snapshot::Snapshot;

/// The conditions that all of these kinds have. A reference that is gone has none.
pub(super) fn common<S: Proxied>(findings: &Findings<'_, S>, observe: &Observation<'_>) -> Vec<Condition> {
    let (snapshot, resolved) = (findings.snapshot, findings.resolved);
    let spec = snapshot.owner.spec.proxy_spec();
    let Resolved {
        // The kinds tell of these in conditions of their own, or in `Ready`.
        tool_config: _,
        telemetry: _,
        external_auth: _,
        webhooks: _,
        authz_config: _,
        permission_profile: _,
        session_redis: _,
        secrets: _,
        headers: _,
        auth_server,
        oidc,
        oidc_ca_bundle,
        authz_config_ref,
        group,
    } = resolved;
    [
        Some(session_storage(snapshot, spec.session_storage, observe)),
        autoscalers(snapshot, observe),
        ignored_provider::<S>(spec.authz_config, observe),
        tell(
            auth_server,
            "the authorization server",
            Some(AuthServerRefValidated::Valid),
            auth_server_reason,
            observe,
        ),
        reference_conditions::identity_provider(oidc, observe),
        tell(
            oidc_ca_bundle,
            "the certificate authorities",
            Some(CABundleRefValidated::Valid),
            absent_or(CABundleRefValidated::NotFound, CABundleRefValidated::Invalid),
            observe,
        ),
        reference_conditions::shared_rules(authz_config_ref, observe),
        tell(
            group,
            "the group",
            Some(GroupRefValidated::Valid),
            absent_or(GroupRefValidated::NotFound, GroupRefValidated::NotReady),
            observe,
        ),
        pod_template(
            findings.pod_template.as_ref(),
            PodTemplateValid::Valid,
            PodTemplateValid::Invalid,
            observe,
        ),
        ignored(snapshot, resolved, observe),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn ignored_provider<S: Proxied>(authz: Option<&AuthzConfig>, observe: &Observation<'_>) -> Option<Condition> {
    let rules = authz?.inline.as_ref()?;
    rules.primary_upstream_provider.as_ref().filter(|provider| !provider.is_empty())?;
    let message =
        format!("authzConfig.inline.primaryUpstreamProvider has no effect on an {}: remove it", S::KIND);
    Some(observe.condition(AuthzPrimaryUpstreamProviderIgnored::Ignored, message))
}

/// Settings that are there and mean nothing here.
fn ignored<S: Proxied>(
    snapshot: &Snapshot<S>,
    resolved: &Resolved,
    observe: &Observation<'_>,
) -> Option<Condition> {
    let notes = [
        ("toolConfigRef", resolved.tool_config.usable().map(|it| &it.notes)),
        ("telemetryConfigRef", resolved.telemetry.usable().map(|it| &it.config.notes)),
        ("externalAuthConfigRef", resolved.external_auth.usable().map(|it| &it.notes)),
        ("authServerRef", resolved.auth_server.usable().map(|it| &it.notes)),
        ("webhookConfigRef", resolved.webhooks.usable().map(|it| &it.notes)),
        ("oidcConfigRef", resolved.oidc.usable().map(|it| &it.config.notes)),
        ("authzConfigRef", resolved.authz_config_ref.usable().map(|it| &it.notes)),
        ("authzConfig", resolved.authz_config.usable().map(|it| &it.notes)),
        ("permissionProfile", resolved.permission_profile.usable().map(|it| &it.notes)),
    ];
    let notes: Vec<String> = notes
        .into_iter()
        .flat_map(|(field, notes)| {
            notes.into_iter().flatten().map(move |note| format!("spec.{field}: {note}"))
        })
        .chain(idle_redis(snapshot.owner.spec.proxy_spec().session_storage))
        .chain(idle_auth(snapshot, resolved))
        .chain(restart::misunderstanding(snapshot))
        .chain(rotation::invalid_annotation(&snapshot.owner.metadata))
        .collect();
    (!notes.is_empty()).then(|| observe.condition(SettingsIgnored::WithoutEffect, notes.join("; ")))
}

/// Credentials that only a virtual server in front of this one would use, where there is none.
fn idle_auth<S: Proxied>(snapshot: &Snapshot<S>, resolved: &Resolved) -> Option<String> {
    let ExternalAuthMethod::ByGateway(type_) = &resolved.external_auth.usable()?.method else { return None };
    let (spec, known) = (snapshot.owner.spec.proxy_spec(), &snapshot.references);
    let group = spec.group_ref.map(|group| group.name.as_str());
    let offers = |group: &str| !known.referrers::<VirtualMCPServerSpec, MCPGroupSpec>(group).is_empty();
    let missing = match group {
        Some(group) if offers(group) => return None,
        Some(group) => format!("no VirtualMCPServer offers the group {group:?}: create one"),
        None => "the server is in no group: set groupRef".to_owned(),
    };
    Some(format!(
        "spec.externalAuthConfigRef: type {type_} has no effect on the proxy of an {}, only on a VirtualMCPServer that \
         offers the server, and {missing}, or remove the reference",
        S::KIND
    ))
}
