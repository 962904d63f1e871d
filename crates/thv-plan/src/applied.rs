//! Marks on what belongs to a revision: on the pods that were born with it, and on what they have applied.

use std::fmt;
use std::str::FromStr;

/// What a pod is born with: `<uid>/<number>`, the object that it was rendered for and the revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The uid of the object.
    pub uid: String,
    /// The number of the revision.
    pub number: u64,
}

/// What was applied last to a backend: `<uid>/<number>/<digest>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// On behalf of whom.
    pub token: Token,
    /// The digest of what was applied.
    pub digest: String,
}

/// The text is no mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not written {0}")]
pub struct NotAMark(&'static str);

const TOKEN: NotAMark = NotAMark("<uid>/<number>");
const APPLIED: NotAMark = NotAMark("<uid>/<number>/<digest>");

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.uid, self.number)
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.token, self.digest)
    }
}

impl FromStr for Token {
    type Err = NotAMark;

    fn from_str(text: &str) -> Result<Self, NotAMark> {
        let (uid, number) = text.split_once('/').filter(|(uid, _)| !uid.is_empty()).ok_or(TOKEN)?;
        Ok(Self { uid: uid.to_owned(), number: number.parse().map_err(|_| TOKEN)? })
    }
}

impl FromStr for Applied {
    type Err = NotAMark;

    fn from_str(text: &str) -> Result<Self, NotAMark> {
        let (token, digest) =
            text.rsplit_once('/').filter(|(_, digest)| !digest.is_empty()).ok_or(APPLIED)?;
        Ok(Self { token: token.parse().map_err(|_| APPLIED)?, digest: digest.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_read_strictly() {
        for bad in ["", "u", "u/", "/1", "u/x", "u/-1", "u/1/d", "u/1/"] {
            assert_eq!(bad.parse::<Token>(), Err(TOKEN), "{bad}");
        }
        for bad in ["", "u/1", "u/1/", "u/x/d", "/1/d", "u/1/d/e"] {
            assert_eq!(bad.parse::<Applied>(), Err(APPLIED), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(uid in "[0-9a-f-]{1,36}", number: u64, digest in "[0-9a-f]{64}") {
            let applied = Applied { token: Token { uid, number }, digest };
            prop_assert_eq!(applied.to_string().parse(), Ok(applied.clone()));
            prop_assert_eq!(applied.token.to_string().parse(), Ok(applied.token));
        }

        #[test]
        fn nothing_that_people_write_makes_it_stumble(text in "\\PC{0,40}") {
            let _ = text.parse::<Token>();
            let _ = text.parse::<Applied>();
        }
    }
}
