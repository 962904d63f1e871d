//! What a virtual server refers to, and what became of it.

use thv_api::auth_server::EmbeddedAuthServer;
use thv_api::kinds::{
    Aggregation, EmbeddingServerSpec, IncomingAuth, IncomingAuthType, MCPOIDCConfigSpec, MCPToolConfigSpec,
    VirtualMCPServerSpec, VmcpConfig, WorkloadTools,
};
use thv_api::names::{children, env, sessions};
use thv_api::shared::EmbeddingServerRef;
use thv_config::authz::AuthzDocument;

use super::composite::{self, CompositeTools};
use super::outgoing::{self, Outgoing};
use crate::backends::{Backends, LeftOut, backends};
use crate::embedding_server;
use crate::invalid::InvalidList;
use crate::reference::{Read, References};
use crate::resolve::{
    Authz, CaBundle, Cause, Config, Oidc, Outcome, SessionRedis, SharedAuthz, Telemetry, Unusable,
    auth_server, authz, ca_bundle, group, oidc, session_redis, telemetry, tools,
};
use crate::run_config::Referenced;
use crate::snapshot::Snapshot;

const AUTHZ: &str = "spec.incomingAuth.authzConfig";
const AUTHZ_REF: &str = "spec.incomingAuth.authzConfigRef";

/// What became of everything that a `VirtualMCPServer` refers to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Resolved<'a> {
    /// `spec.groupRef`.
    pub(super) group: Outcome<String>,
    /// The members of the group.
    pub(super) backends: Backends<'a>,
    /// `spec.incomingAuth.oidcConfigRef`.
    pub(super) oidc: Outcome<Oidc>,
    /// The certificate authorities of the identity provider.
    pub(super) oidc_ca_bundle: Outcome<CaBundle>,
    /// `spec.incomingAuth.authzConfigRef`.
    pub(super) authz_config_ref: Outcome<SharedAuthz>,
    /// `spec.incomingAuth.authzConfig`.
    pub(super) authz_config: Outcome<Authz>,
    /// `spec.authServerConfig`.
    pub(super) auth_server: Outcome<&'a EmbeddedAuthServer>,
    /// `spec.outgoingAuth`, and what the members say themselves.
    pub(super) outgoing: Outgoing,
    /// The `toolConfigRef`s of `spec.config.aggregation.tools`, in their order.
    pub(super) tools: Vec<Outcome<Config<MCPToolConfigSpec>>>,
    /// `spec.config.compositeTools` and `spec.config.compositeToolRefs`.
    pub(super) composite_tools: CompositeTools<'a>,
    /// `spec.telemetryConfigRef`.
    pub(super) telemetry: Outcome<Telemetry>,
    /// `spec.embeddingServerRef`: the URL of the embedding server.
    pub(super) embedding_server: Outcome<String>,
    /// `spec.sessionStorage`, or the Redis that the operator gives to servers without.
    pub(super) session_redis: Outcome<SessionRedis>,
}

impl Resolved<'_> {
    /// Everything that keeps the server from being configured.
    pub(super) fn invalid(&self) -> InvalidList {
        let mut invalid: InvalidList =
            self.unusable().into_iter().map(|unusable| unusable.invalid.clone()).collect();
        invalid.merge(self.outgoing.invalid.clone());
        invalid
    }

    /// The references that keep the server from being configured, in the order of the spec.
    fn unusable(&self) -> Vec<&Unusable> {
        let Self {
            group,
            // A member that cannot be offered is left out.
            backends: _,
            oidc,
            oidc_ca_bundle,
            authz_config_ref,
            authz_config,
            auth_server,
            outgoing: _,
            tools,
            composite_tools,
            telemetry,
            embedding_server,
            session_redis,
        } = self;
        let all = [
            group.unusable(),
            oidc.unusable(),
            oidc_ca_bundle.unusable(),
            authz_config.unusable(),
            authz_config_ref.unusable(),
            auth_server.unusable(),
            composite_tools.referenced.unusable(),
            telemetry.unusable(),
            embedding_server.unusable(),
            session_redis.unusable(),
        ];
        all.into_iter().chain(tools.iter().map(Outcome::unusable)).flatten().collect()
    }

    /// Leaves a member out that would be offered otherwise. Whether there was one.
    pub(super) fn leave_out(&mut self, name: &str, why: &str) -> bool {
        let Some(place) = self.backends.usable.iter().position(|backend| backend.name == name) else {
            return false;
        };
        let backend = self.backends.usable.remove(place);
        let (kind, name) = (backend.member.kind(), backend.name.to_owned());
        self.outgoing.forget(&name);
        self.backends.left_out.push(LeftOut { kind, name, why: why.to_owned() });
        true
    }

    /// What the pods are configured with, as far as proxies have it too.
    pub(super) fn referenced(&self) -> Referenced<'_> {
        let shared = || self.authz_config_ref.usable().map(|it| &it.document);
        Referenced {
            telemetry: self.telemetry.usable(),
            auth_server: self.auth_server.usable().copied(),
            oidc: self.oidc.usable(),
            oidc_client_secret: Some(env::VMCP_OIDC_CLIENT_SECRET),
            oidc_ca_bundle: self.oidc_ca_bundle.usable(),
            authz: self.authz_config.usable().map(|it| &it.document).or_else(shared),
            session_redis: self.session_redis.usable(),
            ..Referenced::default()
        }
    }
}

/// Finds out what became of everything that a virtual server refers to.
pub(super) fn resolve(snapshot: &Snapshot<VirtualMCPServerSpec>) -> Resolved<'_> {
    let (name, namespace) = (snapshot.name(), snapshot.namespace());
    let (spec, known) = (&snapshot.owner.spec, &snapshot.references);
    let IncomingAuth { type_, oidc_config_ref, authz_config, authz_config_ref } = &spec.incoming_auth;
    // Nobody asks anonymous callers for tokens, which is told.
    let oidc_ref = oidc_config_ref.as_ref().filter(|_| *type_ == IncomingAuthType::Oidc);
    let ca_source = oidc_ref
        .and_then(|it| known.object::<MCPOIDCConfigSpec>(&it.name).found())
        .and_then(|config| oidc::ca_bundle(config.spec));
    let mut backends = backends(namespace, &spec.group_ref.name, known);
    let auth_server = Outcome::of(spec.auth_server_config.as_ref(), |server| {
        let fits = |server: &_| auth_server::fits(server, oidc_ref, &resource_url(snapshot));
        auth_server::check_embedded("spec.authServerConfig", server, known, fits).map(|()| server)
    });
    let outgoing = outgoing::resolve(spec, &mut backends, known);
    Resolved {
        group: group::resolve("spec.groupRef", Some(&spec.group_ref), known),
        oidc: oidc::resolve("spec.incomingAuth.oidcConfigRef", oidc_ref, known, &resource_url(snapshot)),
        oidc_ca_bundle: ca_bundle::resolve("spec.incomingAuth.oidcConfigRef", ca_source, known),
        authz_config_ref: cedar_only(
            AUTHZ_REF,
            authz::resolve_shared(AUTHZ_REF, authz_config_ref.as_ref(), known),
            |shared| &shared.document,
        ),
        // The rules go into the configuration; no ConfigMap is made for them.
        authz_config: cedar_only(AUTHZ, authz::resolve(AUTHZ, authz_config.as_ref(), known, ""), |rules| {
            &rules.document
        }),
        auth_server,
        outgoing,
        tools: tool_configs(spec.config.as_ref(), known),
        composite_tools: composite::resolve(spec.config.as_ref(), known),
        telemetry: telemetry::resolve(
            "spec.telemetryConfigRef",
            spec.telemetry_config_ref.as_ref(),
            known,
            namespace,
            name,
        ),
        embedding_server: embedding(spec.embedding_server_ref.as_ref(), namespace, known),
        session_redis: session_redis::resolve(
            "spec.sessionStorage",
            spec.session_storage.as_ref(),
            &snapshot.settings,
            known,
            sessions::default_key_prefix(namespace, name),
        ),
        backends,
    }
}

/// The URL by which clients within the cluster know a virtual server: that of its Service.
pub(super) fn resource_url(snapshot: &Snapshot<VirtualMCPServerSpec>) -> String {
    let service = children::virtual_mcp_server::service(snapshot.name());
    format!("http://{}:{}", children::service_host(&service, snapshot.namespace()), super::PORT)
}

/// A gateway decides by Cedar policies. Rules of another type must not be dropped: then anybody could call anything.
fn cedar_only<T>(path: &str, rules: Outcome<T>, document: impl Fn(&T) -> &AuthzDocument) -> Outcome<T> {
    match rules.usable().map(document) {
        Some(document) if document.cedar.is_none() => {
            let type_ = &document.type_;
            let message = format!(
                "the rules are of type {type_}, and a VirtualMCPServer decides by type cedarv1: write them in that type"
            );
            Outcome::Unusable(Cause::WrongType.at(path, message))
        }
        _ => rules,
    }
}

fn tool_configs(config: Option<&VmcpConfig>, known: &References) -> Vec<Outcome<Config<MCPToolConfigSpec>>> {
    let workloads = config.and_then(|config| config.aggregation.as_ref());
    let workloads = workloads.into_iter().flat_map(|Aggregation { tools, .. }| tools.iter().flatten());
    workloads
        .enumerate()
        .map(|(index, WorkloadTools { tool_config_ref, .. })| {
            let path = format!("spec.config.aggregation.tools[{index}].toolConfigRef");
            tools::resolve(&path, tool_config_ref.as_ref(), known)
        })
        .collect()
}

/// The URL of the embedding server. Whether it can be called by now is another matter.
fn embedding(reference: Option<&EmbeddingServerRef>, namespace: &str, known: &References) -> Outcome<String> {
    const PATH: &str = "spec.embeddingServerRef";
    Outcome::of(reference, |EmbeddingServerRef { name }| match known.object::<EmbeddingServerSpec>(name) {
        Read::Found(found) if found.is_terminating => Err(Cause::Absent.at(
            PATH,
            format!("the EmbeddingServer {name:?} is being deleted: create it anew, or remove the reference"),
        )),
        Read::Found(found) => Ok(embedding_server::url(namespace, name, found.spec)),
        Read::Absent => Err(Cause::Absent.at(
            PATH,
            format!("the EmbeddingServer {name:?} does not exist: create it, or remove the reference"),
        )),
        Read::Malformed(why) => {
            Err(Cause::Invalid.at(PATH, format!("the EmbeddingServer {name:?} cannot be read: {why}")))
        }
    })
}
