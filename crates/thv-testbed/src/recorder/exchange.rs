//! One request as the API server sees it, and patterns over such requests.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use http::request::Parts;
use serde_json::Value;

/// What a request does, in the words of the Kubernetes API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Read one object.
    Get,
    /// Read several.
    List,
    /// Follow changes.
    Watch,
    /// POST.
    Create,
    /// Server-side apply.
    Apply,
    /// JSON merge patch.
    MergePatch,
    /// JSON patch.
    JsonPatch,
    /// Strategic merge patch.
    StrategicPatch,
    /// PUT: replaces an object whole.
    Put,
    /// Delete one object.
    Delete,
    /// Delete several.
    DeleteCollection,
    /// Any write that the API server is asked to judge and not to carry out.
    DryRun,
    /// Attach, exec, logs, proxying, discovery and whatever else is not about objects.
    Other,
}

impl Verb {
    /// Whether it can change an object.
    pub fn is_write(self) -> bool {
        match self {
            Self::Get | Self::List | Self::Watch | Self::DryRun | Self::Other => false,
            Self::Create
            | Self::Apply
            | Self::MergePatch
            | Self::JsonPatch
            | Self::StrategicPatch
            | Self::Put
            | Self::Delete
            | Self::DeleteCollection => true,
        }
    }
}

/// A request, what it was about, and how it ended.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its place in the order of arrival, from 0.
    pub number: usize,
    /// When it arrived.
    pub at: Instant,
    /// What it does.
    pub verb: Verb,
    /// The path without the query.
    pub path: String,
    /// The decoded query.
    pub query: BTreeMap<String, String>,
    /// The API group, empty for the core group.
    pub group: String,
    /// The plural name of the kind.
    pub resource: String,
    /// The namespace, for objects that have one.
    pub namespace: Option<String>,
    /// The name of the object, unless the request is about several or the server makes one up.
    pub name: Option<String>,
    /// The subresource, such as `status`.
    pub subresource: Option<String>,
    /// Who sent it, as it says of itself.
    pub user_agent: String,
    /// The forms that it takes as an answer, such as metadata only.
    pub accept: String,
    /// The JSON that was sent.
    pub body: Option<Value>,
    /// What the API server answered; nothing while it has not, or if the request never got there.
    pub answered: Option<u16>,
    /// What the client was told; nothing while it has not been, or if its connection was cut.
    pub told: Option<u16>,
}

impl Exchange {
    /// Reads a request's head. The rest is filled in as the exchange goes on.
    pub(super) fn read(head: &Parts, body: &[u8]) -> Self {
        let path = head.uri.path().to_owned();
        let query = parse_query(head.uri.query().unwrap_or_default());
        let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let about = About::read(&path);
        let verb = verb(head.method.as_str(), header(http::header::CONTENT_TYPE), &query, &about);
        Self {
            number: 0,
            at: Instant::now(),
            verb,
            path,
            query,
            group: about.group,
            resource: about.resource,
            namespace: about.namespace,
            name: about.name,
            subresource: about.subresource,
            user_agent: header(http::header::USER_AGENT).to_owned(),
            accept: header(http::header::ACCEPT).to_owned(),
            body: serde_json::from_slice(body).ok(),
            answered: None,
            told: None,
        }
    }

    /// The field manager of a write.
    pub fn field_manager(&self) -> Option<&str> {
        self.query.get("fieldManager").map(String::as_str)
    }

    /// Whether the body arrives in pieces for as long as the connection lives.
    pub(super) fn is_stream(&self) -> bool {
        let is_true = |key| self.query.get(key).is_some_and(|value| value == "true" || value == "1");
        self.verb == Verb::Watch || is_true("follow")
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "#{} {:?} {}", self.number, self.verb, self.path)?;
        if let Some(manager) = self.field_manager() {
            write!(f, " by {manager}")?;
        }
        match (self.answered, self.told) {
            (Some(answered), Some(told)) if answered == told => write!(f, " → {told}"),
            (answered, told) => write!(f, " → server {answered:?}, client {told:?}"),
        }
    }
}

/// What a path is about.
#[derive(Debug, Default, PartialEq, Eq)]
struct About {
    group: String,
    resource: String,
    namespace: Option<String>,
    name: Option<String>,
    subresource: Option<String>,
}

impl About {
    fn read(path: &str) -> Self {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let (group, rest) = match segments.as_slice() {
            ["api", _, rest @ ..] => ("", rest),
            ["apis", group, _, rest @ ..] => (*group, rest),
            _ => return Self::default(),
        };
        let (namespace, rest) = match rest {
            // The namespace itself and its subresources, not something in it.
            ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => (None, rest),
            ["namespaces", namespace, rest @ ..] => (Some((*namespace).to_owned()), rest),
            rest => (None, rest),
        };
        let part = |index: usize| rest.get(index).map(|segment| (*segment).to_owned());
        Self {
            group: group.to_owned(),
            resource: part(0).unwrap_or_default(),
            namespace,
            name: part(1),
            subresource: part(2),
        }
    }
}

fn verb(method: &str, content_type: &str, query: &BTreeMap<String, String>, about: &About) -> Verb {
    let streams = ["attach", "exec", "log", "portforward", "proxy"];
    if about.resource.is_empty() || about.subresource.as_deref().is_some_and(|name| streams.contains(&name)) {
        return Verb::Other;
    }
    let watches = query.get("watch").is_some_and(|value| value == "true" || value == "1");
    if method != "GET" && query.get("dryRun").is_some_and(|value| value == "All") {
        return Verb::DryRun;
    }
    match (method, content_type) {
        ("GET", _) if watches => Verb::Watch,
        ("GET", _) if about.name.is_some() => Verb::Get,
        ("GET", _) => Verb::List,
        ("POST", _) => Verb::Create,
        ("PUT", _) => Verb::Put,
        ("DELETE", _) if about.name.is_some() => Verb::Delete,
        ("DELETE", _) => Verb::DeleteCollection,
        ("PATCH", kind) if kind.starts_with("application/apply-patch") => Verb::Apply,
        ("PATCH", kind) if kind.starts_with("application/json-patch") => Verb::JsonPatch,
        ("PATCH", kind) if kind.starts_with("application/strategic-merge-patch") => Verb::StrategicPatch,
        ("PATCH", _) => Verb::MergePatch,
        _ => Verb::Other,
    }
}

fn parse_query(query: &str) -> BTreeMap<String, String> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key), decode(value))
        })
        .collect()
}

/// Undoes the encoding of a query.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, value) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = after;
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::pattern::Pattern;
    use super::*;

    fn read(method: &str, uri: &str, content_type: &str) -> Exchange {
        let request = http::Request::builder().method(method).uri(uri).header("content-type", content_type);
        Exchange::read(&request.body(()).unwrap().into_parts().0, b"")
    }

    #[test]
    fn paths_are_read() {
        let status = read(
            "PATCH",
            "/apis/apps/v1/namespaces/a/deployments/b/status?fieldManager=m%2F1",
            "application/apply-patch+yaml",
        );
        assert_eq!(status.verb, Verb::Apply);
        assert_eq!((status.group.as_str(), status.resource.as_str()), ("apps", "deployments"));
        assert_eq!((status.namespace.as_deref(), status.name.as_deref()), (Some("a"), Some("b")));
        assert_eq!((status.subresource.as_deref(), status.field_manager()), (Some("status"), Some("m/1")));

        let namespace = read("DELETE", "/api/v1/namespaces/a", "");
        assert_eq!((namespace.verb, namespace.resource.as_str()), (Verb::Delete, "namespaces"));
        assert_eq!((namespace.namespace, namespace.name.as_deref()), (None, Some("a")));
    }

    #[test]
    fn discovery_of_a_group_is_in_that_group() {
        let discovery = read("GET", "/apis/example.com/v1", "");
        assert_eq!((discovery.verb, discovery.resource.as_str()), (Verb::Other, ""));
        assert!(Pattern::verb(Verb::Other).in_group("example.com").matches(&discovery));
        assert!(!Pattern::verb(Verb::Other).in_group("example.org").matches(&discovery));
    }

    #[test]
    fn verbs_are_told_apart() {
        let cases = [
            ("GET", "/api/v1/pods", "", Verb::List),
            ("GET", "/api/v1/pods?watch=true", "", Verb::Watch),
            ("PATCH", "/api/v1/namespaces/a/pods/b?dryRun=All", "application/apply-patch+yaml", Verb::DryRun),
            ("GET", "/api/v1/namespaces/a/pods/b", "", Verb::Get),
            ("GET", "/api/v1/namespaces/a/pods/b/log?follow=true", "", Verb::Other),
            ("GET", "/readyz", "", Verb::Other),
            ("POST", "/api/v1/namespaces/a/pods", "application/json", Verb::Create),
            ("PUT", "/api/v1/namespaces/a/pods/b", "application/json", Verb::Put),
            ("PATCH", "/api/v1/namespaces/a/pods/b", "application/merge-patch+json", Verb::MergePatch),
            ("PATCH", "/api/v1/namespaces/a/pods/b", "application/json-patch+json", Verb::JsonPatch),
            (
                "PATCH",
                "/api/v1/namespaces/a/pods/b",
                "application/strategic-merge-patch+json",
                Verb::StrategicPatch,
            ),
            ("DELETE", "/api/v1/namespaces/a/pods", "", Verb::DeleteCollection),
        ];
        for (method, uri, content_type, verb) in cases {
            assert_eq!(read(method, uri, content_type).verb, verb, "{method} {uri}");
        }
    }

    #[test]
    fn queries_are_decoded() {
        let query = parse_query("labelSelector=a%3Db%2Cc&x=1+2&flag&bad=%zz");
        assert_eq!(query["labelSelector"], "a=b,c");
        assert_eq!((query["x"].as_str(), query["flag"].as_str(), query["bad"].as_str()), ("1 2", "", "%zz"));
    }
}
