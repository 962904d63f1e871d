//! HTTP headers that users may name.

/// Headers that a proxy itself answers for: those of the connection, and those that tell where a request came
/// from. Nobody may set them for others. In lower case.
pub const RESTRICTED: [&str; 17] = [
    "host",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "http2-settings",
    "proxy-authorization",
    "proxy-authenticate",
    "proxy-connection",
    "transfer-encoding",
    "content-length",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// Whether a header is one of [`RESTRICTED`], in whatever case.
pub fn is_restricted(name: &str) -> bool {
    RESTRICTED.iter().any(|restricted| restricted.eq_ignore_ascii_case(name))
}

/// Whether a text can be the name of a header: a token of RFC 9110.
pub fn is_name(text: &str) -> bool {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(is_token)
}

/// Whether a text can be the value of a header.
pub fn is_value(text: &str) -> bool {
    text.chars().all(|c| c == '\t' || !c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_those_of_http() {
        for name in ["X-Tenant", "x_1", "!#$%&'*+-.^_`|~"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "X Tenant", "X:Y", "Ü", "a\n"] {
            assert!(!is_name(name), "{name}");
        }
        assert!(is_value("") && is_value("a\tb ü"));
        assert!(!is_value("a\r\nb") && !is_value("\u{7f}"));
    }

    #[test]
    fn restricted_headers_are_known_in_every_case() {
        assert!(is_restricted("Host") && is_restricted("X-Real-IP"));
        assert!(!is_restricted("Authorization") && !is_restricted("Hosts"));
    }
}
