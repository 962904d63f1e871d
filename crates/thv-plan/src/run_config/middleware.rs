//! What requests pass through, outermost first.

use std::collections::BTreeMap;

use thv_config::authz::AuthzDocument;
use thv_config::middleware::{
    AuditParameters, AuthParameters, AuthorizationParameters, BodyLimitParameters, Middleware,
    MiddlewareConfig, RateLimitParameters, TelemetryParameters, TokenExchangeParameters,
    ToolFilterParameters, UpstreamSwapParameters, WebhookParameters,
};
use thv_config::outgoing::UpstreamSwapConfig;
use thv_config::tool::ToolFace;
use thv_config::webhook::WebhookConfig;
use thv_config::{Json, RunConfig};

use super::Problem;

/// The chain that a configuration asks for. Nothing phones home, so `usagemetrics` is not in it.
pub(super) fn chain(config: &RunConfig) -> Result<Vec<MiddlewareConfig>, Problem> {
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
        Some(Middleware::Recovery),
    ];
    chain
        .into_iter()
        .flatten()
        .map(|middleware| {
            let failed = |error| Problem::new("middleware_configs", format!("cannot be written: {error}"));
            middleware.to_config().map_err(failed)
        })
        .collect()
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

/// With an authorization server in the proxy, Cedar policies see the claims of its upstream provider.
fn authorization(config: &RunConfig) -> Result<Option<Middleware>, Problem> {
    let Some(document) = &config.authz_config else { return Ok(None) };
    let mut document = document.clone();
    if let Some(server) = &config.embedded_auth_server_config {
        let failed = |error: String| Problem::new("authz_config", error);
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
