//! What requests pass through.
//!
//! A document carries each middleware as a type and parameters that it does not look into
//! ([`MiddlewareConfig`]). Whoever builds a chain makes entries of [`Middleware`]s, and whoever runs it makes
//! [`Middleware`]s of entries, so that both sides share the parameters.

mod chain;
mod computed;
mod parameters;

pub use chain::{Middleware, MiddlewareConfig, MiddlewareError};
pub use computed::Unchainable;
pub use parameters::{
    AuditParameters, AuthParameters, AuthorizationParameters, AwsStsParameters, BodyLimitParameters,
    HeaderForwardParameters, OriginParameters, RateLimitParameters, TelemetryParameters,
    TokenExchangeParameters, ToolFilterParameters, UpstreamSwapParameters, WebhookParameters,
};
