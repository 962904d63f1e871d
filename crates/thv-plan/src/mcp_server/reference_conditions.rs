//! What the conditions of a server say about what it refers to.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::mcp_server::{
    AuthServerRefValidated, AuthzConfigRefValidated, CABundleRefValidated, ExternalAuthConfigValidated,
    GroupRefValidated, OIDCConfigRefValidated, SettingsIgnored, TelemetryConfigRefValidated,
    WebhookConfigValidated,
};
use thv_api::conditions::{Observation, Reason};
use thv_api::kinds::{MCPGroupSpec, MCPServerSpec, VirtualMCPServerSpec};
use thv_api::shared::{SessionProvider, SessionStorage};

use super::resolved::Resolved;
use super::restart;
use crate::resolve::{Cause, ExternalAuthMethod, Outcome, Unusable};
use crate::rotation;
use crate::snapshot::Snapshot;

/// A condition for each reference that has one. A reference that is gone has none.
pub(super) fn references(
    snapshot: &Snapshot<MCPServerSpec>,
    resolved: &Resolved,
    observe: &Observation<'_>,
) -> Vec<Condition> {
    let Resolved {
        // These have no condition of their own: what is wrong with them is told by `Ready`.
        tool_config: _,
        authz_config: _,
        permission_profile: _,
        session_redis: _,
        secrets: _,
        telemetry,
        external_auth,
        auth_server,
        webhooks,
        oidc,
        oidc_ca_bundle,
        authz_config_ref,
        group,
    } = resolved;
    [
        tell(
            telemetry,
            "the telemetry settings",
            Some(TelemetryConfigRefValidated::Valid),
            absent_or(TelemetryConfigRefValidated::NotFound, TelemetryConfigRefValidated::Invalid),
            observe,
        ),
        tell(external_auth, "the external authentication settings", None, external_auth_reason, observe),
        tell(
            auth_server,
            "the authorization server",
            Some(AuthServerRefValidated::Valid),
            auth_server_reason,
            observe,
        ),
        tell(webhooks, "the webhooks", None, |_| WebhookConfigValidated::Invalid, observe),
        tell(
            oidc,
            "the identity provider",
            Some(OIDCConfigRefValidated::Valid),
            absent_or(OIDCConfigRefValidated::NotFound, OIDCConfigRefValidated::NotValid),
            observe,
        ),
        tell(
            oidc_ca_bundle,
            "the certificate authorities",
            Some(CABundleRefValidated::Valid),
            absent_or(CABundleRefValidated::NotFound, CABundleRefValidated::Invalid),
            observe,
        ),
        tell(
            authz_config_ref,
            "the authorization rules",
            Some(AuthzConfigRefValidated::Valid),
            absent_or(AuthzConfigRefValidated::NotFound, AuthzConfigRefValidated::NotValid),
            observe,
        ),
        tell(
            group,
            "the group",
            Some(GroupRefValidated::Valid),
            absent_or(GroupRefValidated::NotFound, GroupRefValidated::NotReady),
            observe,
        ),
        ignored(snapshot, resolved, observe),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What there is to say about a reference. Some conditions are only there when something is wrong.
fn tell<T, R: Reason>(
    outcome: &Outcome<T>,
    what: &str,
    valid: Option<R>,
    reason: impl Fn(Cause) -> R,
    observe: &Observation<'_>,
) -> Option<Condition> {
    match outcome {
        Outcome::NotReferenced => None,
        Outcome::Usable(_) => Some(observe.condition(valid?, format!("{what} can be used"))),
        Outcome::Unusable(Unusable { cause, invalid }) => {
            Some(observe.condition(reason(*cause), &invalid.message))
        }
    }
}

/// The reasons of a condition that only tells whether something is there from what else is wrong with it.
fn absent_or<R: Reason>(absent: R, otherwise: R) -> impl Fn(Cause) -> R {
    move |cause| if cause == Cause::Absent { absent } else { otherwise }
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

const fn auth_server_reason(cause: Cause) -> AuthServerRefValidated {
    match cause {
        Cause::Absent => AuthServerRefValidated::NotFound,
        Cause::WrongType => AuthServerRefValidated::InvalidType,
        Cause::SeveralUpstreams => AuthServerRefValidated::MultiUpstreamNotSupported,
        Cause::Incomplete | Cause::Invalid | Cause::Unfit | Cause::Unsupported => {
            AuthServerRefValidated::InvalidConfig
        }
    }
}

/// Settings that are there and mean nothing here.
fn ignored(
    snapshot: &Snapshot<MCPServerSpec>,
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
        .chain(idle_redis(&snapshot.owner.spec))
        .chain(idle_auth(snapshot, resolved))
        .chain(restart::misunderstanding(snapshot))
        .chain(rotation::invalid_annotation(&snapshot.owner.metadata))
        .collect();
    (!notes.is_empty()).then(|| observe.condition(SettingsIgnored::WithoutEffect, notes.join("; ")))
}

/// Credentials that only a virtual server in front of this one would use, where there is none.
fn idle_auth(snapshot: &Snapshot<MCPServerSpec>, resolved: &Resolved) -> Option<String> {
    let ExternalAuthMethod::ByGateway(type_) = &resolved.external_auth.usable()?.method else { return None };
    let (spec, known) = (&snapshot.owner.spec, &snapshot.references);
    let group = spec.group_ref.as_ref().map(|group| group.name.as_str());
    let offers = |group: &str| !known.referrers::<VirtualMCPServerSpec, MCPGroupSpec>(group).is_empty();
    let missing = match group {
        Some(group) if offers(group) => return None,
        Some(group) => format!("no VirtualMCPServer offers the group {group:?}: create one"),
        None => "the server is in no group: set groupRef".to_owned(),
    };
    Some(format!(
        "spec.externalAuthConfigRef: type {type_} has no effect on the proxy of an MCPServer, only on a VirtualMCPServer \
         that offers the server, and {missing}, or remove the reference"
    ))
}

/// Settings of Redis in a storage that is memory.
fn idle_redis(spec: &MCPServerSpec) -> Option<String> {
    let SessionStorage { provider, address, db, key_prefix, password_ref } = spec.session_storage.as_ref()?;
    let any = address.is_some() || *db != 0 || key_prefix.is_some() || password_ref.is_some();
    let idle = any && *provider == SessionProvider::Memory;
    idle.then(|| {
        "spec.sessionStorage: settings of Redis have no effect on provider memory: remove them".to_owned()
    })
}
