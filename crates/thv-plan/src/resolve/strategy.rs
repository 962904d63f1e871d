//! How a gateway signs in to a server, as its configuration says it: settings without secrets, and the variables that the
//! secrets come in.

use thv_api::kinds::{
    AwsRoleMapping, AwsSts, CrossAppAccess, ExternalAuthType, HeaderInjection, MCPExternalAuthConfigSpec,
    TokenExchange, UpstreamInject,
};
use thv_api::names::env;
use thv_api::shared::SecretKeyRef;
use thv_config::vmcp;

use super::config::Config;
use super::outcome::{Cause, Misfit};
use crate::env::EnvValue;
use crate::run_config::token_type;

/// A way to sign in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Strategy {
    /// What the configuration says.
    pub(crate) settings: vmcp::AuthStrategy,
    /// The variables that it names.
    pub(crate) env: Vec<(String, EnvValue)>,
    /// The settings that have no effect, and why.
    pub(crate) notes: Vec<String>,
}

impl Strategy {
    /// Nothing to sign in with.
    pub(crate) const fn unauthenticated() -> Self {
        Self { settings: vmcp::AuthStrategy::Unauthenticated, env: Vec::new(), notes: Vec::new() }
    }
}

/// What valid settings mean to a gateway whose authorization server knows these upstream providers.
///
/// Where the settings do not say whose token to start from, the first provider counts, but for type `xaa`: a token of the
/// wrong provider would be handed to a stranger there.
pub(crate) fn strategy(
    config: &Config<MCPExternalAuthConfigSpec>,
    providers: &[&str],
) -> Result<Strategy, Misfit> {
    let MCPExternalAuthConfigSpec {
        type_,
        token_exchange,
        header_injection,
        // A gateway cannot sign in with these.
        bearer_token: _,
        embedded_auth_server: _,
        obo: _,
        aws_sts,
        upstream_inject,
        xaa,
    } = &config.spec;
    let mut variables = Variables(Vec::new());
    let first = providers.first().copied().unwrap_or_default();
    let settings = match type_ {
        ExternalAuthType::Unauthenticated => Some(vmcp::AuthStrategy::Unauthenticated),
        ExternalAuthType::TokenExchange => token_exchange.as_ref().map(|it| {
            let variable =
                variables.set(&config.name, env::token_exchange_client_secret, it.client_secret_ref.as_ref());
            vmcp::AuthStrategy::TokenExchange(exchange(it, variable, first))
        }),
        ExternalAuthType::HeaderInjection => header_injection.as_ref().map(|it| {
            let HeaderInjection { header_name, value_secret_ref } = it;
            let variable = variables.set(&config.name, env::header_injection_value, Some(value_secret_ref));
            vmcp::AuthStrategy::HeaderInjection(vmcp::HeaderInjection {
                header_name: header_name.clone(),
                header_value_env: variable,
                ..vmcp::HeaderInjection::default()
            })
        }),
        ExternalAuthType::UpstreamInject => {
            upstream_inject.as_ref().map(|UpstreamInject { provider_name }| {
                vmcp::AuthStrategy::UpstreamInject(vmcp::UpstreamInject {
                    provider_name: provider_name.clone(),
                })
            })
        }
        ExternalAuthType::AwsSts => aws_sts.as_ref().map(|it| vmcp::AuthStrategy::AwsSts(sts(it, first))),
        ExternalAuthType::CrossAppAccess => match xaa {
            Some(xaa) => Some(cross_app_access(xaa, &config.name, &mut variables, providers)?),
            None => None,
        },
        ExternalAuthType::BearerToken
        | ExternalAuthType::EmbeddedAuthServer
        | ExternalAuthType::OnBehalfOf => None,
    };
    let settings = settings.ok_or_else(|| {
        (Cause::WrongType, format!("a VirtualMCPServer cannot sign in by type {type_}: use another type"))
    })?;
    let header = token_exchange.as_ref().and_then(|it| it.external_token_header_name.as_ref());
    let note = header.map(|_| {
        "tokenExchange.externalTokenHeaderName has no effect: a VirtualMCPServer sends the token in the header \
         Authorization"
            .to_owned()
    });
    Ok(Strategy { settings, env: variables.0, notes: note.into_iter().collect() })
}

/// The variables that secrets come in.
struct Variables(Vec<(String, EnvValue)>);

impl Variables {
    /// The variable for a secret of the settings of this name, or nothing without a secret.
    fn set(&mut self, config: &str, name: fn(&str) -> String, secret: Option<&SecretKeyRef>) -> String {
        let Some(SecretKeyRef { name: secret, key }) = secret else { return String::new() };
        let variable = name(config);
        self.0.push((variable.clone(), EnvValue::Secret { name: secret.clone(), key: key.clone() }));
        variable
    }
}

fn exchange(exchange: &TokenExchange, client_secret_env: String, provider: &str) -> vmcp::TokenExchange {
    let TokenExchange {
        token_url,
        client_id,
        client_secret_ref: _,
        audience,
        scopes,
        subject_token_type,
        // A gateway sends the token as any client would, which is told.
        external_token_header_name: _,
        subject_provider_name,
    } = exchange;
    vmcp::TokenExchange {
        token_url: token_url.clone(),
        client_id: client_id.clone().unwrap_or_default(),
        client_secret_env,
        audience: audience.clone(),
        scopes: scopes.clone().unwrap_or_default(),
        subject_token_type: subject_token_type.as_deref().map(token_type).unwrap_or_default(),
        subject_provider_name: or_first(subject_provider_name.as_ref(), provider),
        ..vmcp::TokenExchange::default()
    }
}

fn sts(sts: &AwsSts, provider: &str) -> vmcp::AwsSts {
    let AwsSts {
        region,
        service,
        fallback_role_arn,
        role_mappings,
        role_claim,
        session_duration,
        session_name_claim,
        subject_provider_name,
    } = sts;
    let mapping =
        |AwsRoleMapping { claim, matcher, role_arn, priority }: &AwsRoleMapping| vmcp::RoleMapping {
            claim: claim.clone().unwrap_or_default(),
            matcher: matcher.clone().unwrap_or_default(),
            role_arn: role_arn.clone(),
            priority: priority.map(i64::from),
        };
    vmcp::AwsSts {
        region: region.clone(),
        service: service.clone(),
        fallback_role_arn: fallback_role_arn.clone().unwrap_or_default(),
        role_mappings: role_mappings.iter().flatten().map(mapping).collect(),
        role_claim: role_claim.clone(),
        session_duration: *session_duration,
        session_name_claim: session_name_claim.clone(),
        subject_provider_name: or_first(subject_provider_name.as_ref(), provider),
    }
}

fn cross_app_access(
    xaa: &CrossAppAccess,
    config: &str,
    variables: &mut Variables,
    providers: &[&str],
) -> Result<vmcp::AuthStrategy, Misfit> {
    let CrossAppAccess {
        idp_token_url,
        idp_client_id,
        idp_client_secret_ref,
        target_token_url,
        insecure_target_token_url,
        target_client_id,
        target_client_secret_ref,
        target_audience,
        target_resource,
        scopes,
        subject_provider_name,
        subject_token_type,
    } = xaa;
    let named = subject_provider_name.as_ref().is_some_and(|name| !name.is_empty());
    if !named && providers.len() > 1 {
        let text =
            "xaa.subjectProviderName is missing, and there are several upstream providers: name one of them";
        return Err((Cause::SeveralUpstreams, text.to_owned()));
    }
    let first = providers.first().copied().unwrap_or_default();
    Ok(vmcp::AuthStrategy::CrossAppAccess(vmcp::CrossAppAccess {
        idp_token_url: idp_token_url.clone(),
        idp_client_id: idp_client_id.clone().unwrap_or_default(),
        idp_client_secret_env: variables.set(
            config,
            env::xaa_idp_client_secret,
            idp_client_secret_ref.as_ref(),
        ),
        target_token_url: target_token_url.clone(),
        insecure_target_token_url: insecure_target_token_url.unwrap_or_default(),
        target_client_id: target_client_id.clone().unwrap_or_default(),
        target_client_secret_env: variables.set(
            config,
            env::xaa_target_client_secret,
            target_client_secret_ref.as_ref(),
        ),
        target_audience: target_audience.clone(),
        target_resource: target_resource.clone().unwrap_or_default(),
        scopes: scopes.clone().unwrap_or_default(),
        subject_provider_name: or_first(subject_provider_name.as_ref(), first),
        subject_token_type: subject_token_type.map(|it| token_type(it.as_str())).unwrap_or_default(),
        ..vmcp::CrossAppAccess::default()
    }))
}

fn or_first(named: Option<&String>, first: &str) -> String {
    named.filter(|name| !name.is_empty()).map_or_else(|| first.to_owned(), Clone::clone)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn made(spec: Value, providers: &[&str]) -> Result<(Value, Vec<String>), String> {
        let spec = serde_json::from_value(spec).unwrap();
        let config = Config { name: "my-cfg".to_owned(), hash: String::new(), spec, notes: Vec::new() };
        let Strategy { settings, env, notes: _ } = strategy(&config, providers).map_err(|(_, why)| why)?;
        let variables = env.into_iter().map(|(name, _)| name).collect();
        Ok((serde_json::to_value(settings).unwrap(), variables))
    }

    #[test]
    fn secrets_come_in_variables_that_are_named_after_the_settings() {
        let secret = json!({"name": "s", "key": "k"});
        let spec = json!({"type": "tokenExchange", "tokenExchange": {
            "tokenUrl": "https://t", "audience": "a", "clientSecretRef": secret, "subjectTokenType": "jwt",
        }});
        let (settings, variables) = made(spec, &["okta", "corp"]).unwrap();
        assert_eq!(
            settings,
            json!({"type": "token_exchange", "tokenExchange": {
                "tokenUrl": "https://t", "audience": "a", "subjectProviderName": "okta",
                "clientSecretEnv": "TOOLHIVE_TOKEN_EXCHANGE_CLIENT_SECRET_MY_CFG",
                "subjectTokenType": "urn:ietf:params:oauth:token-type:jwt",
            }})
        );
        assert_eq!(variables, ["TOOLHIVE_TOKEN_EXCHANGE_CLIENT_SECRET_MY_CFG"]);
        let spec = json!({"type": "headerInjection", "headerInjection": {
            "headerName": "X-Key", "valueSecretRef": secret,
        }});
        let (settings, variables) = made(spec, &[]).unwrap();
        let variable = "TOOLHIVE_HEADER_INJECTION_VALUE_MY_CFG";
        let expected = json!({"type": "header_injection", "headerInjection": {
            "headerName": "X-Key", "headerValueEnv": variable,
        }});
        assert_eq!((settings, variables), (expected, vec![variable.to_owned()]));
    }

    #[test]
    fn access_across_apps_has_variables_too_and_wants_to_know_whose_token_to_start_from() {
        let xaa = |provider: Option<&str>| {
            json!({"type": "xaa", "xaa": {
                "idpTokenUrl": "https://i", "targetTokenUrl": "https://t", "targetAudience": "a",
                "targetClientSecretRef": {"name": "s", "key": "k"}, "subjectProviderName": provider,
            }})
        };
        assert!(made(xaa(None), &["one", "two"]).unwrap_err().contains("subjectProviderName is missing"));
        let (settings, variables) = made(xaa(None), &["one"]).unwrap();
        assert_eq!(settings["xaa"]["subjectProviderName"], "one");
        assert_eq!(variables, ["TOOLHIVE_XAA_TARGET_CLIENT_SECRET_MY_CFG"]);
        assert_eq!(made(xaa(Some("two")), &["one", "two"]).unwrap().0["xaa"]["subjectProviderName"], "two");
    }

    #[test]
    fn what_a_gateway_cannot_do_is_no_strategy() {
        let spec =
            json!({"type": "bearerToken", "bearerToken": {"tokenSecretRef": {"name": "s", "key": "k"}}});
        assert!(made(spec, &[]).unwrap_err().contains("type bearerToken"));
    }
}
