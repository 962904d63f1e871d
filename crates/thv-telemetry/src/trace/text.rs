//! Texts of clients, as far as they are put into spans.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

/// Of one argument.
const VALUE: usize = 100;
/// Of all arguments.
const ALL: usize = 200;
/// Of anything else that a client chooses.
pub(super) const ATTRIBUTE: usize = 1024;

const HIDDEN: &str = "[REDACTED]";
const SECRETIVE: [&str; 7] = ["password", "token", "secret", "key", "auth", "credential", "private"];

/// The text, cut to so many bytes and with dots behind it if something is missing.
pub(super) fn shorten(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest {
        return Cow::Borrowed(text);
    }
    let head = text.get(..text.floor_char_boundary(longest)).unwrap_or_default();
    Cow::Owned(format!("{head}..."))
}

/// Arguments as `key=value` pairs, with nothing in them that looks like a credential, at any depth.
/// Nothing if this is not a JSON object.
pub(super) fn arguments(json: &str) -> Option<String> {
    let mut members: BTreeMap<String, Value> = serde_json::from_str(json).ok()?;
    for (name, value) in &mut members {
        hide(name, value);
    }
    let mut text = String::new();
    for (name, value) in &members {
        // More than this is cut anyway.
        if text.len() > ALL {
            break;
        }
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(name);
        text.push('=');
        match value {
            Value::String(value) => text.push_str(&shorten(value, VALUE)),
            other => text.push_str(&shorten(&other.to_string(), VALUE)),
        }
    }
    Some(shorten(&text, ALL).into_owned())
}

fn hide(name: &str, value: &mut Value) {
    let name = name.to_lowercase();
    if SECRETIVE.iter().any(|part| name.contains(part)) {
        *value = Value::from(HIDDEN);
        return;
    }
    hide_inside(value);
}

/// The depth is bounded by the parser, which refuses more than 128 levels.
fn hide_inside(value: &mut Value) {
    match value {
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| hide(name, value)),
        Value::Array(items) => items.iter_mut().for_each(hide_inside),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs_are_listed() {
        assert_eq!(arguments(r#"{"a":"x","b":2,"c":[true]}"#).unwrap(), "a=x, b=2, c=[true]");
        assert_eq!(arguments("{}").unwrap(), "");
        assert_eq!(arguments("[1]"), None);
        assert_eq!(arguments("nonsense"), None);
    }

    #[test]
    fn credentials_are_hidden_at_any_depth_and_in_any_case() {
        let text =
            arguments(r#"{"API_KEY":"x","c":{"d":[{"Authorization":"x"}],"userPassword":["x"]}}"#).unwrap();
        assert_eq!(
            text,
            r#"API_KEY=[REDACTED], c={"d":[{"Authorization":"[REDACTED]"}],"userPassword":"[REDACTED]"}"#
        );
    }

    #[test]
    fn values_are_cut_at_100_bytes_and_all_at_200() {
        let long = "v".repeat(150);
        let text = arguments(&format!(r#"{{"a":"{long}","b":"{long}","c":"x"}}"#)).unwrap();
        let expected = format!("a={}..., b={}", "v".repeat(100), "v".repeat(91));
        assert_eq!(text, format!("{}...", &expected[..200]));
    }

    proptest! {
        #[test]
        fn a_credential_never_shows(secret in "[a-z]{12}", name in prop::sample::select(SECRETIVE.to_vec()), before in "[xyz]{0,5}", depth in 0_usize..5) {
            let inner = format!(r#"{{"{before}{}":"{secret}"}}"#, name.to_uppercase());
            let json = (0..depth).fold(inner, |json, _| format!(r#"{{"x":[{json}]}}"#));
            let text = arguments(&json).unwrap();
            prop_assert!(!text.contains(&secret), "{}", text);
        }

        #[test]
        fn what_is_shortened_fits(text in "\\PC{0,300}", longest in 0_usize..200) {
            let short = shorten(&text, longest);
            prop_assert!(short.len() <= longest + 3);
            prop_assert!(text.starts_with(short.strip_suffix("...").filter(|_| text.len() > longest).unwrap_or(&short)));
        }
    }
}
