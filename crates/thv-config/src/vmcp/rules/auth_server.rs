//! The embedded authorization server, and what leans on it.

use super::super::incoming::{Callers, IncomingAuth};
use super::super::outgoing::{AuthStrategy, OutgoingAuth};
use super::super::problem::Report;
use super::super::strategy::{AwsSts, CrossAppAccess, OnBehalfOf, TokenExchange, UpstreamInject};
use crate::auth_server::AuthServerConfig;

pub(super) fn check(
    server: Option<&AuthServerConfig>,
    incoming: &IncomingAuth,
    outgoing: &OutgoingAuth,
    report: &mut Report,
) {
    if let Some(server) = server {
        check_server(server, &incoming.callers, report);
    }
    let primary = incoming.authz.as_ref().map_or("", |authz| authz.primary_upstream_provider.as_str());
    if !primary.is_empty() {
        check_provider("incomingAuth.authz.primaryUpstreamProvider".to_owned(), primary, server, report);
    }
    for (path, strategy) in outgoing.strategies() {
        let Some((key, provider)) = provider(strategy) else { continue };
        check_provider(format!("{path}.{key}"), provider, server, report);
    }
}

/// The server itself, and that it is the one whose tokens callers bring.
fn check_server(server: &AuthServerConfig, callers: &Callers, report: &mut Report) {
    report.required(&server.issuer, "authServerConfig.issuer");
    report.unless(
        !server.upstreams.is_empty(),
        "authServerConfig.upstreamProviders",
        "is empty: nobody could sign in; name a provider",
    );
    report.unless(
        !server.allowed_audiences.is_empty(),
        "authServerConfig.allowedAudiences",
        "is empty: no token could be issued; name the resource of this server",
    );
    let Callers::Oidc(oidc) = callers else {
        report.add(
            "incomingAuth.type",
            "is not oidc, and there is an authorization server: nobody would check its tokens; use oidc with its issuer",
        );
        return;
    };
    report.unless(
        oidc.issuer == server.issuer,
        "incomingAuth.oidc.issuer",
        "is not the issuer of the authorization server: write the same in both",
    );
    report.unless(
        server.allowed_audiences.contains(&oidc.audience),
        "incomingAuth.oidc.audience",
        "is not an audience that the authorization server issues tokens for: write the same in both",
    );
}

/// The provider whose token a strategy uses, with the key that names it. Nothing if it can do without.
fn provider(strategy: &AuthStrategy) -> Option<(&'static str, &str)> {
    let (key, name) = match strategy {
        AuthStrategy::Unauthenticated | AuthStrategy::HeaderInjection(_) => return None,
        // Without it there is no token to send.
        AuthStrategy::CrossAppAccess(CrossAppAccess { subject_provider_name, .. }) => {
            return Some(("xaa.subjectProviderName", subject_provider_name));
        }
        // It has to be named, which another rule says.
        AuthStrategy::UpstreamInject(UpstreamInject { provider_name }) => {
            ("upstreamInject.providerName", provider_name)
        }
        // Without one, it is the token of the caller.
        AuthStrategy::TokenExchange(TokenExchange { subject_provider_name, .. }) => {
            ("tokenExchange.subjectProviderName", subject_provider_name)
        }
        AuthStrategy::AwsSts(AwsSts { subject_provider_name, .. }) => {
            ("awsSts.subjectProviderName", subject_provider_name)
        }
        AuthStrategy::OnBehalfOf(OnBehalfOf { subject_token_provider_name, .. }) => {
            ("obo.subjectTokenProviderName", subject_token_provider_name)
        }
    };
    (!name.is_empty()).then_some((key, name))
}

/// A provider that has to be one of the server's.
fn check_provider(path: String, provider: &str, server: Option<&AuthServerConfig>, report: &mut Report) {
    let Some(server) = server else {
        report.add(
            path,
            "needs the token of an upstream provider, and there is no authorization server: configure one",
        );
        return;
    };
    let is_declared = server.upstreams.iter().any(|upstream| match upstream.name.as_str() {
        "" => provider == AuthServerConfig::DEFAULT_UPSTREAM,
        name => name == provider,
    });
    if provider.is_empty() {
        report.add(path, "is empty, and which upstream provider is meant cannot be told: name one");
    } else {
        report.unless(
            is_declared,
            path,
            "is not an upstream provider of the authorization server: name one of them",
        );
    }
}
