//! `MCPServerEntry`: a remote server as a member of a group. Nothing runs for it; what there is to say is whether a
//! `VirtualMCPServer` can use it.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::Kind;
use thv_api::conditions::mcp_server_entry::{
    CABundleRefValidated, ExternalAuthConfigValidated, GroupRefValidated, HeaderSecretRefsValidated,
    RemoteURLValidated, Valid, polarity,
};
use thv_api::conditions::{Observation, Polarity, Status, set};
use thv_api::kinds::{
    MCPExternalAuthConfigSpec, MCPGroupSpec, MCPServerEntry, MCPServerEntryPhase, MCPServerEntrySpec,
    MCPServerEntryStatus,
};

use crate::invalid::Invalid;
use crate::live::Observe;
use crate::plan::{Children, Plan};
use crate::planned::{Deletion, Failure, Planned, Refers};
use crate::reference::{Reference, References};
use crate::reference_conditions::{absent_or, tell};
use crate::resolve::{
    CaBundle, Cause, Config, Headers, Need, Outcome, ca_bundle, gateway_auth, group, headers, remote_url,
};
use crate::settings::Settings;
use crate::snapshot::Snapshot;

impl Refers for MCPServerEntrySpec {
    const REFERS_TO: &'static [&'static str] = &[MCPExternalAuthConfigSpec::KIND, MCPGroupSpec::KIND];

    /// Everything that an entry refers to. Every field is here, so that a new one cannot be forgotten.
    fn refs(entry: &MCPServerEntry, known: &References, _: &Settings) -> BTreeSet<Reference> {
        let Self {
            remote_url: _,
            allow_private_endpoint: _,
            transport: _,
            group_ref,
            external_auth_config_ref,
            header_forward,
            ca_bundle_ref,
        } = &entry.spec;
        let auth = external_auth_config_ref.iter().flat_map(|it| gateway_auth::references(&it.name, known));
        let secrets = header_forward.iter().flat_map(headers::needs);
        let bundle = ca_bundle_ref.iter().filter_map(|source| ca_bundle::need("caBundleRef", source));
        let needs: Vec<Need> = secrets.chain(bundle).collect();
        group::references(group_ref)
            .into_iter()
            .chain(auth)
            .chain(needs.iter().map(Need::reference))
            .filter(|reference| !reference.name().is_empty())
            .collect()
    }
}

impl Planned for MCPServerEntrySpec {
    type Live = ();

    const FINALIZER: Option<&'static str> = None;
    const DELETION: Deletion<Self> = Deletion::Nothing;

    fn live(_: &MCPServerEntry, _: &mut dyn Observe) {}

    fn plan(snapshot: &Snapshot<Self>) -> Plan<Self> {
        let live = snapshot.owner.status.as_ref().map(Self::conditions).unwrap_or_default();
        let observe = Observation::new(snapshot.generation(), snapshot.now, live);
        let status = status(&Checked::of(snapshot), &observe);
        Plan::new(Children::Exactly(Vec::new()), status)
    }

    fn failing_status(
        before: Option<&MCPServerEntryStatus>,
        observation: &Observation<'_>,
        failure: &Failure,
    ) -> MCPServerEntryStatus {
        let mut status = before.cloned().unwrap_or_default();
        let valid = match failure {
            Failure::Unknown(message) => observation.unknown(Valid::Invalid, message),
            Failure::Refused(message) | Failure::Malformed(message) => {
                status.phase = Some(MCPServerEntryPhase::Failed);
                status.observed_generation = Some(observation.generation());
                observation.condition(Valid::Invalid, message)
            }
        };
        set(status.conditions.get_or_insert_default(), valid);
        status
    }

    fn conditions(status: &MCPServerEntryStatus) -> &[Condition] {
        status.conditions.as_deref().unwrap_or_default()
    }

    fn conditions_mut(status: &mut MCPServerEntryStatus) -> &mut Option<Vec<Condition>> {
        &mut status.conditions
    }

    fn polarity(type_: &str) -> Polarity {
        polarity(type_)
    }
}

/// The certificate authorities of an entry, or what keeps a gateway from offering it: its URL, they, or its headers. Whether
/// the Secrets are there that it needs is for those to find out who read them.
pub(crate) fn usable(spec: &MCPServerEntrySpec, known: &References) -> Result<Option<CaBundle>, String> {
    /// Who can create an entry decides how long its URL is.
    const LONGEST_URL: usize = 2_048;
    if spec.remote_url.len() > LONGEST_URL {
        return Err(format!("spec.remoteUrl has more than {LONGEST_URL} bytes: use a shorter one"));
    }
    remote_url::check("spec.remoteUrl", &spec.remote_url, spec.allow_private_endpoint)
        .map_err(|invalid| invalid.to_string())?;
    if let Some(headers) = &spec.header_forward {
        headers::validate(headers).map_err(|invalid| format!("spec.headerForward.{invalid}"))?;
    }
    match ca_bundle::resolve("spec.caBundleRef", spec.ca_bundle_ref.as_ref(), known) {
        Outcome::Unusable(unusable) => Err(unusable.invalid.message),
        Outcome::NotReferenced => Ok(None),
        Outcome::Usable(bundle) => Ok(Some(bundle)),
    }
}

/// What came of everything that can be checked.
struct Checked {
    url: Result<(), Invalid>,
    group: Outcome<String>,
    auth: Outcome<Config<MCPExternalAuthConfigSpec>>,
    bundle: Outcome<CaBundle>,
    headers: Outcome<Headers>,
}

impl Checked {
    fn of(snapshot: &Snapshot<MCPServerEntrySpec>) -> Self {
        let known = &snapshot.references;
        let MCPServerEntrySpec {
            remote_url,
            allow_private_endpoint,
            transport: _,
            group_ref,
            external_auth_config_ref,
            header_forward,
            ca_bundle_ref,
        } = &snapshot.owner.spec;
        Self {
            url: remote_url::check("spec.remoteUrl", remote_url, *allow_private_endpoint),
            group: group::resolve("spec.groupRef", Some(group_ref), known),
            auth: gateway_auth::resolve(
                "spec.externalAuthConfigRef",
                external_auth_config_ref.as_ref(),
                known,
            ),
            bundle: ca_bundle::resolve("spec.caBundleRef", ca_bundle_ref.as_ref(), known),
            headers: headers::resolve("spec.headerForward", header_forward.as_ref(), snapshot.name(), known),
        }
    }
}

/// What is said of an entry. Nothing of it is looked up on the network: whether the remote server answers is up to
/// whoever calls it.
fn status(checked: &Checked, observe: &Observation<'_>) -> MCPServerEntryStatus {
    let mut conditions = conditions(checked, observe);
    let bad: Vec<&str> = conditions
        .iter()
        .filter(|condition| condition.status != Status::True.as_str())
        .map(|condition| condition.message.as_str())
        .collect();
    let (phase, valid) = if bad.is_empty() {
        let message = "a VirtualMCPServer can use the entry";
        (MCPServerEntryPhase::Valid, observe.condition(Valid::Valid, message))
    } else {
        (MCPServerEntryPhase::Failed, observe.condition(Valid::Invalid, bad.join("; ")))
    };
    conditions.push(valid);
    MCPServerEntryStatus {
        conditions: Some(conditions),
        observed_generation: Some(observe.generation()),
        phase: Some(phase),
    }
}

/// A condition for everything that was checked.
fn conditions(checked: &Checked, observe: &Observation<'_>) -> Vec<Condition> {
    let Checked { url, group, auth, bundle, headers } = checked;
    let url = match url {
        Ok(()) => observe.condition(RemoteURLValidated::Valid, "the URL is allowed"),
        Err(invalid) => observe.condition(RemoteURLValidated::Invalid, invalid.to_string()),
    };
    let group = tell(
        group,
        "the group",
        Some(GroupRefValidated::Valid),
        absent_or(GroupRefValidated::NotFound, GroupRefValidated::NotReady),
        observe,
    );
    let auth = tell(
        auth,
        "the external authentication settings",
        Some(ExternalAuthConfigValidated::Valid),
        absent_or(ExternalAuthConfigValidated::NotFound, ExternalAuthConfigValidated::Invalid),
        observe,
    );
    let no_auth = || observe.condition(ExternalAuthConfigValidated::NotConfigured, "nobody has to sign in");
    let bundle = tell(
        bundle,
        "the certificate authorities",
        Some(CABundleRefValidated::Valid),
        absent_or(CABundleRefValidated::NotFound, CABundleRefValidated::Invalid),
        observe,
    );
    let no_bundle = || {
        observe
            .condition(CABundleRefValidated::NotConfigured, "the usual certificate authorities are trusted")
    };
    // Headers without secrets need nothing.
    let is_about_secrets = headers.usable().is_none_or(|headers| !headers.secret.is_empty());
    let headers = tell(
        headers,
        "the Secrets with headers",
        Some(HeaderSecretRefsValidated::Valid),
        |cause| match cause {
            Cause::Absent | Cause::Incomplete => HeaderSecretRefsValidated::NotFound,
            _ => HeaderSecretRefsValidated::Invalid,
        },
        observe,
    );
    let mut all = vec![url, auth.unwrap_or_else(no_auth), bundle.unwrap_or_else(no_bundle)];
    all.extend(group);
    all.extend(headers.filter(|_| is_about_secrets));
    all
}
