//! The URL in an `endpoint` event.

/// The path and query that a reference leads to, seen from a page at `base`.
///
/// Scheme and host are dropped: they are those by which we reach the server, and clients cannot. What is left
/// begins with one slash, so that nobody takes a part of it for a host.
pub(super) fn target(reference: &str, base: &str) -> Option<String> {
    // Blanks and backslashes are understood in more than one way.
    if reference.is_empty() || reference.chars().any(|c| c.is_control() || c == ' ' || c == '\\') {
        return None;
    }
    let reference = reference.split_once('#').map_or(reference, |(before, _)| before);
    let (reference, query) = match reference.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (reference, None),
    };
    let path = if let Some(rest) = without_scheme(reference)?.strip_prefix("//") {
        let path = rest.find('/').and_then(|start| rest.get(start..)).unwrap_or("/");
        without_dots(path)
    } else if reference.starts_with('/') {
        without_dots(reference)
    } else if reference.is_empty() {
        base.to_owned()
    } else {
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        without_dots(&format!("{folder}/{reference}"))
    };
    if !path.starts_with('/') || path.starts_with("//") {
        return None;
    }
    Some(query.map_or_else(|| path.clone(), |query| format!("{path}?{query}")))
}

/// What follows `http:` or `https:`, or everything when there is no scheme. Other schemes lead nowhere.
fn without_scheme(reference: &str) -> Option<&str> {
    let Some((scheme, rest)) = reference.split_once(':').filter(|(scheme, _)| !scheme.contains('/')) else {
        return Some(reference);
    };
    let known = ["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme));
    (known && rest.starts_with("//")).then_some(rest)
}

/// An absolute path with `.` and `..` resolved, as clients do before they send it.
fn without_dots(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut rest = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = rest.next() {
        let last = rest.peek().is_none();
        match dots(segment) {
            Some(dots) => {
                if dots == 2 {
                    segments.pop();
                }
                if last {
                    segments.push("");
                }
            }
            None => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

/// How many dots a segment is made of, encoded or not, if it is made of one or two.
fn dots(segment: &str) -> Option<usize> {
    let mut rest = segment;
    let mut count = 0;
    while !rest.is_empty() {
        rest = match rest.strip_prefix('.') {
            Some(after) => after,
            None => rest.split_at_checked(3).filter(|(dot, _)| dot.eq_ignore_ascii_case("%2e"))?.1,
        };
        count += 1;
    }
    (1..=2).contains(&count).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_leads_where_a_client_would_go() {
        for (reference, expected) in [
            ("/messages?sessionId=1", "/messages?sessionId=1"),
            ("http://backend:8080/messages?sessionId=1#part", "/messages?sessionId=1"),
            ("HTTPS://backend", "/"),
            ("//backend/messages", "/messages"),
            ("messages?x", "/api/messages?x"),
            ("../messages", "/messages"),
            ("?sessionId=1", "/api/sse?sessionId=1"),
            ("/a/../b/./c/..", "/b/"),
            ("/a/%2E%2e/b", "/b"),
            ("/../../x", "/x"),
            ("/messages?to=http://x//y", "/messages?to=http://x//y"),
            ("/a:b", "/a:b"),
        ] {
            assert_eq!(target(reference, "/api/sse").as_deref(), Some(expected), "{reference}");
        }
    }

    #[test]
    fn a_reference_that_could_lead_elsewhere_is_refused() {
        for reference in [
            "",
            "javascript:alert(1)",
            "http:messages",
            "file:///etc/passwd",
            "http://backend//evil.example/x",
            "/.//evil.example",
            "/\\evil.example",
            "/a b",
            "/a\tb",
        ] {
            assert_eq!(target(reference, "/sse"), None, "{reference}");
        }
    }
}
