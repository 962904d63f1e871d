//! Just enough of URLs to tell whether one makes sense.

use std::net::IpAddr;

/// The parts of an absolute URL that rules are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// In lower case.
    pub scheme: String,
    /// Without port and without brackets.
    pub host: String,
    /// Whether a user name stands before the host.
    pub has_user: bool,
    /// Whether there is a `#`.
    pub has_fragment: bool,
}

impl Url {
    /// Reads a URL that has a scheme and a host.
    pub fn parse(text: &str) -> Option<Self> {
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        let starts_well = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
        if !starts_well || !scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) {
            return None;
        }
        let authority = rest.split(['/', '?', '#']).next()?;
        let (user, place) = authority.rsplit_once('@').map_or((None, authority), |(u, p)| (Some(u), p));
        let host = match place.strip_prefix('[') {
            Some(bracketed) => bracketed.split_once(']')?.0,
            None => place.split_once(':').map_or(place, |(host, _)| host),
        };
        if host.is_empty() {
            return None;
        }
        Some(Self {
            scheme: scheme.to_ascii_lowercase(),
            host: host.to_owned(),
            has_user: user.is_some(),
            has_fragment: rest.contains('#'),
        })
    }

    /// Whether it is `http` or `https`.
    pub fn is_web(&self) -> bool {
        self.is_http() || self.scheme == "https"
    }

    /// Whether it is `http`, without TLS.
    pub fn is_http(&self) -> bool {
        self.scheme == "http"
    }

    /// Whether it leads to the machine itself.
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

/// What is wrong with a URL that has to be https, or http where that is allowed.
pub fn web_url_error(text: &str, allow_http: bool) -> Option<&'static str> {
    match Url::parse(text) {
        None => Some("is not a URL with a host: write it as https://host/path"),
        Some(url) if !url.is_web() => Some("is neither an https nor an http URL"),
        Some(url) if url.is_http() && !allow_http => Some("is an http URL: use https"),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found() {
        for (text, scheme, host) in [
            ("https://a.example/path?x#y", "https", "a.example"),
            ("HTTP://user@a.example:80", "http", "a.example"),
            ("https://[::1]:8443/x", "https", "::1"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.scheme.as_str(), url.host.as_str()), (scheme, host), "{text}");
        }
        assert!(Url::parse("https://u@h/").unwrap().has_user);
        assert!(Url::parse("https://h/#f").unwrap().has_fragment);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["", "example.com", "https://", "https:///x", "://h", "1s://h", "https://a b", "https://[::1"]
        {
            assert_eq!(Url::parse(text), None, "{text}");
        }
    }

    #[test]
    fn loopback_is_known_by_name_and_address() {
        for (text, loopback) in [
            ("http://localhost:1", true),
            ("http://127.0.0.9", true),
            ("http://[::1]", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(Url::parse(text).unwrap().is_loopback(), loopback, "{text}");
        }
    }

    #[test]
    fn http_is_allowed_on_request_only() {
        assert_eq!(web_url_error("https://h", false), None);
        assert_eq!(web_url_error("http://h", true), None);
        assert!(web_url_error("http://h", false).is_some());
        assert!(web_url_error("ftp://h", true).is_some());
        assert!(web_url_error("h", true).is_some());
    }
}
