//! What those in front of us say about how clients reach us.

use http::HeaderMap;

/// Where clients think they are, by the word of whoever stands in front of us. By default nobody's word counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forwarded {
    pub(super) host: Option<Box<str>>,
    pub(super) scheme: Option<&'static str>,
    pub(super) prefix: Option<Box<str>>,
}

impl Forwarded {
    /// By the `X-Forwarded-Host`, `-Proto` and `-Prefix` of a request, for when these are to be trusted. Values that
    /// make no sense count as absent.
    pub fn trusted(headers: &HeaderMap) -> Self {
        let first = |name| {
            let value = headers.get(name)?.to_str().ok()?;
            value.split(',').next().map(str::trim)
        };
        let scheme = first("x-forwarded-proto").and_then(|proto| {
            ["http", "https"].into_iter().find(|scheme| scheme.eq_ignore_ascii_case(proto))
        });
        Self {
            host: first("x-forwarded-host").filter(|host| is_host(host)).map(Box::from),
            scheme,
            prefix: first("x-forwarded-prefix").and_then(prefix),
        }
    }
}

fn is_host(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte))
}

/// A prefix of paths that begins with a slash and ends without one; nothing when it would not change a path, or
/// would change more than the path.
pub(super) fn prefix(text: &str) -> Option<Box<str>> {
    let path = text.trim_matches('/');
    let harmless = |byte: u8| byte.is_ascii_graphic() && !b"\\?#".contains(&byte);
    (!path.is_empty() && path.bytes().all(harmless)).then(|| format!("/{path}").into())
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn trusted(name: &'static str, value: &'static str) -> Forwarded {
        let header = (HeaderName::from_static(name), HeaderValue::from_static(value));
        Forwarded::trusted(&HeaderMap::from_iter([header]))
    }

    #[test]
    fn the_first_of_several_counts_and_nonsense_does_not() {
        assert_eq!(trusted("x-forwarded-host", "a.example:8443, b").host, Some("a.example:8443".into()));
        assert_eq!(trusted("x-forwarded-host", "a.example/path").host, None);
        assert_eq!(trusted("x-forwarded-proto", "HTTPS").scheme, Some("https"));
        assert_eq!(trusted("x-forwarded-proto", "javascript").scheme, None);
        assert_eq!(trusted("x-forwarded-prefix", "//evil.example/").prefix, Some("/evil.example".into()));
        assert_eq!(trusted("x-forwarded-prefix", "/").prefix, None);
        assert_eq!(trusted("x-forwarded-prefix", "/a?b").prefix, None);
    }
}
