//! Which session a POST of the old transport belongs to.

use std::borrow::Cow;

/// The target names more than one session, or none that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the URL does not name one session")]
pub struct AmbiguousSession;

/// The session that a path with its query names: by `sessionId` or `session_id`, or else as a whole.
///
/// The same function reads the URL that a server gives out and the one that a client posts to. A query that
/// mentions sessions twice, in whatever spelling, is refused: the server might believe the other mention, and with
/// it the session of somebody else.
pub fn session_of(target: &str) -> Result<Box<str>, AmbiguousSession> {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let mut found = None;
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decoded(name)?;
        if !is_about_sessions(&name) {
            continue;
        }
        if found.is_some() {
            return Err(AmbiguousSession);
        }
        found = Some((name, value));
    }
    match found {
        Some((name, value)) if matches!(&*name, "sessionId" | "session_id") => Ok(decoded(value)?.into()),
        _ => Ok(target.into()),
    }
}

fn is_about_sessions(name: &str) -> bool {
    let mut letters = name.chars().filter(|letter| !matches!(letter, '_' | '-'));
    "sessionid"
        .chars()
        .all(|expected| letters.next().is_some_and(|letter| letter.eq_ignore_ascii_case(&expected)))
        && letters.next().is_none()
}

/// Without percent-encoding.
fn decoded(text: &str) -> Result<Cow<'_, str>, AmbiguousSession> {
    if !text.contains('%') {
        return Ok(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let hex = after.split_at_checked(2).filter(|_| *byte == b'%').and_then(|(digits, after)| {
            let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let [high, low] = digits else { return None };
            Some((digit(high)? << 4 | digit(low)?, after))
        });
        let (byte, after) = hex.unwrap_or((*byte, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| AmbiguousSession)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_known_by_either_spelling_and_else_by_the_whole_target() {
        for (target, session) in [
            ("/messages?sessionId=abc", "abc"),
            ("/messages/?x=1&session_id=a%2Db&y", "a-b"),
            ("/messages/abc", "/messages/abc"),
            ("/messages?sessionid=abc", "/messages?sessionid=abc"),
            ("/messages?sessionId=", ""),
            ("/m?sessionId=100%", "100%"),
        ] {
            assert_eq!(session_of(target).unwrap(), session.into(), "{target}");
        }
    }

    #[test]
    fn two_mentions_of_a_session_are_refused_in_any_spelling() {
        for query in [
            "sessionId=a&sessionId=a",
            "sessionId=a&session_id=b",
            "sessionId=a&SessionID=b",
            "session%49d=a&sessionId=b",
            "session-id=a&sessionId=b",
            "sessionId=%ff",
        ] {
            assert_eq!(session_of(&format!("/messages?{query}")), Err(AmbiguousSession), "{query}");
        }
    }
}
