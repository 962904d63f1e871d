//! What requests pass through, as far as this program can do it.

use http::{HeaderMap, HeaderName, HeaderValue};
use thv_config::middleware::{
    AuthParameters, BodyLimitParameters, HeaderForwardParameters, Middleware, OriginParameters,
};

use super::origin::Origins;

/// A middleware that cannot be had. The proxy does not start without what the user asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// This program does not have it.
    #[error(
        "the middleware {0:?} is asked for, which this proxy does not have: remove it, or run a proxy that has it"
    )]
    Type(&'static str),
    /// Tokens cannot be checked.
    #[error("the middleware \"auth\" is to check tokens (oidc_config), which this proxy cannot do")]
    Oidc,
    /// Without it, nobody says who calls.
    #[error("the list of middlewares has no \"auth\": nobody would say who calls")]
    NoAuth,
    /// The proxy itself sets that header.
    #[error("the middleware \"header-forward\" must not set the header {0:?}")]
    Restricted(String),
    /// No such header can exist. The value is not shown.
    #[error("the middleware \"header-forward\" has a header that cannot be sent: {0:?}")]
    Malformed(String),
}

/// What requests pass through.
///
/// The order of the list does not matter for these: each has its place on the one road of a request.
#[derive(Clone, Debug)]
pub struct Chain {
    pub(super) body_limit: usize,
    /// All of them have to agree.
    pub(super) origins: Vec<Origins>,
    /// For requests to a server elsewhere.
    pub(super) forward: HeaderMap,
    /// Whether requests are counted and traced.
    pub(super) telemetry: bool,
}

impl Chain {
    /// What the list asks for, or why that cannot be had.
    pub fn new(middlewares: &[Middleware]) -> Result<Self, Unsupported> {
        let default = usize::try_from(BodyLimitParameters::DEFAULT).unwrap_or(usize::MAX);
        let mut chain =
            Self { body_limit: usize::MAX, origins: Vec::new(), forward: HeaderMap::new(), telemetry: false };
        let mut authenticated = false;
        for middleware in middlewares {
            match middleware {
                Middleware::BodyLimit(BodyLimitParameters { max_bytes }) => {
                    let limit = usize::try_from(*max_bytes).ok().filter(|limit| *limit > 0);
                    chain.body_limit = chain.body_limit.min(limit.unwrap_or(default));
                }
                Middleware::Origin(OriginParameters { allowed_origins }) => {
                    chain.origins.push(Origins::new(allowed_origins));
                }
                Middleware::Auth(AuthParameters { oidc_config: None }) => authenticated = true,
                Middleware::Auth(AuthParameters { oidc_config: Some(_) }) => return Err(Unsupported::Oidc),
                Middleware::HeaderForward(HeaderForwardParameters { add_headers }) => {
                    for (name, value) in &**add_headers {
                        let (name, value) = forwarded(name, value)?;
                        chain.forward.insert(name, value);
                    }
                }
                Middleware::Telemetry(_) => chain.telemetry = true,
                // Every request is understood, and every bug survived, whether the list says so or not. Usage is
                // reported to nobody.
                Middleware::McpParser | Middleware::Recovery | Middleware::UsageMetrics => {}
                other => return Err(Unsupported::Type(other.type_name())),
            }
        }
        if !authenticated {
            return Err(Unsupported::NoAuth);
        }
        if chain.body_limit == usize::MAX {
            chain.body_limit = default;
        }
        Ok(chain)
    }
}

fn forwarded(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Unsupported> {
    let malformed = || Unsupported::Malformed(name.to_owned());
    let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| malformed())?;
    if thv_config::header::is_restricted(header.as_str()) {
        return Err(Unsupported::Restricted(name.to_owned()));
    }
    if header == http::header::AUTHORIZATION {
        tracing::warn!("header-forward replaces the Authorization header of every client");
    }
    let mut value = HeaderValue::from_str(value).map_err(|_| malformed())?;
    value.set_sensitive(true);
    Ok((header, value))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use thv_config::middleware::{
        AuditParameters, AuthorizationParameters, RateLimitParameters, ToolFilterParameters,
        WebhookParameters,
    };
    use thv_config::oidc::OidcConfig;

    use super::*;

    fn auth() -> Middleware {
        Middleware::Auth(AuthParameters::default())
    }

    fn header(name: &str, value: &str) -> Middleware {
        let add_headers = BTreeMap::from([(name.to_owned(), value.to_owned())]).into();
        Middleware::HeaderForward(HeaderForwardParameters { add_headers })
    }

    #[test]
    fn what_works_here_is_accepted() {
        let limit = |max_bytes| Middleware::BodyLimit(BodyLimitParameters { max_bytes });
        let all = [
            limit(0),
            limit(100),
            auth(),
            Middleware::McpParser,
            Middleware::UsageMetrics,
            Middleware::Recovery,
            header("X-Key", "hush"),
        ];
        let chain = Chain::new(&all).unwrap();
        assert_eq!((chain.body_limit, chain.telemetry), (100, false));
        assert!(!format!("{chain:?}").contains("hush"));
    }

    #[test]
    fn any_other_middleware_is_a_start_error_that_names_it() {
        for middleware in [
            Middleware::StripAuth,
            Middleware::ToolFilter(ToolFilterParameters::default()),
            Middleware::RateLimit(RateLimitParameters::default()),
            Middleware::Authorization(AuthorizationParameters::default()),
            Middleware::Audit(AuditParameters::default()),
            Middleware::ValidatingWebhook(WebhookParameters::default()),
        ] {
            let name = middleware.type_name();
            let error = Chain::new(&[auth(), middleware]).unwrap_err();
            assert_eq!(error, Unsupported::Type(name));
            assert!(error.to_string().contains(name));
        }
    }

    #[test]
    fn missing_or_unenforceable_auth_is_never_no_auth() {
        assert_eq!(Chain::new(&[]).unwrap_err(), Unsupported::NoAuth);
        let oidc = Middleware::Auth(AuthParameters { oidc_config: Some(OidcConfig::default()) });
        assert_eq!(Chain::new(&[oidc]).unwrap_err(), Unsupported::Oidc);
    }

    #[test]
    fn headers_that_the_proxy_answers_for_cannot_be_forwarded() {
        for name in ["Host", "connection", "X-Forwarded-For", "Content-Length", "X-Real-IP"] {
            assert_eq!(
                Chain::new(&[auth(), header(name, "x")]).unwrap_err(),
                Unsupported::Restricted(name.to_owned())
            );
        }
        for (name, value) in [("X Key", "x"), ("X-Key", "a\nb")] {
            let error = Chain::new(&[auth(), header(name, value)]).unwrap_err();
            assert_eq!(error, Unsupported::Malformed(name.to_owned()));
        }
    }
}
