//! How the proxy proves to a backend who calls.

use thv_api::kinds::{AwsRoleMapping, AwsSts, TokenExchange};
use thv_config::Credential;
use thv_config::outgoing::{AwsStsConfig, HeaderStrategy, RoleMapping, TokenExchangeConfig};
use thv_config::remote::{HeaderForwardConfig, RemoteAuthConfig};

use super::Referenced;
use crate::resolve::{ExternalAuthMethod, Headers, SecretHeaderValue};

const TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:";

/// An exchange of the caller's token.
pub(super) fn token_exchange(referenced: &Referenced<'_>) -> Option<TokenExchangeConfig> {
    let ExternalAuthMethod::TokenExchange(exchange) = referenced.external_auth? else { return None };
    let TokenExchange {
        token_url,
        client_id,
        // The pod has it in its environment.
        client_secret_ref: _,
        audience,
        scopes,
        subject_token_type,
        external_token_header_name,
        // Only a gateway heeds it.
        subject_provider_name: _,
    } = exchange;
    let header = external_token_header_name.clone().unwrap_or_default();
    Some(TokenExchangeConfig {
        token_url: token_url.clone(),
        client_id: client_id.clone().unwrap_or_default(),
        audience: audience.clone(),
        scopes: scopes.clone().unwrap_or_default(),
        subject_token_type: subject_token_type.as_deref().map(token_type).unwrap_or_default(),
        header_strategy: Some(if header.is_empty() {
            HeaderStrategy::Replace
        } else {
            HeaderStrategy::Custom
        }),
        external_token_header_name: header,
        ..TokenExchangeConfig::default()
    })
}

/// The whole name of a token type.
pub(crate) fn token_type(name: &str) -> String {
    match name {
        "access_token" | "id_token" | "jwt" => format!("{TOKEN_TYPE}{name}"),
        whole => whole.to_owned(),
    }
}

/// A fixed token, by the name under which the pod's environment has it.
pub(super) fn bearer_token(referenced: &Referenced<'_>) -> Option<RemoteAuthConfig> {
    let ExternalAuthMethod::BearerToken(token) = referenced.external_auth? else { return None };
    let bearer_token = Credential::new(format!("{},target=bearer_token", token.token_secret_ref.name));
    Some(RemoteAuthConfig { bearer_token, ..RemoteAuthConfig::default() })
}

/// Headers that are added to every request. Those whose values are secrets, by the names under which the pod's
/// environment has them.
pub(super) fn headers(headers: &Headers) -> HeaderForwardConfig {
    let Headers { plain, secret } = headers;
    let names =
        secret.iter().map(|(header, SecretHeaderValue { id, secret: _ })| (header.clone(), id.clone()));
    HeaderForwardConfig {
        add_plaintext_headers: plain.clone().into(),
        add_headers_from_secret: names.collect(),
    }
}

/// Signatures with credentials of an AWS role.
pub(super) fn aws_sts(referenced: &Referenced<'_>) -> Option<AwsStsConfig> {
    let ExternalAuthMethod::AwsSts(sts) = referenced.external_auth? else { return None };
    let AwsSts {
        region,
        service,
        fallback_role_arn,
        role_mappings,
        role_claim,
        session_duration,
        session_name_claim,
        subject_provider_name,
    } = sts.clone();
    let mapping = |AwsRoleMapping { claim, matcher, role_arn, priority }| RoleMapping {
        claim: claim.unwrap_or_default(),
        matcher: matcher.unwrap_or_default(),
        role_arn,
        priority,
    };
    Some(AwsStsConfig {
        region,
        service,
        fallback_role_arn: fallback_role_arn.unwrap_or_default(),
        role_mappings: role_mappings.unwrap_or_default().into_iter().map(mapping).collect(),
        role_claim,
        session_duration,
        session_name_claim,
        subject_provider_name: subject_provider_name.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn aws_roles_reach_the_configuration() {
        let mapping = json!({"claim": "admins", "roleArn": "arn:a", "priority": 1});
        let sts = json!({"region": "eu-central-1", "fallbackRoleArn": "arn:f", "roleMappings": [mapping]});
        let method = ExternalAuthMethod::AwsSts(serde_json::from_value(sts).unwrap());
        let referenced = Referenced { external_auth: Some(&method), ..Referenced::default() };
        let config: Value = serde_json::to_value(aws_sts(&referenced).unwrap()).unwrap();
        let expected = json!({
            "region": "eu-central-1", "service": "aws-mcp", "fallback_role_arn": "arn:f",
            "role_mappings": [{"claim": "admins", "role_arn": "arn:a", "priority": 1}],
            "role_claim": "groups", "session_duration": 3600, "session_name_claim": "sub",
        });
        assert_eq!(config, expected);
        assert!(bearer_token(&referenced).is_none() && token_exchange(&referenced).is_none());
    }
}
