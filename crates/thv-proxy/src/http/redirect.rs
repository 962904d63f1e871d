//! Redirects that are the backend's own business.

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, StatusCode, Uri, header};

/// How many in a row are followed.
pub(super) const MOST: usize = 10;

/// Where a redirect leads, if that is on the same host: with the same scheme, and on the same port.
pub(super) fn followed(
    status: StatusCode,
    headers: &HeaderMap,
    scheme: &Scheme,
    host: &str,
    asked: &PathAndQuery,
) -> Option<PathAndQuery> {
    use StatusCode as S;
    let redirects = [S::MOVED_PERMANENTLY, S::FOUND, S::TEMPORARY_REDIRECT, S::PERMANENT_REDIRECT];
    if !redirects.contains(&status) {
        return None;
    }
    let location = headers.get(header::LOCATION)?.to_str().ok()?;
    let location = location.split('#').next().unwrap_or_default();
    if location.starts_with('/') && !location.starts_with("//") {
        return location.parse().ok();
    }
    if location.starts_with("//") || location.contains("://") {
        let absolute =
            if location.starts_with('/') { format!("{scheme}:{location}") } else { location.to_owned() };
        let uri: Uri = absolute.parse().ok()?;
        let here: Authority = host.parse().ok()?;
        let same = uri.scheme() == Some(scheme) && same_place(uri.authority()?, &here, scheme);
        return uri.path_and_query().filter(|_| same).cloned();
    }
    if location.is_empty() || location.starts_with('?') {
        return format!("{}{location}", asked.path()).parse().ok();
    }
    let folder = asked.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{folder}/{location}").parse().ok()
}

fn same_place(one: &Authority, other: &Authority, scheme: &Scheme) -> bool {
    let default = if *scheme == Scheme::HTTPS { 443 } else { 80 };
    let port = |authority: &Authority| authority.port_u16().unwrap_or(default);
    !one.as_str().contains('@') && one.host().eq_ignore_ascii_case(other.host()) && port(one) == port(other)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn to(status: u16, location: &str, scheme: &Scheme) -> Option<String> {
        let headers = HeaderMap::from_iter([(header::LOCATION, HeaderValue::from_str(location).unwrap())]);
        let asked = "/a/mcp?x=1".parse().unwrap();
        let status = StatusCode::from_u16(status).unwrap();
        followed(status, &headers, scheme, "mcp-web:8080", &asked).map(|target| target.to_string())
    }

    #[test]
    fn only_the_same_host_is_followed() {
        for (location, expected) in [
            ("http://mcp-web:8080/mcp/", Some("/mcp/")),
            ("http://MCP-WEB:8080/mcp/?a=b#c", Some("/mcp/?a=b")),
            ("//mcp-web:8080/x", Some("/x")),
            ("/mcp/", Some("/mcp/")),
            ("mcp/", Some("/a/mcp/")),
            ("?y=2", Some("/a/mcp?y=2")),
            ("http://mcp-web/mcp/", None),
            ("http://mcp-web:8081/mcp/", None),
            ("http://other:8080/mcp/", None),
            ("http://u@mcp-web:8080/mcp/", None),
            ("//other:8080/x", None),
        ] {
            for status in [301, 302, 307, 308] {
                assert_eq!(to(status, location, &Scheme::HTTP).as_deref(), expected, "{location}");
            }
            assert_eq!(to(303, location, &Scheme::HTTP), None);
            assert_eq!(to(200, location, &Scheme::HTTP), None);
        }
    }

    #[test]
    fn never_from_https_to_http() {
        assert_eq!(to(307, "http://mcp-web:8080/x", &Scheme::HTTPS), None);
        assert_eq!(to(307, "https://mcp-web:8080/x", &Scheme::HTTPS).as_deref(), Some("/x"));
    }

    proptest! {
        #[test]
        fn wherever_a_server_sends_us_we_stay_with_it(location in "\\PC{0,40}|(https?:)?//[a-z@:.0-9-]{0,15}/\\PC{0,9}") {
            let Ok(value) = HeaderValue::from_bytes(location.as_bytes()) else { return Ok(()) };
            let headers = HeaderMap::from_iter([(header::LOCATION, value)]);
            let asked = "/a/mcp?x=1".parse().unwrap();
            let target = followed(StatusCode::FOUND, &headers, &Scheme::HTTP, "mcp-web:8080", &asked);
            // What is followed is a path: it cannot name another host.
            prop_assert!(target.is_none_or(|target| target.as_str().starts_with('/')));
        }
    }
}
