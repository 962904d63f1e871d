//! What Kubernetes accepts as names, labels and variables. A wrong one is better told to its user than sent to an API
//! server that refuses the whole object.

/// Longest name of a label, without its prefix, and longest value of one.
const MAX_LABEL: usize = 63;
/// Longest prefix of a label.
const MAX_PREFIX: usize = 253;

/// Whether a text can be the name of a Service or a volume.
pub(crate) fn is_dns_label(text: &str, max: usize) -> bool {
    !text.is_empty()
        && text.len() <= max
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Whether a text can be the key of a label.
pub(crate) fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    let prefix_is_fine = prefix.is_none_or(|prefix| {
        prefix.len() <= MAX_PREFIX && prefix.split('.').all(|part| is_dns_label(part, MAX_PREFIX))
    });
    prefix_is_fine && !name.is_empty() && is_label_value(name)
}

/// Whether a text can be the key of an annotation: as that of a label, but upper case is fine everywhere.
pub(crate) fn is_annotation_key(text: &str) -> bool {
    is_label_key(&text.to_ascii_lowercase())
}

/// Whether a text can be the value of a label.
pub(crate) fn is_label_value(text: &str) -> bool {
    let is_edge = |c: char| c.is_ascii_alphanumeric();
    text.len() <= MAX_LABEL
        && text.chars().all(|c| is_edge(c) || "-_.".contains(c))
        && text.chars().next().is_none_or(is_edge)
        && text.chars().next_back().is_none_or(is_edge)
}

/// Whether a text can be the name of a variable.
pub(crate) fn is_variable(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| (c.is_ascii_graphic() || c == ' ') && c != '=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_keys_and_values() {
        for good in ["a", "app.kubernetes.io/name", "A_b-c.D", "x/Y"] {
            assert!(is_label_key(good), "{good}");
        }
        let long = "a".repeat(64);
        for bad in ["", "/a", "a/", "a/b/c", "-a", "a-", "A.io/x", "a b", long.as_str(), "a..b/c"] {
            assert!(!is_label_key(bad), "{bad}");
        }
        assert!(is_annotation_key("Example.com/Key") && !is_annotation_key("a b"));
        for (value, fine) in
            [("", true), ("true", true), ("a b", false), ("-a", false), (long.as_str(), false)]
        {
            assert_eq!(is_label_value(value), fine, "{value}");
        }
    }

    #[test]
    fn names_and_variables() {
        assert!(is_dns_label("a-1", 3) && is_dns_label("1a", 63));
        for bad in ["", "A", "a.b", "-a", "a-", "abcd"] {
            assert!(!is_dns_label(bad, 3), "{bad}");
        }
        assert!(is_variable("A_B") && is_variable("a.b-c"));
        for bad in ["", "A=B", "A\n", "ä"] {
            assert!(!is_variable(bad), "{bad}");
        }
    }
}
