//! Entries of a chain, unread and read.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::parameters::{
    AuditParameters, AuthParameters, AuthorizationParameters, AwsStsParameters, BodyLimitParameters,
    HeaderForwardParameters, OriginParameters, RateLimitParameters, TelemetryParameters,
    TokenExchangeParameters, ToolFilterParameters, UpstreamSwapParameters, WebhookParameters,
};
use crate::json::{Decoded, Json, Malformed, decode_at};
use crate::run_config::WriteError;

/// An entry of a chain as it stands in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MiddlewareConfig {
    /// Which middleware.
    #[serde(rename = "type")]
    pub type_: String,

    /// Its parameters, unread.
    pub parameters: Json,
}

/// Why an entry of a chain cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MiddlewareError {
    /// There is no such middleware.
    #[error("there is no middleware {0:?}: remove it, or run a proxy that has it")]
    Unknown(String),

    /// The parameters are not what they should be.
    #[error("middleware {type_:?}: {malformed}")]
    Malformed {
        /// Which middleware.
        type_: &'static str,
        /// What is wrong where.
        malformed: Malformed,
    },
}

/// Declares the middlewares: their names, and either the type of their parameters or what stands in a document
/// in place of parameters.
macro_rules! middlewares {
    ($(
        $(#[$meta:meta])+
        $variant:ident $(($parameters:ty))? = $name:literal $(, $none:expr)?;
    )+) => {
        /// An entry of a chain, understood.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Middleware {
            $( $(#[$meta])+ $variant $(($parameters))?, )+
        }

        impl Middleware {
            /// The names of all middlewares.
            pub const TYPES: &'static [&'static str] = &[$( $name ),+];

            /// The name in documents.
            pub const fn type_name(&self) -> &'static str {
                match self {
                    $( Self::$variant { .. } => $name, )+
                }
            }

            /// The parameters for a document, in which they stand at `path`.
            pub(crate) fn parameters_at(&self, path: &str) -> Result<Json, WriteError> {
                match self {
                    $( middlewares!(@pattern $variant parameters $($parameters)?) => {
                        middlewares!(@encode path, parameters $(, $parameters)? $(; $none)?)
                    } )+
                }
            }

            fn decode(config: &MiddlewareConfig) -> Result<Decoded<Self>, MiddlewareError> {
                match config.type_.as_str() {
                    $( $name => middlewares!(@decode config, $name, $variant $(, $parameters)?), )+
                    other => Err(MiddlewareError::Unknown(other.to_owned())),
                }
            }
        }
    };
    (@pattern $variant:ident $bound:ident $parameters:ty) => { Self::$variant($bound) };
    (@pattern $variant:ident $bound:ident) => { Self::$variant };
    (@encode $path:ident, $bound:ident, $parameters:ty) => { encode($bound, $path) };
    (@encode $path:ident, $bound:ident; $none:expr) => { Ok($none) };
    (@decode $config:ident, $name:literal, $variant:ident, $parameters:ty) => {
        decode::<$parameters>($config, $name)
            .map(|Decoded { value, unknown }| Decoded { value: Self::$variant(value), unknown })
    };
    (@decode $config:ident, $name:literal, $variant:ident) => {
        decode::<Nothing>($config, $name)
            .map(|Decoded { value: Nothing {}, unknown }| Decoded { value: Self::$variant, unknown })
    };
}

middlewares! {
    /// Who calls.
    Auth(AuthParameters) = "auth";
    /// An exchange of the caller's token.
    TokenExchange(TokenExchangeParameters) = "tokenexchange";
    /// A token of an upstream provider.
    UpstreamSwap(UpstreamSwapParameters) = "upstreamswap";
    /// Signatures of an AWS role.
    AwsSts(AwsStsParameters) = "awssts";
    /// Tokens on behalf of the caller, by an extension that defines the parameters.
    Obo(Json) = "obo";
    /// A limit on the size of requests.
    BodyLimit(BodyLimitParameters) = "bodylimit";
    /// Understanding requests.
    McpParser = "mcp-parser", Json::empty_object();
    /// Hiding and renaming tools in lists.
    ToolFilter(ToolFilterParameters) = "tool-filter";
    /// Hiding and renaming tools in calls.
    ToolCallFilter(ToolFilterParameters) = "tool-call-filter";
    /// Limits on calls.
    RateLimit(RateLimitParameters) = "ratelimit";
    /// Reports of usage to the makers of the Go programs. Accepted, and does nothing.
    UsageMetrics = "usagemetrics", Json::empty_object();
    /// Traces and metrics.
    Telemetry(TelemetryParameters) = "telemetry";
    /// Who may do what.
    Authorization(AuthorizationParameters) = "authorization";
    /// Records of requests.
    Audit(AuditParameters) = "audit";
    /// Survival of bugs.
    Recovery = "recovery", Json::Null;
    /// Headers for a remote server.
    HeaderForward(HeaderForwardParameters) = "header-forward";
    /// Removal of the caller's credentials.
    StripAuth = "strip-auth", Json::empty_object();
    /// Which pages browsers may come from.
    Origin(OriginParameters) = "origin";
    /// Webhooks that may refuse requests.
    ValidatingWebhook(WebhookParameters) = "validating-webhook";
    /// Webhooks that may change requests.
    MutatingWebhook(WebhookParameters) = "mutating-webhook";
}

/// Parameters of a middleware that has none.
#[derive(Default, Deserialize)]
struct Nothing {}

impl Middleware {
    /// The entry for a document. Refused if it would hold a credential.
    pub fn to_config(&self) -> Result<MiddlewareConfig, WriteError> {
        let parameters = self.parameters_at("parameters")?;
        Ok(MiddlewareConfig { type_: self.type_name().to_owned(), parameters })
    }
}

impl MiddlewareConfig {
    /// Understands the entry. Paths of unknown keys begin at the parameters.
    pub fn decode(&self) -> Result<Decoded<Middleware>, MiddlewareError> {
        Middleware::decode(self)
    }
}

fn encode<T: Serialize>(parameters: &T, path: &str) -> Result<Json, WriteError> {
    let mut bytes = Vec::new();
    serde_path_to_error::serialize(parameters, &mut serde_json::Serializer::new(&mut bytes))
        .map_err(|error| WriteError::new(format!("{path}.{}", error.path()), error.inner()))?;
    serde_json::from_slice(&bytes).map_err(|error| WriteError::new(path.to_owned(), &error))
}

fn decode<T: DeserializeOwned>(
    config: &MiddlewareConfig,
    type_: &'static str,
) -> Result<Decoded<T>, MiddlewareError> {
    let empty = Json::empty_object();
    let parameters = if config.parameters == Json::Null { &empty } else { &config.parameters };
    decode_at(parameters, "parameters").map_err(|malformed| MiddlewareError::Malformed { type_, malformed })
}
