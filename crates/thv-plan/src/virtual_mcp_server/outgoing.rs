//! How a virtual server signs in to its backends.

use std::collections::BTreeMap;

use thv_api::auth_server::EmbeddedAuthServer;
use thv_api::kinds::{BackendAuth, BackendAuthType, OutgoingAuth, OutgoingAuthSource, VirtualMCPServerSpec};
use thv_api::shared::ExternalAuthConfigRef;
use thv_config::vmcp::{self, AuthSource, AuthStrategy};

use super::refs::source;
use crate::backends::{Backend, Backends, LeftOut, Member};
use crate::env::EnvValue;
use crate::invalid::InvalidList;
use crate::reference::References;
use crate::resolve::{Cause, Outcome, Strategy, Unusable, gateway_auth, headers, strategy};

/// How a virtual server signs in to its backends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outgoing {
    /// For backends that have nothing else.
    pub(super) default: Option<AuthStrategy>,
    /// For single backends.
    pub(super) backends: BTreeMap<String, AuthStrategy>,
    /// The variables that secrets come in.
    pub(super) env: BTreeMap<String, EnvValue>,
    /// What became of each setting, for a condition each.
    pub(super) told: Vec<(Subject, Result<(), Unusable>)>,
    /// The settings that the spec names and that have no effect, and why.
    pub(super) notes: Vec<String>,
    /// What keeps the server from being configured: nobody must be called with other credentials than were asked for.
    pub(super) invalid: InvalidList,
}

/// What a setting is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// All backends that have nothing else.
    Default,
    /// A backend that the spec names.
    Backend(String),
    /// A member that says itself how to sign in.
    Member(String),
}

impl Outgoing {
    /// The part of the configuration.
    pub(super) fn document(&self, auth: Option<&OutgoingAuth>) -> vmcp::OutgoingAuth {
        vmcp::OutgoingAuth {
            source: match source(auth) {
                OutgoingAuthSource::Discovered => AuthSource::Discovered,
                OutgoingAuthSource::Inline => AuthSource::Inline,
            },
            default: self.default.clone(),
            backends: self.backends.clone(),
        }
    }

    /// Takes over the variables of a strategy, and says for what it is to be used.
    fn take(&mut self, path: &str, Strategy { settings, env, notes: _ }: Strategy) -> AuthStrategy {
        self.set_all(path, env);
        settings
    }

    /// Variables are named after objects. Two names that differ in dots and dashes only would become one variable, and one
    /// of the two would be called with the secret of the other.
    fn set_all(&mut self, path: &str, variables: Vec<(String, EnvValue)>) {
        for (name, value) in variables {
            let before = self.env.get(&name);
            let message = format!(
                "and another object of nearly the same name would have their secrets in one variable, {name}: rename one \
                 of them"
            );
            self.invalid.unless(before.is_none_or(|before| *before == value), path, message);
            self.env.insert(name, value);
        }
    }
}

/// Finds out how a virtual server signs in to its backends. Those for which that cannot be told are left out, so that they
/// are not called in any other way.
pub(super) fn resolve(
    spec: &VirtualMCPServerSpec,
    backends: &mut Backends<'_>,
    known: &References,
) -> Outgoing {
    let auth = spec.outgoing_auth.as_ref();
    let providers = providers(spec.auth_server_config.as_ref());
    let mut outgoing = Outgoing::default();
    if let Some(default) = auth.and_then(|auth| auth.default.as_ref()) {
        let path = "spec.outgoingAuth.default";
        outgoing.default = outgoing.named(path, Subject::Default, default, &providers, known);
    }
    for (name, backend) in auth.iter().flat_map(|auth| auth.backends.iter().flatten()) {
        let path = format!("spec.outgoingAuth.backends[{name}]");
        let subject = Subject::Backend(name.clone());
        if let Some(settings) = outgoing.named(&path, subject, backend, &providers, known) {
            outgoing.backends.insert(name.clone(), settings);
        }
    }
    match source(auth) {
        OutgoingAuthSource::Discovered => outgoing.check_members(backends, known),
        OutgoingAuthSource::Inline => outgoing.add_members(auth, backends, &providers, known),
    }
    outgoing
}

impl Outgoing {
    /// What the spec itself says. Whatever the server itself refers to, where that is asked for, comes in later.
    fn named(
        &mut self,
        path: &str,
        subject: Subject,
        BackendAuth { type_, external_auth_config_ref }: &BackendAuth,
        providers: &[&str],
        known: &References,
    ) -> Option<AuthStrategy> {
        if *type_ == BackendAuthType::Discovered {
            return Some(AuthStrategy::Unauthenticated);
        }
        let made = match external_auth_config_ref {
            None => Err(Cause::Invalid.at(path, "has type externalAuthConfigRef and no reference: add one")),
            Some(reference) => signed_in(path, reference, providers, known),
        };
        let settings = match &made {
            Ok(strategy) => {
                self.notes.extend(strategy.notes.iter().map(|note| format!("{path}: {note}")));
                Some(self.take(path, strategy.clone()))
            }
            Err(unusable) => {
                self.invalid.add(path, unusable.invalid.message.clone());
                None
            }
        };
        self.told.push((subject, made.map(drop)));
        settings
    }

    /// A gateway that discovers its backends reads their settings itself; here it is told which of them it cannot use.
    fn check_members(&mut self, backends: &Backends<'_>, known: &References) {
        for Backend { name, member, .. } in &backends.usable {
            let Some(reference) = member.auth() else { continue };
            let suitable = gateway_auth::suitable("spec.externalAuthConfigRef", &reference.name, known);
            if let Err(unusable) = suitable {
                self.told.push((Subject::Member((*name).to_owned()), Err(unusable)));
            }
        }
    }

    /// The settings of backends that the spec does not name, or for which it refers to the backend itself. Headers of
    /// entries come in variables, too.
    fn add_members(
        &mut self,
        auth: Option<&OutgoingAuth>,
        backends: &mut Backends<'_>,
        providers: &[&str],
        known: &References,
    ) {
        let named = |name: &str| auth.and_then(|auth| auth.backends.as_ref()).and_then(|all| all.get(name));
        let mut usable = Vec::new();
        for backend in std::mem::take(&mut backends.usable) {
            let is_named = named(backend.name).is_some_and(|it| it.type_ != BackendAuthType::Discovered);
            let own = backend.member.auth().filter(|_| !is_named);
            let made = own.map(|own| signed_in("spec.externalAuthConfigRef", own, providers, known));
            let made = made.transpose().and_then(|made| header_variables(&backend, known).map(|env| (made, env)));
            match made {
                Ok((strategy, variables)) => {
                    let path = format!("the {} {:?}", backend.member.kind(), backend.name);
                    if let Some(strategy) = strategy {
                        let settings = self.take(&path, strategy);
                        self.backends.insert(backend.name.to_owned(), settings);
                    }
                    self.set_all(&path, variables);
                    usable.push(backend);
                }
                Err(unusable) => {
                    let why = unusable.invalid.message.clone();
                    let (kind, name) = (backend.member.kind(), backend.name.to_owned());
                    backends.left_out.push(LeftOut { kind, name: name.clone(), why });
                    self.backends.remove(&name);
                    self.told.push((Subject::Member(name), Err(unusable)));
                }
            }
        }
        backends.usable = usable;
    }
}

/// The names of the upstream providers, as tokens are known by them.
pub(super) fn providers(server: Option<&EmbeddedAuthServer>) -> Vec<&str> {
    server.iter().flat_map(|server| &server.upstream_providers).map(|it| provider_name(&it.name)).collect()
}

/// A provider without a name is the default one.
pub(super) fn provider_name(name: &str) -> &str {
    if name.is_empty() { "default" } else { name }
}

fn signed_in(
    path: &str,
    reference: &ExternalAuthConfigRef,
    providers: &[&str],
    known: &References,
) -> Result<Strategy, Unusable> {
    match gateway_auth::resolve(path, Some(reference), known) {
        Outcome::Usable(config) => strategy(&config, providers).map_err(|(cause, text)| {
            let name = &reference.name;
            cause.at(path, format!("the MCPExternalAuthConfig {name:?} cannot be used: {text}"))
        }),
        Outcome::Unusable(unusable) => Err(unusable),
        Outcome::NotReferenced => Ok(Strategy::unauthenticated()),
    }
}

/// The variables with the headers that go to an entry.
fn header_variables(backend: &Backend<'_>, known: &References) -> Result<Vec<(String, EnvValue)>, Unusable> {
    let Member::Entry(entry) = backend.member else { return Ok(Vec::new()) };
    match headers::resolve("spec.headerForward", entry.header_forward.as_ref(), backend.name, known) {
        Outcome::Unusable(unusable) => Err(unusable),
        Outcome::NotReferenced => Ok(Vec::new()),
        Outcome::Usable(headers) => Ok(headers.gateway_variables(backend.name)),
    }
}
