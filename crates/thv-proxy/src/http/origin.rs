//! Which pages of a browser, and which names of this machine, requests may come from.

use std::net::IpAddr;

use http::{HeaderMap, header};

/// Pages that browsers may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origins(Vec<String>);

impl Origins {
    pub(super) fn new(allowed: &[String]) -> Self {
        Self(allowed.iter().filter_map(|origin| canonical(origin)).collect())
    }

    /// Requests that no page made have no Origin. More than one is nobody's.
    pub(super) fn allow(&self, headers: &HeaderMap) -> bool {
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return true };
        let origin = origin.to_str().ok().and_then(canonical);
        origins.next().is_none() && origin.is_some_and(|origin| self.0.contains(&origin))
    }

    fn hosts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|origin| origin.split_once("://")).map(|(_, authority)| name_of(authority))
    }
}

/// Scheme, host and port, without what else a URL may have. The port counts as it is written.
fn canonical(origin: &str) -> Option<String> {
    let (scheme, rest) = origin.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = name_of(authority);
    if scheme.is_empty() || host.is_empty() || authority.contains('@') {
        return None;
    }
    let port = authority.get(host.len()..).unwrap_or_default();
    Some(format!("{}://{}{port}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase()))
}

/// An authority without its port.
fn name_of(authority: &str) -> &str {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']').map(|end| end + 2),
        None => authority.find(':'),
    };
    end.and_then(|end| authority.get(..end)).unwrap_or(authority)
}

/// Whether the Host header of a request names this machine, or a host that an allowed page is on.
///
/// A page can have its own name resolve to 127.0.0.1, and then talk to whatever listens there as if it were its own
/// server. The name in the Host header gives it away.
pub(super) fn is_own_name(headers: &HeaderMap, origins: &[Origins]) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let Ok(host) = host.to_str() else { return false };
    let name = name_of(host);
    is_loopback(name)
        || origins.iter().flat_map(Origins::hosts).any(|allowed| allowed.eq_ignore_ascii_case(name))
}

/// Whether a host, by name or by address, is this machine and nobody else can reach it.
pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn headers(name: header::HeaderName, values: &[&str]) -> HeaderMap {
        let values = values.iter().map(|value| (name.clone(), HeaderValue::from_str(value).unwrap()));
        HeaderMap::from_iter(values.collect::<Vec<_>>())
    }

    fn origins(allowed: &[&str]) -> Origins {
        Origins::new(&allowed.iter().map(|origin| (*origin).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn an_origin_is_compared_by_scheme_host_and_port() {
        let origins =
            origins(&["https://App.example:8443/x", "http://[::1]:80", "nonsense", "http://u@evil"]);
        for (origin, allowed) in [
            ("https://app.example:8443", true),
            ("HTTPS://APP.EXAMPLE:8443", true),
            ("https://app.example", false),
            ("http://app.example:8443", false),
            ("http://[::1]:80", true),
            ("http://[::1]", false),
            ("http://evil", false),
            ("http://u@evil", false),
            ("nonsense", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(origins.allow(&headers(header::ORIGIN, &[origin])), allowed, "{origin}");
        }
        assert!(origins.allow(&HeaderMap::new()));
        let twice = headers(header::ORIGIN, &["http://[::1]:80", "http://[::1]:80"]);
        assert!(!origins.allow(&twice));
    }

    #[test]
    fn a_host_is_one_of_this_machine_or_of_an_allowed_page() {
        let allowed = [origins(&["https://app.example:8443"])];
        for (host, own) in [
            ("localhost:8080", true),
            ("LOCALHOST", true),
            ("127.0.0.1:1", true),
            ("127.9.9.9", true),
            ("[::1]:8080", true),
            ("app.example:1", true),
            ("evil.example:8080", false),
            ("127.0.0.1.evil.example", false),
            ("10.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(is_own_name(&headers(header::HOST, &[host]), &allowed), own, "{host}");
        }
        assert!(!is_own_name(&HeaderMap::new(), &allowed));
        assert!(!is_own_name(&headers(header::HOST, &["localhost", "localhost"]), &allowed));
    }

    proptest! {
        #[test]
        fn whatever_a_page_claims_is_compared_without_a_panic(claim in "\\PC{0,40}|https?://\\PC{0,20}(:[0-9]{0,6})?") {
            let allowed = origins(&["http://localhost:1"]);
            let Ok(value) = HeaderValue::from_bytes(claim.as_bytes()) else { return Ok(()) };
            let claimed = HeaderMap::from_iter([(header::ORIGIN, value.clone())]);
            prop_assert_eq!(allowed.allow(&claimed), canonical(&claim).is_some_and(|it| it == "http://localhost:1"));
            is_own_name(&HeaderMap::from_iter([(header::HOST, value)]), &[allowed]);
        }

        #[test]
        fn an_origin_that_is_written_down_twice_is_the_same(claim in "[a-zA-Z]{1,5}://[a-zA-Z.]{1,9}(:[0-9]{1,5})?(/x)?") {
            let once = canonical(&claim).unwrap();
            prop_assert_eq!(canonical(&once), Some(once.clone()));
            prop_assert_eq!(canonical(&claim.to_uppercase()).map(|it| it.to_lowercase()), Some(once.to_lowercase()));
        }
    }
}
