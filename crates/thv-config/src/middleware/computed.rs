//! The chain that a configuration asks for, outermost first.
//!
//! The operator writes it into the configuration, and a proxy that finds none there computes it: both here.

use std::collections::BTreeMap;

use super::chain::{Middleware, MiddlewareConfig};
use super::parameters::{
    AuditParameters, AuthParameters, AuthorizationParameters, AwsStsParameters, BodyLimitParameters,
    HeaderForwardParameters, RateLimitParameters, TelemetryParameters, TokenExchangeParameters,
    ToolFilterParameters, UpstreamSwapParameters, WebhookParameters,
};
use crate::authz::AuthzDocument;
use crate::json::Json;
use crate::outgoing::UpstreamSwapConfig;
use crate::run_config::RunConfig;
use crate::tool::ToolFace;
use crate::webhook::WebhookConfig;

/// Why there is no chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Unchainable {
    /// The key of the configuration.
    pub path: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

impl RunConfig {
    /// The chain that the configuration asks for. Nothing phones home, so `usagemetrics` is not in it.
    pub fn computed_chain(&self) -> Result<Vec<MiddlewareConfig>, Unchainable> {
        let mut chain = Vec::new();
        for middleware in wanted(self)? {
            chain.push(middleware.to_config().map_err(|error| Unchainable {
                path: "middleware_configs",
                problem: format!("cannot be written: {error}"),
            })?);
        }
        let recovery = chain.len().saturating_sub(1);
        chain.splice(recovery..recovery, self.additional_middleware_configs.iter().cloned());
        Ok(chain)
    }
}

/// In the order in which they are passed through. Recovery is the innermost.
fn wanted(config: &RunConfig) -> Result<impl Iterator<Item = Middleware>, Unchainable> {
    let tool_filter = tool_filter(config);
    let chain = [
        Some(Middleware::BodyLimit(BodyLimitParameters::default())),
        audit(config),
        Some(Middleware::Auth(AuthParameters { oidc_config: config.oidc_config.clone() })),
        upstream_token(config),
        config.token_exchange_config.clone().map(|exchange| {
            Middleware::TokenExchange(TokenExchangeParameters { token_exchange_config: Some(exchange) })
        }),
        tool_filter.clone().map(Middleware::ToolFilter),
        tool_filter.map(Middleware::ToolCallFilter),
        Some(Middleware::McpParser),
        telemetry(config),
        rate_limit(config),
        webhooks(config, &config.mutating_webhooks).map(Middleware::MutatingWebhook),
        webhooks(config, &config.validating_webhooks).map(Middleware::ValidatingWebhook),
        authorization(config)?,
        aws_sts(config),
        header_forward(config),
        Some(Middleware::Recovery),
    ];
    Ok(chain.into_iter().flatten())
}

fn audit(config: &RunConfig) -> Option<Middleware> {
    let audit = config.audit_config.clone()?;
    Some(Middleware::Audit(AuditParameters {
        config_data: Some(audit),
        transport_type: Some(config.transport),
        ..AuditParameters::default()
    }))
}

/// What becomes of the token of the upstream provider: the backend gets it, or nobody does.
fn upstream_token(config: &RunConfig) -> Option<Middleware> {
    let server = config.embedded_auth_server_config.as_ref()?;
    if server.disable_upstream_token_injection {
        return Some(Middleware::StripAuth);
    }
    let swap = UpstreamSwapConfig {
        provider_name: server.first_upstream().to_owned(),
        ..UpstreamSwapConfig::default()
    };
    Some(Middleware::UpstreamSwap(UpstreamSwapParameters { config: Some(swap) }))
}

fn tool_filter(config: &RunConfig) -> Option<ToolFilterParameters> {
    let RunConfig { tools_filter, tools_override, .. } = config;
    if tools_filter.is_empty() && tools_override.is_empty() {
        return None;
    }
    let faces: BTreeMap<String, ToolFace> =
        tools_override.iter().map(|(tool, face)| (tool.clone(), face.clone().into())).collect();
    Some(ToolFilterParameters {
        filter_tools: Some(tools_filter.clone()).filter(|filter| !filter.is_empty()),
        tools_override: Some(faces).filter(|faces| !faces.is_empty()),
    })
}

fn telemetry(config: &RunConfig) -> Option<Middleware> {
    let telemetry = config.telemetry_config.clone()?;
    Some(Middleware::Telemetry(TelemetryParameters {
        config: Some(telemetry),
        server_name: config.name.clone(),
        transport: Some(config.transport),
    }))
}

fn rate_limit(config: &RunConfig) -> Option<Middleware> {
    let limits = config.rate_limit_config.clone()?;
    // Without a Redis the configuration is not valid, and nobody will see this.
    let redis =
        config.scaling_config.as_ref().and_then(|scaling| scaling.session_redis.clone()).unwrap_or_default();
    Some(Middleware::RateLimit(RateLimitParameters {
        namespace: config.rate_limit_namespace.clone(),
        server_name: config.name.clone(),
        config: Some(limits),
        redis_addr: redis.address,
        redis_db: redis.db,
    }))
}

fn webhooks(config: &RunConfig, webhooks: &[WebhookConfig]) -> Option<WebhookParameters> {
    (!webhooks.is_empty()).then(|| WebhookParameters {
        webhooks: webhooks.to_vec(),
        server_name: config.name.clone(),
        transport: Some(config.transport),
    })
}

fn aws_sts(config: &RunConfig) -> Option<Middleware> {
    Some(Middleware::AwsSts(AwsStsParameters {
        aws_sts_config: Some(config.aws_sts_config.clone()?),
        target_url: config.remote_url.clone(),
    }))
}

/// The headers that stand in the configuration itself. The proxy adds those whose values are secrets.
fn header_forward(config: &RunConfig) -> Option<Middleware> {
    let headers = config.header_forward.as_ref().filter(|_| config.is_remote())?;
    let add_headers = headers.add_plaintext_headers.clone();
    (!add_headers.is_empty()).then_some(Middleware::HeaderForward(HeaderForwardParameters { add_headers }))
}

/// With an authorization server in the proxy, Cedar policies see the claims of its upstream provider.
fn authorization(config: &RunConfig) -> Result<Option<Middleware>, Unchainable> {
    let Some(document) = &config.authz_config else { return Ok(None) };
    let mut document = document.clone();
    if let Some(server) = &config.embedded_auth_server_config {
        let failed = |problem: String| Unchainable { path: "authz_config", problem };
        let decoded = document.decode::<AuthzDocument>().map_err(|error| failed(error.to_string()))?;
        let mut typed = decoded.value;
        if let Some(cedar) = &mut typed.cedar {
            server.first_upstream().clone_into(&mut cedar.primary_upstream_provider);
        }
        document = Json::of(&typed).map_err(|error| failed(error.to_string()))?;
    }
    Ok(Some(Middleware::Authorization(AuthorizationParameters {
        config_data: Some(document),
        ..AuthorizationParameters::default()
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::HeaderForwardConfig;
    use crate::transport::Transport;

    fn types(config: &RunConfig) -> Vec<String> {
        config.computed_chain().unwrap().into_iter().map(|entry| entry.type_).collect()
    }

    #[test]
    fn a_plain_configuration_has_the_plain_chain() {
        let config = RunConfig { transport: Transport::StreamableHttp, ..RunConfig::default() };
        assert_eq!(types(&config), ["bodylimit", "auth", "mcp-parser", "recovery"]);
    }

    #[test]
    fn what_is_added_stays_inside_of_everything_but_recovery() {
        let headers = HeaderForwardConfig {
            add_plaintext_headers: BTreeMap::from([("X-A".to_owned(), "1".to_owned())]).into(),
            ..HeaderForwardConfig::default()
        };
        let extra = MiddlewareConfig { type_: "extra".to_owned(), parameters: Json::Null };
        let config = RunConfig {
            remote_url: "https://example.com/mcp".to_owned().into(),
            header_forward: Some(headers),
            additional_middleware_configs: vec![extra],
            ..RunConfig::default()
        };
        assert_eq!(
            types(&config),
            ["bodylimit", "auth", "mcp-parser", "header-forward", "extra", "recovery"]
        );
    }
}
