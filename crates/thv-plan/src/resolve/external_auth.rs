//! How credentials for what a server calls are obtained: `MCPExternalAuthConfig`.

use std::fmt;

use thv_api::auth_server::EmbeddedAuthServer;
use thv_api::conditions::mcp_server::ExternalAuthConfigValidated;
use thv_api::kinds::{
    AwsRoleMapping, AwsSts, BearerToken, ExternalAuthType, MCPExternalAuthConfigSpec, TokenExchange,
    UpstreamInject,
};
use thv_api::shared::ExternalAuthConfigRef;

use super::auth_server;
use super::config::{complete, config_hash, read};
use super::flaw::{Flaws, Invalid};
use super::need::Need;
use super::outcome::{Outcome, outcome};
use super::url::web_url_flaw;
use crate::reference::References;

/// A way to obtain credentials.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalAuth {
    /// The name of the object.
    pub name: String,
    /// Digest of its spec.
    pub hash: String,
    /// The way.
    pub method: ExternalAuthMethod,
}

/// Ways to obtain credentials that mean something to the proxy of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum ExternalAuthMethod {
    /// Exchange the caller's token.
    TokenExchange(TokenExchange),
    /// Send a fixed bearer token.
    BearerToken(BearerToken),
    /// Run an authorization server in the proxy.
    EmbeddedAuthServer(Box<EmbeddedAuthServer>),
    /// Nothing for the proxy to do: a `VirtualMCPServer` in front of the server signs in this way.
    ByGateway(ExternalAuthType),
}

/// Why settings are of no use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Something is wrong with them.
    Invalid(Invalid),
    /// This build cannot do what they ask for.
    Unsupported(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::Unsupported(text) => f.write_str(text),
        }
    }
}

/// What is wrong with settings, for whichever object refers to them.
pub fn validate(spec: &MCPExternalAuthConfigSpec) -> Result<(), Refusal> {
    let MCPExternalAuthConfigSpec {
        type_,
        token_exchange,
        header_injection,
        bearer_token,
        embedded_auth_server,
        aws_sts,
        upstream_inject,
        obo,
        xaa,
    } = spec;
    let mut flaws = Flaws::default();
    for (method, set) in [
        (ExternalAuthType::TokenExchange, token_exchange.is_some()),
        (ExternalAuthType::HeaderInjection, header_injection.is_some()),
        (ExternalAuthType::BearerToken, bearer_token.is_some()),
        (ExternalAuthType::EmbeddedAuthServer, embedded_auth_server.is_some()),
        (ExternalAuthType::AwsSts, aws_sts.is_some()),
        (ExternalAuthType::UpstreamInject, upstream_inject.is_some()),
        (ExternalAuthType::OnBehalfOf, obo.is_some()),
        (ExternalAuthType::CrossAppAccess, xaa.is_some()),
    ] {
        let text =
            if set { "does not belong to the type: remove it" } else { "is missing for the type: set it" };
        flaws.unless(set == (*type_ == method), method.as_str(), text);
    }
    if let Some(exchange) = token_exchange {
        flaws.extend("tokenExchange", validate_exchange(exchange));
    }
    if let Some(header) = header_injection {
        flaws.required(&header.header_name, "headerInjection.headerName");
    }
    if let Some(server) = embedded_auth_server {
        flaws.extend("embeddedAuthServer", auth_server::validate(server));
    }
    if let Some(sts) = aws_sts {
        flaws.extend("awsSts", validate_sts(sts));
    }
    if let Some(UpstreamInject { provider_name }) = upstream_inject {
        flaws.required(provider_name, "upstreamInject.providerName");
    }
    flaws.finish().map_err(Refusal::Invalid)?;
    match type_ {
        ExternalAuthType::OnBehalfOf => {
            let text = "type obo needs an extension that this build does not have: use another type";
            Err(Refusal::Unsupported(text.to_owned()))
        }
        _ => Ok(()),
    }
}

fn validate_exchange(exchange: &TokenExchange) -> Result<(), Invalid> {
    let TokenExchange {
        token_url,
        client_id: _,
        client_secret_ref: _,
        audience,
        scopes: _,
        subject_token_type: _,
        external_token_header_name: _,
        // A VirtualMCPServer heeds it.
        subject_provider_name: _,
    } = exchange;
    let mut flaws = Flaws::default();
    if let Some(flaw) = web_url_flaw(token_url, true) {
        flaws.add("tokenUrl", flaw);
    }
    flaws.required(audience, "audience");
    flaws.finish()
}

fn validate_sts(sts: &AwsSts) -> Result<(), Invalid> {
    let AwsSts {
        region,
        service: _,
        fallback_role_arn,
        role_mappings,
        role_claim: _,
        session_duration,
        session_name_claim: _,
        subject_provider_name: _,
    } = sts;
    let mut flaws = Flaws::default();
    flaws.required(region, "region");
    let some_role = fallback_role_arn.as_ref().is_some_and(|arn| !arn.is_empty())
        || role_mappings.as_ref().is_some_and(|mappings| !mappings.is_empty());
    flaws.unless(some_role, "fallbackRoleArn", "and roleMappings are missing: set one of them");
    for (index, AwsRoleMapping { claim, matcher, role_arn, priority: _ }) in
        role_mappings.iter().flatten().enumerate()
    {
        flaws.required(role_arn, format!("roleMappings[{index}].roleArn"));
        let one = claim.is_some() != matcher.is_some();
        flaws.unless(one, format!("roleMappings[{index}]"), "needs either claim or matcher");
    }
    flaws.unless((900..=43_200).contains(session_duration), "sessionDuration", "is not from 900 to 43200");
    flaws.finish()
}

/// The keys that the proxy of a server needs for settings of any type. What only a gateway reads is not among them.
pub(super) fn needs(spec: &MCPExternalAuthConfigSpec) -> Vec<Need> {
    let MCPExternalAuthConfigSpec {
        type_: _,
        token_exchange,
        header_injection: _,
        bearer_token,
        embedded_auth_server,
        aws_sts: _,
        upstream_inject: _,
        obo: _,
        xaa: _,
    } = spec;
    let exchange = token_exchange.iter().flat_map(|it| &it.client_secret_ref);
    let bearer = bearer_token.iter().map(|BearerToken { token_secret_ref }| token_secret_ref);
    let server = embedded_auth_server.iter().flat_map(auth_server::needs);
    exchange
        .map(|secret| Need::secret("tokenExchange.clientSecretRef", secret))
        .chain(bearer.map(|secret| Need::secret("bearerToken.tokenSecretRef", secret)))
        .chain(server.map(|need| need.below("embeddedAuthServer")))
        .collect()
}

/// What becomes of the reference of a server. `fit` says what keeps an authorization server from fitting it.
pub(super) fn resolve(
    reference: Option<&ExternalAuthConfigRef>,
    references: &References,
    fit: impl Fn(&EmbeddedAuthServer) -> Result<(), Invalid>,
) -> Outcome<ExternalAuth, ExternalAuthConfigValidated> {
    let Some(ExternalAuthConfigRef { name }) = reference else { return Outcome::NotReferenced };
    let spec = match read(references.external_auth_config(name), name) {
        Ok(spec) => spec,
        Err(hitch) => {
            let (absent, invalid) = (
                ExternalAuthConfigValidated::InvalidExternalAuthConfig,
                ExternalAuthConfigValidated::ValidationFailed,
            );
            return hitch.outcome(absent, invalid);
        }
    };
    let refused =
        |text: &dyn fmt::Display| format!("the MCPExternalAuthConfig {name:?} cannot be used: {text}");
    match validate(spec) {
        Ok(()) => {}
        Err(refusal @ Refusal::Invalid(_)) => {
            return Outcome::terminal(ExternalAuthConfigValidated::ValidationFailed, refused(&refusal));
        }
        Err(refusal @ Refusal::Unsupported(_)) => {
            return Outcome::terminal(ExternalAuthConfigValidated::EnterpriseRequired, refused(&refusal));
        }
    }
    let method = match method(spec) {
        Ok(method) => method,
        Err(text) => return Outcome::terminal(ExternalAuthConfigValidated::InvalidConfig, refused(&text)),
    };
    if let ExternalAuthMethod::EmbeddedAuthServer(server) = &method {
        if let Some(text) = auth_server::several_upstreams(server) {
            return Outcome::terminal(ExternalAuthConfigValidated::MultiUpstreamNotSupported, refused(&text));
        }
        if let Err(invalid) = fit(server) {
            return Outcome::terminal(ExternalAuthConfigValidated::InvalidConfig, refused(&invalid));
        }
    }
    let usable = complete::<MCPExternalAuthConfigSpec>(&needs(spec), name, references)
        .map(|()| ExternalAuth { name: name.clone(), hash: config_hash(spec), method });
    outcome(usable, ExternalAuthConfigValidated::InvalidConfig, ExternalAuthConfigValidated::InvalidConfig)
}

/// What the settings mean to the proxy of a server.
fn method(spec: &MCPExternalAuthConfigSpec) -> Result<ExternalAuthMethod, &'static str> {
    let missing = "the settings of its type are missing";
    match spec.type_ {
        ExternalAuthType::TokenExchange => {
            spec.token_exchange.clone().map(ExternalAuthMethod::TokenExchange).ok_or(missing)
        }
        ExternalAuthType::BearerToken => {
            spec.bearer_token.clone().map(ExternalAuthMethod::BearerToken).ok_or(missing)
        }
        ExternalAuthType::EmbeddedAuthServer => {
            let server = spec.embedded_auth_server.clone().map(Box::new);
            server.map(ExternalAuthMethod::EmbeddedAuthServer).ok_or(missing)
        }
        ExternalAuthType::AwsSts => {
            Err("type awsSts signs requests to a remote server, and an MCPServer is none: \
             refer to it from an MCPRemoteProxy, or remove the reference")
        }
        ExternalAuthType::OnBehalfOf => Err("this build cannot do type obo"),
        ExternalAuthType::HeaderInjection
        | ExternalAuthType::Unauthenticated
        | ExternalAuthType::UpstreamInject
        | ExternalAuthType::CrossAppAccess => Ok(ExternalAuthMethod::ByGateway(spec.type_)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(spec: Value) -> Result<(), String> {
        validate(&serde_json::from_value(spec).unwrap()).map_err(|refusal| refusal.to_string())
    }

    fn sts(changes: Value) -> Value {
        let mut sts = json!({"region": "eu-central-1", "fallbackRoleArn": "arn"});
        for (key, value) in changes.as_object().unwrap() {
            sts[key] = value.clone();
        }
        json!({"type": "awsSts", "awsSts": sts})
    }

    #[test]
    fn sound_settings_are_valid() {
        for spec in [
            json!({"type": "unauthenticated"}),
            json!({"type": "tokenExchange", "tokenExchange": {"tokenUrl": "https://t", "audience": "a"}}),
            json!({"type": "upstreamInject", "upstreamInject": {"providerName": "p"}}),
            sts(
                json!({"roleMappings": [{"claim": "c", "roleArn": "arn"}, {"matcher": "m", "roleArn": "arn"}]}),
            ),
        ] {
            assert_eq!(check(spec.clone()), Ok(()), "{spec}");
        }
    }

    #[test]
    fn nonsense_is_told_with_its_place() {
        for (spec, part) in [
            (json!({"type": "bearerToken"}), "bearerToken: is missing"),
            (json!({"type": "unauthenticated", "obo": {}}), "obo: does not belong"),
            (
                json!({"type": "tokenExchange", "tokenExchange": {"tokenUrl": "t", "audience": ""}}),
                "tokenExchange.tokenUrl: is not a URL with a host: write it as https://host/path; \
                 tokenExchange.audience: is empty",
            ),
            (
                json!({"type": "upstreamInject", "upstreamInject": {"providerName": ""}}),
                "providerName: is empty",
            ),
            (sts(json!({"fallbackRoleArn": null})), "awsSts.fallbackRoleArn: and roleMappings are missing"),
            (sts(json!({"roleMappings": [{"roleArn": "arn"}]})), "awsSts.roleMappings[0]: needs either"),
            (sts(json!({"sessionDuration": 1})), "awsSts.sessionDuration"),
            (json!({"type": "obo", "obo": {}}), "this build does not have"),
        ] {
            let error = check(spec).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
