//! Where the collector is.

use http::Uri;
use http::uri::{PathAndQuery, Scheme};

/// Where the collector is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Whether it is reached by TLS.
    pub(super) tls: bool,
    /// Name or address, without the brackets of IPv6.
    pub(super) host: String,
    pub(super) port: u16,
    /// For the `Host` header.
    pub(super) authority: String,
    /// What stands before `/v1/…`.
    base: String,
}

/// Why an endpoint cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEndpoint {
    /// It does not have the form.
    #[error("neither host:port nor a URL")]
    Form,
    /// It is of another protocol.
    #[error("only http and https are spoken")]
    Scheme,
    /// It would show in logs.
    #[error("credentials belong into headers, not into the URL")]
    Credentials,
    /// It would be lost.
    #[error("a URL with a query cannot have a path appended")]
    Query,
}

impl Endpoint {
    /// Reads `host:port` or a URL. TLS is used unless the URL or the configuration says otherwise.
    pub(super) fn parse(text: &str, insecure: bool) -> Result<Self, BadEndpoint> {
        let text = text.trim();
        let url = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
        let uri: Uri = url.parse().map_err(|_| BadEndpoint::Form)?;
        let plain = uri.scheme() == Some(&Scheme::HTTP);
        if !plain && uri.scheme() != Some(&Scheme::HTTPS) {
            return Err(BadEndpoint::Scheme);
        }
        let authority = uri.authority().ok_or(BadEndpoint::Form)?;
        if authority.as_str().contains('@') {
            return Err(BadEndpoint::Credentials);
        }
        if uri.query().is_some() {
            return Err(BadEndpoint::Query);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(BadEndpoint::Form);
        }
        let tls = !(plain || insecure);
        // The library takes a port that is none for no port.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => {
                if tls {
                    443
                } else {
                    80
                }
            }
            rest => {
                let digits = rest.and_then(|rest| rest.strip_prefix(':')).ok_or(BadEndpoint::Form)?;
                digits.parse().map_err(|_| BadEndpoint::Form)?
            }
        };
        let base = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { tls, host, port, authority: authority.as_str().to_owned(), base })
    }

    /// Where a signal goes.
    pub(super) fn path(&self, signal: &str) -> Result<PathAndQuery, BadEndpoint> {
        format!("{}/v1/{signal}", self.base).parse().map_err(|_| BadEndpoint::Form)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(text: &str, insecure: bool) -> Result<String, BadEndpoint> {
        let endpoint = Endpoint::parse(text, insecure)?;
        let scheme = if endpoint.tls { "https" } else { "http" };
        Ok(format!("{scheme} {} {} {}", endpoint.host, endpoint.port, endpoint.path("traces")?))
    }

    #[test]
    fn hosts_and_urls_are_understood() {
        for (text, insecure, expected) in [
            ("collector:4318", false, "https collector 4318 /v1/traces"),
            ("collector:4318", true, "http collector 4318 /v1/traces"),
            ("http://collector:4318", false, "http collector 4318 /v1/traces"),
            ("https://collector:4318/", true, "http collector 4318 /v1/traces"),
            ("https://api.example.com/otlp/", false, "https api.example.com 443 /otlp/v1/traces"),
            ("http://api.example.com", false, "http api.example.com 80 /v1/traces"),
            ("[::1]:4318", true, "http ::1 4318 /v1/traces"),
        ] {
            assert_eq!(seen(text, insecure).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_a_collector_is_refused() {
        for (text, expected) in [
            ("", BadEndpoint::Form),
            ("http://", BadEndpoint::Form),
            ("collector:99999", BadEndpoint::Form),
            ("collector:", BadEndpoint::Form),
            ("grpc://collector:4317", BadEndpoint::Scheme),
            ("https://user:word@collector", BadEndpoint::Credentials),
            ("https://collector/?key=1", BadEndpoint::Query),
        ] {
            assert_eq!(seen(text, false), Err(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_has_a_host_and_a_path(text in "\\PC{0,60}", insecure: bool) {
            if let Ok(endpoint) = Endpoint::parse(&text, insecure) {
                prop_assert!(!endpoint.host.is_empty());
                prop_assert!(endpoint.path("metrics").is_ok());
            }
        }
    }
}
