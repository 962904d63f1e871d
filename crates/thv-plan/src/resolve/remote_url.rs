//! Which URLs of remote servers are allowed.
//!
//! Whoever may create an object must not make the proxy, which runs inside, call what only the inside may call: the
//! machine itself, the metadata service of a cloud, the API server. No name is looked up here, so a name that leads there
//! is not found out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::url::Url;
use crate::invalid::Invalid;

/// Names that lead inside, wherever the cluster is.
const NEVER: [&str; 5] = [
    "localhost",
    "kubernetes.default.svc.cluster.local",
    "kubernetes.default.svc",
    "kubernetes.default",
    "metadata.google.internal",
];

/// What names of Services within the cluster end with.
const CLUSTER: &str = "cluster.local";

/// What is wrong with the URL of a remote server at this path.
pub(crate) fn check(path: &str, text: &str, allow_private: bool) -> Result<(), Invalid> {
    let invalid = |message: &str| Invalid::new(path, message);
    let Some(url) = Url::parse(text) else {
        return Err(invalid("is not a URL with a host: write it as https://host/path"));
    };
    if !url.is_web() {
        return Err(invalid("is neither an https nor an http URL"));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    if !url.host.chars().all(is_plain) {
        // Others might read another host out of it than we do.
        return Err(invalid("has a host with characters that no host has: write it as https://host/path"));
    }
    match reach(&url.host) {
        Reach::Outside => Ok(()),
        Reach::Private if allow_private => Ok(()),
        Reach::Private => Err(invalid(
            "leads to a private address: set allowPrivateEndpoint if that is meant, or name a public one",
        )),
        Reach::Never => Err(invalid(
            "leads to the machine itself, to a link-local address or to the API server, which no remote server is: name \
             another one",
        )),
    }
}

/// Where a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Outside,
    /// In the cluster, or in a private network.
    Private,
    /// Nowhere that a remote server could be.
    Never,
}

fn reach(host: &str) -> Reach {
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => of_v4(address),
        Ok(IpAddr::V6(address)) => of_v6(address),
        Err(_) => of_name(host),
    }
}

fn of_v4(address: Ipv4Addr) -> Reach {
    let [first, ..] = address.octets();
    if first == 0 || address.is_loopback() || address.is_link_local() {
        Reach::Never
    } else if address.is_private() {
        Reach::Private
    } else {
        Reach::Outside
    }
}

fn of_v6(address: Ipv6Addr) -> Reach {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return of_v4(mapped);
    }
    if address.is_unspecified() || address.is_loopback() || address.is_unicast_link_local() {
        Reach::Never
    } else if address.is_unique_local() {
        Reach::Private
    } else {
        Reach::Outside
    }
}

fn of_name(host: &str) -> Reach {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_below =
        |name: &str| host == name || host.strip_suffix(name).is_some_and(|before| before.ends_with('.'));
    if NEVER.iter().any(|name| is_below(name)) || is_odd_number(&host) {
        Reach::Never
    } else if is_below(CLUSTER) {
        Reach::Private
    } else {
        Reach::Outside
    }
}

/// Whether a host is an address in a notation that resolvers understand and we do not, such as `2130706433` or `0x7f.1`.
fn is_odd_number(host: &str) -> bool {
    let is_number = |part: &str| {
        let hex = part.strip_prefix("0x").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit()));
        hex || (!part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
    };
    host.split('.').all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_apart_by_where_they_are() {
        for (host, expected) in [
            ("mcp.example.com", Reach::Outside),
            ("8.8.8.8", Reach::Outside),
            ("2001:db8::1", Reach::Outside),
            ("localhost.example.com", Reach::Outside),
            ("notlocalhost", Reach::Outside),
            ("tools.team.svc", Reach::Outside),
            ("10.1.2.3", Reach::Private),
            ("172.31.0.1", Reach::Private),
            ("192.168.0.1", Reach::Private),
            ("fd00::1", Reach::Private),
            ("::ffff:10.0.0.1", Reach::Private),
            ("web.team.svc.cluster.local", Reach::Private),
            ("Web.Team.SVC.Cluster.Local.", Reach::Private),
            ("0.0.0.0", Reach::Never),
            ("0.1.2.3", Reach::Never),
            ("127.0.0.53", Reach::Never),
            ("169.254.169.254", Reach::Never),
            ("::", Reach::Never),
            ("::1", Reach::Never),
            ("fe80::1", Reach::Never),
            ("::ffff:127.0.0.1", Reach::Never),
            ("LOCALHOST", Reach::Never),
            ("a.localhost", Reach::Never),
            ("localhost.", Reach::Never),
            ("kubernetes.default", Reach::Never),
            ("kubernetes.default.svc.cluster.local", Reach::Never),
            ("metadata.google.internal", Reach::Never),
            ("2130706433", Reach::Never),
            ("0x7f.1", Reach::Never),
            ("127.1", Reach::Never),
        ] {
            assert_eq!(reach(host), expected, "{host}");
        }
    }

    #[test]
    fn a_private_address_has_to_be_meant_and_others_never_can() {
        assert!(check("u", "https://10.0.0.1/mcp", false).is_err());
        check("u", "https://10.0.0.1/mcp", true).unwrap();
        assert!(check("u", "https://127.0.0.1/mcp", true).is_err());
        assert!(check("u", "https://user@127.0.0.1/mcp", true).is_err());
        assert!(check("u", "https://[::1]/mcp", true).is_err());
        assert!(check("u", "ftp://example.com", true).is_err());
        assert!(check("u", "example.com", true).is_err());
        check("u", "http://mcp.example.com:8080/mcp", false).unwrap();
    }
}
