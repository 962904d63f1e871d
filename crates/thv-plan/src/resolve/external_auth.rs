//! How credentials for what a proxy calls are obtained: `MCPExternalAuthConfig`.

use thv_api::auth_server::EmbeddedAuthServer;
use thv_api::kinds::{
    AwsRoleMapping, AwsSts, BearerToken, ExternalAuthType, MCPExternalAuthConfigSpec, TokenExchange,
    UpstreamInject,
};
use thv_api::shared::ExternalAuthConfigRef;

use super::auth_server;
use super::config::{self, complete, config_hash, read};
use super::need::Need;
use super::outcome::{Cause, Misfit, Outcome};
use super::url::web_url_error;
use crate::invalid::InvalidList;
use crate::reference::{Reference, References};

/// A way to obtain credentials.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalAuth {
    /// The name of the object.
    pub name: String,
    /// Digest of its spec.
    pub hash: String,
    /// The way.
    pub method: ExternalAuthMethod,
    /// Settings of it that have no effect on a proxy.
    pub notes: Vec<String>,
}

/// Ways to obtain credentials.
#[derive(Clone, Debug, PartialEq)]
pub enum ExternalAuthMethod {
    /// Exchange the caller's token.
    TokenExchange(TokenExchange),
    /// Send a fixed bearer token.
    BearerToken(BearerToken),
    /// Run an authorization server in the proxy.
    EmbeddedAuthServer(Box<EmbeddedAuthServer>),
    /// Sign requests to a remote server with credentials of an AWS role.
    AwsSts(AwsSts),
    /// Nothing for the proxy to do: a `VirtualMCPServer` in front of it signs in this way.
    ByGateway(ExternalAuthType),
}

impl ExternalAuthMethod {
    /// The authorization server that runs in the proxy, if this is the way.
    pub fn embedded_auth_server(&self) -> Option<&EmbeddedAuthServer> {
        match self {
            Self::EmbeddedAuthServer(server) => Some(server),
            Self::TokenExchange(_) | Self::BearerToken(_) | Self::AwsSts(_) | Self::ByGateway(_) => None,
        }
    }
}

/// Why this build cannot do what settings ask for, if it cannot.
pub fn unsupported(spec: &MCPExternalAuthConfigSpec) -> Option<&'static str> {
    (spec.type_ == ExternalAuthType::OnBehalfOf)
        .then_some("type obo needs an extension that this build does not have: use another type")
}

/// Whether only a gateway signs in this way: the proxy of a server has nothing to do for it.
pub(crate) const fn is_for_gateways(spec: &MCPExternalAuthConfigSpec) -> bool {
    match spec.type_ {
        ExternalAuthType::HeaderInjection
        | ExternalAuthType::Unauthenticated
        | ExternalAuthType::UpstreamInject
        | ExternalAuthType::OnBehalfOf
        | ExternalAuthType::CrossAppAccess => true,
        ExternalAuthType::TokenExchange
        | ExternalAuthType::BearerToken
        | ExternalAuthType::EmbeddedAuthServer
        | ExternalAuthType::AwsSts => false,
    }
}

/// What is wrong with settings, for whichever object refers to them.
pub fn validate(spec: &MCPExternalAuthConfigSpec) -> Result<(), InvalidList> {
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
    let mut invalid = InvalidList::default();
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
        invalid.unless(set == (*type_ == method), method.as_str(), text);
    }
    if let Some(exchange) = token_exchange {
        invalid.below("tokenExchange", validate_exchange(exchange));
    }
    if let Some(header) = header_injection {
        invalid.required(&header.header_name, "headerInjection.headerName");
    }
    if let Some(server) = embedded_auth_server {
        invalid.below("embeddedAuthServer", auth_server::validate(server));
    }
    if let Some(sts) = aws_sts {
        invalid.below("awsSts", validate_sts(sts));
    }
    if let Some(UpstreamInject { provider_name }) = upstream_inject {
        invalid.required(provider_name, "upstreamInject.providerName");
    }
    invalid.finish()
}

fn validate_exchange(exchange: &TokenExchange) -> Result<(), InvalidList> {
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
    let mut invalid = InvalidList::default();
    if let Some(error) = web_url_error(token_url, true) {
        invalid.add("tokenUrl", error);
    }
    invalid.required(audience, "audience");
    invalid.finish()
}

fn validate_sts(sts: &AwsSts) -> Result<(), InvalidList> {
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
    let mut invalid = InvalidList::default();
    invalid.required(region, "region");
    let some_role = fallback_role_arn.as_ref().is_some_and(|arn| !arn.is_empty())
        || role_mappings.as_ref().is_some_and(|mappings| !mappings.is_empty());
    invalid.unless(some_role, "fallbackRoleArn", "and roleMappings are missing: set one of them");
    for (index, AwsRoleMapping { claim, matcher, role_arn, priority: _ }) in
        role_mappings.iter().flatten().enumerate()
    {
        invalid.required(role_arn, format!("roleMappings[{index}].roleArn"));
        let one = claim.is_some() != matcher.is_some();
        invalid.unless(one, format!("roleMappings[{index}]"), "needs either claim or matcher");
    }
    invalid.unless((900..=43_200).contains(session_duration), "sessionDuration", "is not from 900 to 43200");
    invalid.finish()
}

/// The keys that a proxy needs for settings of any type. What only a gateway reads is not among them.
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

/// What has to be read for a reference to the object of this name.
pub(crate) fn references(name: &str, known: &References) -> Vec<Reference> {
    let object = Reference::object::<MCPExternalAuthConfigSpec>(name);
    config::references(object, known.object::<MCPExternalAuthConfigSpec>(name), needs)
}

/// What becomes of a reference. `suits` says what keeps a way from suiting the object that refers to it.
pub(crate) fn resolve(
    path: &str,
    reference: Option<&ExternalAuthConfigRef>,
    references: &References,
    suits: impl FnOnce(&ExternalAuthMethod) -> Result<(), Misfit>,
) -> Outcome<ExternalAuth> {
    Outcome::of(reference, |ExternalAuthConfigRef { name }| {
        let spec = read(path, references.object::<MCPExternalAuthConfigSpec>(name), name)?;
        let unusable = |(cause, text): Misfit| {
            cause.at(path, format!("the MCPExternalAuthConfig {name:?} cannot be used: {text}"))
        };
        let method = method(spec).map_err(unusable)?;
        suits(&method).map_err(unusable)?;
        complete::<MCPExternalAuthConfigSpec>(path, &needs(spec), name, references)?;
        Ok(ExternalAuth { name: name.clone(), hash: config_hash(spec), notes: notes(spec), method })
    })
}

/// Settings that only a gateway heeds.
pub(super) fn notes(spec: &MCPExternalAuthConfigSpec) -> Vec<String> {
    let exchange = spec.token_exchange.as_ref().and_then(|it| it.subject_provider_name.as_ref());
    let sts = spec.aws_sts.as_ref().and_then(|it| it.subject_provider_name.as_ref());
    let server = spec.embedded_auth_server.as_ref().and_then(|it| it.primary_upstream_provider.as_ref());
    [
        ("tokenExchange.subjectProviderName", exchange),
        ("awsSts.subjectProviderName", sts),
        ("embeddedAuthServer.primaryUpstreamProvider", server),
    ]
    .into_iter()
    .filter(|(_, value)| value.is_some_and(|value| !value.is_empty()))
    .map(|(field, _)| format!("{field} has no effect here: only a VirtualMCPServer heeds it"))
    .collect()
}

/// What settings mean to a proxy.
fn method(spec: &MCPExternalAuthConfigSpec) -> Result<ExternalAuthMethod, Misfit> {
    validate(spec).map_err(|invalid| (Cause::Invalid, invalid.to_string()))?;
    if let Some(why) = unsupported(spec) {
        return Err((Cause::Unsupported, why.to_owned()));
    }
    if is_for_gateways(spec) {
        return Ok(ExternalAuthMethod::ByGateway(spec.type_));
    }
    let method = match spec.type_ {
        ExternalAuthType::TokenExchange => spec.token_exchange.clone().map(ExternalAuthMethod::TokenExchange),
        ExternalAuthType::BearerToken => spec.bearer_token.clone().map(ExternalAuthMethod::BearerToken),
        ExternalAuthType::EmbeddedAuthServer => {
            spec.embedded_auth_server.clone().map(Box::new).map(ExternalAuthMethod::EmbeddedAuthServer)
        }
        ExternalAuthType::AwsSts => spec.aws_sts.clone().map(ExternalAuthMethod::AwsSts),
        ExternalAuthType::HeaderInjection
        | ExternalAuthType::Unauthenticated
        | ExternalAuthType::UpstreamInject
        | ExternalAuthType::OnBehalfOf
        | ExternalAuthType::CrossAppAccess => None,
    };
    method.ok_or_else(|| (Cause::Invalid, "the settings of its type are missing".to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(spec: Value) -> Result<(), String> {
        validate(&serde_json::from_value(spec).unwrap()).map_err(|invalid| invalid.to_string())
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
        ] {
            let error = check(spec).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
    #[test]
    fn what_this_build_cannot_do_is_told_apart_from_what_is_invalid() {
        let spec = serde_json::from_value(json!({"type": "obo", "obo": {}})).unwrap();
        assert_eq!(validate(&spec), Ok(()));
        let (cause, why) = method(&spec).unwrap_err();
        assert_eq!(cause, Cause::Unsupported);
        assert!(why.contains("this build does not have"), "{why}");
    }
}
