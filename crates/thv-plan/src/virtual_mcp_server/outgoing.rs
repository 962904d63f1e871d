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
    /// The variables that the secrets of the spec's own settings come in.
    env: BTreeMap<String, EnvValue>,
    /// Those of each member that says itself how to sign in, or which headers it wants.
    member_env: BTreeMap<String, Variables>,
    /// All of these, by name.
    taken: BTreeMap<String, EnvValue>,
    /// What became of each setting, for a condition each.
    pub(super) told: Vec<(Subject, Result<(), Unusable>)>,
    /// The settings that the spec names and that have no effect, and why.
    pub(super) notes: Vec<String>,
    /// What keeps the server from being configured: nobody must be called with other credentials than were asked for.
    pub(super) invalid: InvalidList,
}

/// Variables and where their values come from.
type Variables = Vec<(String, EnvValue)>;

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

    /// All variables that secrets come in.
    pub(super) fn variables(&self) -> impl Iterator<Item = (String, EnvValue)> {
        let own = self.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        own.chain(self.member_env.values().flatten().cloned())
    }

    /// Forgets how to sign in to a member that is left out.
    pub(super) fn forget(&mut self, member: &str) {
        self.backends.remove(member);
        self.member_env.remove(member);
    }

    /// A variable that one of these would share with another object, if there is one.
    ///
    /// Variables are named after objects. Two names that differ in dots and dashes only become one variable, and then one
    /// of the two would be called with the secret of the other.
    fn shared(&self, variables: &[(String, EnvValue)]) -> Option<String> {
        let is_taken =
            |name: &str, value: &EnvValue| self.taken.get(name).is_some_and(|other| other != value);
        let shared = variables.iter().find(|(name, value)| is_taken(name, value));
        shared.map(|(name, _)| {
            format!(
                "its secret and that of another object of nearly the same name would be one variable, {name}: rename one of \
                 them"
            )
        })
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
        let made = made.and_then(|strategy| match self.shared(&strategy.env) {
            Some(why) => Err(Cause::Unfit.at(path, why)),
            None => Ok(strategy),
        });
        let (settings, told) = match made {
            Ok(Strategy { settings, env, notes }) => {
                self.notes.extend(notes.iter().map(|note| format!("{path}: {note}")));
                self.taken.extend(env.iter().cloned());
                self.env.extend(env);
                (Some(settings), Ok(()))
            }
            Err(unusable) => {
                self.invalid.add(path, unusable.invalid.message.clone());
                (None, Err(unusable))
            }
        };
        self.told.push((subject, told));
        settings
    }

    /// A gateway that discovers its backends reads their settings itself. It leaves out those that it cannot use, and here
    /// that is told.
    fn check_members(&mut self, backends: &mut Backends<'_>, known: &References) {
        let mut usable = Vec::new();
        for backend in std::mem::take(&mut backends.usable) {
            let suitable = backend.member.auth().map_or(Ok(()), |reference| {
                gateway_auth::suitable("spec.externalAuthConfigRef", &reference.name, known).map(drop)
            });
            match suitable {
                Ok(()) => usable.push(backend),
                Err(unusable) => self.leave_out(&backend, backends, unusable),
            }
        }
        backends.usable = usable;
    }

    fn leave_out(&mut self, backend: &Backend<'_>, backends: &mut Backends<'_>, unusable: Unusable) {
        let (kind, name) = (backend.member.kind(), backend.name.to_owned());
        let why = unusable.invalid.message.clone();
        backends.left_out.push(LeftOut { kind, name: name.clone(), why });
        self.backends.remove(&name);
        self.told.push((Subject::Member(name), Err(unusable)));
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
            match self.own(&backend, own, providers, known) {
                Ok((settings, variables)) => {
                    let name = backend.name.to_owned();
                    self.backends.extend(settings.map(|settings| (name.clone(), settings)));
                    self.taken.extend(variables.iter().cloned());
                    self.member_env.insert(name, variables);
                    usable.push(backend);
                }
                Err(unusable) => self.leave_out(&backend, backends, unusable),
            }
        }
        backends.usable = usable;
    }

    /// How a member itself wants to be called, and the variables for that.
    fn own(
        &self,
        backend: &Backend<'_>,
        reference: Option<&ExternalAuthConfigRef>,
        providers: &[&str],
        known: &References,
    ) -> Result<(Option<AuthStrategy>, Variables), Unusable> {
        const PATH: &str = "spec.externalAuthConfigRef";
        let made = reference.map(|reference| signed_in(PATH, reference, providers, known)).transpose()?;
        let (settings, variables) = made.map(|it| (it.settings, it.env)).unzip();
        let mut all: Vec<_> = variables.unwrap_or_default();
        all.extend(header_variables(backend, known)?);
        match self.shared(&all) {
            Some(why) => Err(Cause::Unfit.at(PATH, why)),
            None => Ok((settings, all)),
        }
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
fn header_variables(backend: &Backend<'_>, known: &References) -> Result<Variables, Unusable> {
    let Member::Entry(entry) = backend.member else { return Ok(Vec::new()) };
    match headers::resolve("spec.headerForward", entry.header_forward.as_ref(), backend.name, known) {
        Outcome::Unusable(unusable) => Err(unusable),
        Outcome::NotReferenced => Ok(Vec::new()),
        Outcome::Usable(headers) => Ok(headers.gateway_variables(backend.name)),
    }
}
