//! What the conditions of a virtual server say.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::virtual_mcp_server::{
    AuthConfigured, AuthServerConfigValidated, AuthzUpstreamSelectionWarning, BackendAuthConfig,
    CompositeToolRefsValidated, DefaultAuthConfig, DiscoveredAuthConfig, EmbeddingServerReady,
    GroupRefValidated, IdentitySynthesized, MembersAccepted, OverridesAccepted, PodTemplateSpecValid,
    SettingsIgnored, Valid,
};
use thv_api::conditions::{Observation, Reason as _, find};
use thv_api::kinds::{
    EmbeddingServerPhase, EmbeddingServerSpec, IncomingAuthType, VirtualMCPServerSpec, VmcpConfig,
};

use super::findings::Findings;
use super::incoming::{Deprecated, Provider};
use super::outgoing::Subject;
use super::resolved::Resolved;
use crate::deployed::conditions::{autoscalers, idle_redis, overrides, pod_template, session_storage};
use crate::deployed::restart;
use crate::planned::Planned as _;
use crate::reference::Read;
use crate::reference_conditions::{self, absent_or, tell};
use crate::resolve::{Cause, Outcome, Unusable, auth_server};
use crate::rotation;
use crate::snapshot::Snapshot;

/// How many members a condition each says of that the server cannot sign in to them. All of them are named elsewhere.
const TOLD_MEMBERS: usize = 50;
/// How many characters of what is wrong with a member are told: others decide how much that is.
const TOLD_OF_MEMBER: usize = 300;

/// All conditions but for the one that says whether the server is ready.
pub(super) fn all(findings: &Findings<'_>, observe: &Observation<'_>) -> Vec<Condition> {
    let Findings { snapshot, resolved, .. } = findings;
    let spec = &snapshot.owner.spec;
    let mut all = references(resolved, observe);
    all.push(valid(findings, observe));
    all.extend(pod_template(
        findings.pod_template.as_ref(),
        PodTemplateSpecValid::Valid,
        PodTemplateSpecValid::Invalid,
        observe,
    ));
    all.push(session_storage(snapshot, spec.session_storage.as_ref(), observe));
    all.extend(autoscalers(snapshot, observe));
    all.extend(match &findings.ignored {
        Some(ignored) => overrides(spec.pod_template_spec.is_some(), ignored, observe),
        // It did not come to that, so what was said last holds.
        None => snapshot.owner.status.as_ref().and_then(|status| {
            find(VirtualMCPServerSpec::conditions(status), OverridesAccepted::TYPE).cloned()
        }),
    });
    all.extend(embedding_server(snapshot, resolved, observe));
    all.extend(auth_server_config(findings, observe));
    all.extend(identities(spec, observe));
    all.push(auth_configured(resolved, observe));
    all.extend(signing_in(resolved, observe));
    all.push(members(resolved, observe));
    all.extend(ignored_settings(findings, observe));
    all
}

fn references(resolved: &Resolved<'_>, observe: &Observation<'_>) -> Vec<Condition> {
    let Resolved { group, oidc, authz_config_ref, composite_tools, telemetry, .. } = resolved;
    [
        tell(
            group,
            "the group",
            Some(GroupRefValidated::Valid),
            absent_or(GroupRefValidated::NotFound, GroupRefValidated::NotReady),
            observe,
        ),
        reference_conditions::identity_provider(oidc, observe),
        reference_conditions::shared_rules(authz_config_ref, observe),
        tell(
            &composite_tools.referenced,
            "the composite tools",
            Some(CompositeToolRefsValidated::Valid),
            absent_or(CompositeToolRefsValidated::NotFound, CompositeToolRefsValidated::Invalid),
            observe,
        ),
        reference_conditions::telemetry(telemetry, observe),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Whether the spec makes sense by itself.
fn valid(findings: &Findings<'_>, observe: &Observation<'_>) -> Condition {
    match (findings.invalid.is_empty(), &findings.taken) {
        (true, None) => observe.condition(Valid::Succeeded, "the spec makes sense by itself"),
        (true, Some(taken)) => observe.condition(Valid::NameTaken, taken),
        (false, _) => observe.condition(Valid::Failed, findings.invalid.to_string()),
    }
}

/// Whether the embedding server can be called by now.
pub(super) fn is_embedding_server_ready(snapshot: &Snapshot<VirtualMCPServerSpec>) -> bool {
    let Some(reference) = &snapshot.owner.spec.embedding_server_ref else { return true };
    match snapshot.references.status::<EmbeddingServerSpec>(&reference.name) {
        Read::Found(status) => {
            status.phase == Some(EmbeddingServerPhase::Ready) && status.ready_replicas.unwrap_or_default() > 0
        }
        Read::Absent | Read::Malformed(_) => false,
    }
}

fn embedding_server(
    snapshot: &Snapshot<VirtualMCPServerSpec>,
    resolved: &Resolved<'_>,
    observe: &Observation<'_>,
) -> Option<Condition> {
    match &resolved.embedding_server {
        Outcome::Usable(_) if !is_embedding_server_ready(snapshot) => Some(observe.condition(
            EmbeddingServerReady::NotReady,
            "the embedding server is not ready: see its status; tools are found by their words until it is",
        )),
        outcome => tell(
            outcome,
            "the embedding server",
            Some(EmbeddingServerReady::Ready),
            absent_or(EmbeddingServerReady::NotFound, EmbeddingServerReady::NotReady),
            observe,
        ),
    }
}

/// Whether the authorization server can be used, and whether rules see the claims that they are meant to.
fn auth_server_config(findings: &Findings<'_>, observe: &Observation<'_>) -> Vec<Condition> {
    use AuthServerConfigValidated as Reason;
    let validated = match (&findings.provider, &findings.resolved.auth_server) {
        (_, Outcome::Unusable(Unusable { invalid, .. })) => {
            Some(observe.condition(Reason::Invalid, &invalid.message))
        }
        (Err((reason, message)), _) => Some(observe.condition(*reason, message)),
        (Ok(_), Outcome::Usable(_)) => {
            Some(observe.condition(Reason::Valid, "the authorization server can be used"))
        }
        (Ok(_), Outcome::NotReferenced) => None,
    };
    let guess = match &findings.provider {
        Ok(Provider { name: Some(name), is_guess: true, .. }) => Some(observe.condition(
            AuthzUpstreamSelectionWarning::AutoSelected,
            format!(
                "the rules see the claims of the first upstream provider, {name}: say which one they are meant for in \
                 authServerConfig.primaryUpstreamProvider"
            ),
        )),
        _ => None,
    };
    validated.into_iter().chain(guess).collect()
}

fn identities(spec: &VirtualMCPServerSpec, observe: &Observation<'_>) -> Option<Condition> {
    let names = auth_server::without_identity(spec.auth_server_config.as_ref()?);
    Some(if names.is_empty() {
        observe
            .condition(IdentitySynthesized::AllHaveUserInfo, "every upstream provider says who the user is")
    } else {
        let message = format!(
            "these upstream providers do not say who the user is: {}; set userInfo or identityFromToken",
            names.join(", ")
        );
        observe.condition(IdentitySynthesized::WithoutUserInfo, message)
    })
}

/// Whether everything is there that callers are checked with.
fn auth_configured(resolved: &Resolved<'_>, observe: &Observation<'_>) -> Condition {
    let Resolved { oidc, oidc_ca_bundle, authz_config, auth_server, .. } = resolved;
    if let Some(Unusable { cause, invalid }) = authz_config.unusable() {
        let reason = match cause {
            Cause::Incomplete | Cause::Absent => AuthConfigured::AuthzConfigMapNotFound,
            _ => AuthConfigured::AuthzConfigMapInvalid,
        };
        return observe.condition(reason, &invalid.message);
    }
    let missing = [oidc.unusable(), oidc_ca_bundle.unusable(), auth_server.unusable()];
    match missing.into_iter().flatten().next() {
        Some(unusable) => observe.condition(AuthConfigured::Invalid, &unusable.invalid.message),
        None => observe.condition(AuthConfigured::Valid, "everything is there that callers are checked with"),
    }
}

/// Whether the server can sign in to its backends. Members are only told of when it cannot.
fn signing_in(resolved: &Resolved<'_>, observe: &Observation<'_>) -> Vec<Condition> {
    let mut members = 0;
    let mut all = Vec::new();
    for (subject, result) in &resolved.outgoing.told {
        let message = match result {
            Ok(()) => "the settings can be used".to_owned(),
            Err(unusable) => unusable.invalid.message.clone(),
        };
        let cause = result.as_ref().err().map(|unusable| unusable.cause);
        match subject {
            Subject::Default => all.push(observe.condition(default_reason(cause), message)),
            Subject::Backend(name) => all.push(observe.about(name, backend_reason(cause), message)),
            Subject::Member(name) => {
                members += 1;
                if members <= TOLD_MEMBERS {
                    all.push(observe.about(name, member_reason(cause), beginning(&message)));
                }
            }
        }
    }
    all
}

/// Declares the reasons of a condition about settings to sign in with, by what is wrong with them.
macro_rules! reasons {
    ($name:ident, $type:ident) => {
        const fn $name(cause: Option<Cause>) -> $type {
            match cause {
                None => $type::Succeeded,
                Some(Cause::Absent) => $type::InvalidExternalAuthConfig,
                Some(Cause::Invalid) => $type::ValidationFailed,
                Some(Cause::SeveralUpstreams) => $type::AmbiguousSubjectProvider,
                Some(Cause::Unsupported) => $type::EnterpriseRequired,
                Some(Cause::Incomplete) => $type::InvalidConfig,
                Some(Cause::WrongType | Cause::Unfit) => $type::Failed,
            }
        }
    };
}

reasons!(default_reason, DefaultAuthConfig);
reasons!(backend_reason, BackendAuthConfig);
reasons!(member_reason, DiscoveredAuthConfig);

/// Which members of the group are offered.
fn members(resolved: &Resolved<'_>, observe: &Observation<'_>) -> Condition {
    let all = &resolved.backends.left_out;
    let told = all.iter().take(TOLD_MEMBERS);
    let mut left_out: Vec<String> =
        told.map(|it| format!("{} {}: {}", it.kind, it.name, beginning(&it.why))).collect();
    if all.len() > TOLD_MEMBERS {
        left_out.push(format!("and {} more", all.len() - TOLD_MEMBERS));
    }
    if left_out.is_empty() {
        let count = resolved.backends.usable.len();
        observe
            .condition(MembersAccepted::Accepted, format!("members of the group that are offered: {count}"))
    } else {
        observe.condition(MembersAccepted::LeftOut, format!("left out: {}", left_out.join("; ")))
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(TOLD_OF_MEMBER).collect()
}

/// Settings that are there and mean nothing here.
fn ignored_settings(findings: &Findings<'_>, observe: &Observation<'_>) -> Option<Condition> {
    let Findings { snapshot, resolved, provider, .. } = findings;
    let spec = &snapshot.owner.spec;
    let notes = [
        ("telemetryConfigRef", resolved.telemetry.usable().map(|it| &it.config.notes)),
        ("incomingAuth.oidcConfigRef", resolved.oidc.usable().map(|it| &it.config.notes)),
        ("incomingAuth.authzConfigRef", resolved.authz_config_ref.usable().map(|it| &it.notes)),
        ("incomingAuth.authzConfig", resolved.authz_config.usable().map(|it| &it.notes)),
    ];
    let deprecated = provider.as_ref().ok().and_then(|provider| provider.deprecated).map(|use_| {
        let field = "spec.incomingAuth.authzConfig.inline.primaryUpstreamProvider";
        match use_ {
            Deprecated::Used => {
                format!("{field} is deprecated: write it as authServerConfig.primaryUpstreamProvider")
            }
            Deprecated::Overruled => {
                format!("{field} has no effect: authServerConfig.primaryUpstreamProvider counts; remove it")
            }
        }
    });
    let is_anonymous = spec.incoming_auth.type_ == IncomingAuthType::Anonymous;
    let provider = spec.incoming_auth.oidc_config_ref.as_ref().filter(|_| is_anonymous).map(|_| {
        "spec.incomingAuth.oidcConfigRef has no effect: callers are anonymous; write type oidc, or remove it".to_owned()
    });
    let notes: Vec<String> = notes
        .into_iter()
        .flat_map(|(field, notes)| {
            notes.into_iter().flatten().map(move |note| format!("spec.{field}: {note}"))
        })
        .chain(provider)
        .chain(deprecated)
        .chain(resolved.outgoing.notes.iter().cloned())
        .chain(spec.config.iter().flat_map(|config| replaced(snapshot.name(), spec, config)))
        .chain(idle_redis(spec.session_storage.as_ref()))
        .chain(restart::misunderstanding(snapshot))
        .chain(rotation::invalid_annotation(&snapshot.owner.metadata))
        .collect();
    (!notes.is_empty()).then(|| observe.condition(SettingsIgnored::WithoutEffect, notes.join("; ")))
}

/// Fields of `spec.config` that are filled in from elsewhere, or that nobody knows.
fn replaced(name: &str, spec: &VirtualMCPServerSpec, config: &VmcpConfig) -> Vec<String> {
    let differs = |field: Option<&String>, filled_in: &str| {
        field.is_some_and(|field| !field.is_empty() && field != filled_in)
    };
    let has_headers = spec.passthrough_headers.as_ref().is_some_and(|headers| !headers.is_empty());
    let service = config.optimizer.as_ref().and_then(|it| it.embedding_service.as_ref());
    let filled = [
        ("name", differs(config.name.as_ref(), name), "the name of the VirtualMCPServer counts"),
        ("groupRef", differs(config.group_ref.as_ref(), &spec.group_ref.name), "spec.groupRef counts"),
        ("backends", config.backends.is_some(), "the members of the group are offered"),
        ("incomingAuth", config.incoming_auth.is_some(), "spec.incomingAuth counts"),
        ("outgoingAuth", config.outgoing_auth.is_some(), "spec.outgoingAuth counts"),
        ("telemetry", config.telemetry.is_some(), "spec.telemetryConfigRef counts"),
        ("sessionStorage", config.session_storage.is_some(), "spec.sessionStorage counts"),
        (
            "passthroughHeaders",
            has_headers && config.passthrough_headers.is_some(),
            "spec.passthroughHeaders counts",
        ),
        (
            "optimizer.embeddingService",
            spec.embedding_server_ref.is_some() && service.is_some(),
            "spec.embeddingServerRef counts",
        ),
    ];
    let filled = filled.into_iter().filter(|(_, is_set, _)| *is_set);
    let unknown =
        config.unknown.keys().take(10).map(|field| format!("spec.config.{field} is not known: remove it"));
    filled
        .map(|(field, _, why)| format!("spec.config.{field} has no effect: {why}; remove it"))
        .chain(unknown)
        .collect()
}
