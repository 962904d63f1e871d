//! How a gateway signs in to a server: `MCPExternalAuthConfig`, as a `VirtualMCPServer` uses it.

use thv_api::kinds::{ExternalAuthType, MCPExternalAuthConfigSpec};
use thv_api::shared::ExternalAuthConfigRef;

use super::config::{self, Config, complete, read, valid};
use super::external_auth::{unsupported, validate};
use super::need::Need;
use super::outcome::{Cause, Outcome, Unusable};
use crate::reference::{Reference, References};

/// The keys that a gateway needs for settings of any type.
pub(super) fn needs(spec: &MCPExternalAuthConfigSpec) -> Vec<Need> {
    let MCPExternalAuthConfigSpec {
        type_: _,
        token_exchange,
        header_injection,
        // A gateway cannot sign in with these.
        bearer_token: _,
        embedded_auth_server: _,
        obo: _,
        // These need no key.
        aws_sts: _,
        upstream_inject: _,
        xaa,
    } = spec;
    let exchange = token_exchange.iter().flat_map(|it| &it.client_secret_ref);
    let header = header_injection.iter().map(|it| &it.value_secret_ref);
    let provider = xaa.iter().flat_map(|it| &it.idp_client_secret_ref);
    let target = xaa.iter().flat_map(|it| &it.target_client_secret_ref);
    exchange
        .map(|secret| Need::secret("tokenExchange.clientSecretRef", secret))
        .chain(header.map(|secret| Need::secret("headerInjection.valueSecretRef", secret)))
        .chain(provider.map(|secret| Need::secret("xaa.idpClientSecretRef", secret)))
        .chain(target.map(|secret| Need::secret("xaa.targetClientSecretRef", secret)))
        .collect()
}

/// What has to be read for a reference.
pub(crate) fn references(name: &str, known: &References) -> Vec<Reference> {
    let object = Reference::object::<MCPExternalAuthConfigSpec>(name);
    config::references(object, known.object::<MCPExternalAuthConfigSpec>(name), needs)
}

/// What becomes of a reference.
pub(crate) fn resolve(
    path: &str,
    reference: Option<&ExternalAuthConfigRef>,
    references: &References,
) -> Outcome<Config<MCPExternalAuthConfigSpec>> {
    Outcome::of(reference, |ExternalAuthConfigRef { name }| usable(path, name, references))
}

fn usable(
    path: &str,
    name: &str,
    references: &References,
) -> Result<Config<MCPExternalAuthConfigSpec>, Unusable> {
    let config = suitable(path, name, references)?;
    complete::<MCPExternalAuthConfigSpec>(path, &needs(&config.spec), name, references)?;
    Ok(config)
}

/// The settings of this name, if a gateway can sign in with them. Whether their Secrets are there is another matter.
pub(crate) fn suitable(
    path: &str,
    name: &str,
    references: &References,
) -> Result<Config<MCPExternalAuthConfigSpec>, Unusable> {
    let spec = read(path, references.object::<MCPExternalAuthConfigSpec>(name), name)?;
    let config = valid(path, spec, name, validate(spec))?;
    let refuse = |cause: Cause, why: &str| {
        Err(cause.at(path, format!("the MCPExternalAuthConfig {name:?} cannot be used: {why}")))
    };
    if let Some(why) = unsupported(spec) {
        return refuse(Cause::Unsupported, why);
    }
    match spec.type_ {
        ExternalAuthType::BearerToken => refuse(
            Cause::WrongType,
            "a VirtualMCPServer does not sign in with type bearerToken: use headerInjection with the header \
             Authorization",
        ),
        ExternalAuthType::EmbeddedAuthServer => refuse(
            Cause::WrongType,
            "type embeddedAuthServer is for clients that sign in, not for signing in: refer to another one",
        ),
        ExternalAuthType::TokenExchange
        | ExternalAuthType::HeaderInjection
        | ExternalAuthType::Unauthenticated
        | ExternalAuthType::AwsSts
        | ExternalAuthType::UpstreamInject
        | ExternalAuthType::OnBehalfOf
        | ExternalAuthType::CrossAppAccess => Ok(config),
    }
}
