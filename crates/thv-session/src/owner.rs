//! Whom a session belongs to.

use std::fmt;

use sha2::{Digest, Sha256};

/// The identity that a session is bound to, as a digest: a record does not tell who its user is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner([u8; 32]);

impl Owner {
    /// The subject of an issuer.
    pub fn of(issuer: &str, subject: &str) -> Self {
        let digest = Sha256::new().chain_update(issuer).chain_update([0]).chain_update(subject);
        Self(digest.finalize().into())
    }

    /// Reads what [`Display`](fmt::Display) wrote: 64 lower-case hexadecimal digits and nothing else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = digits.iter().try_fold(0, |byte, digit| Some(byte << 4 | value(*digit)?))?;
        }
        Some(Self(bytes))
    }
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Owner({self})")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_owner_is_the_digest_of_issuer_and_subject() {
        // Computed with `printf 'https://idp.example\0alice' | sha256sum`.
        let owner = Owner::of("https://idp.example", "alice");
        assert_eq!(owner.to_string(), "7e3a0d4e64d053aa0d8042c500292f07be9148245649f2c37097d4454c6fb1bf");
    }

    #[test]
    fn where_the_issuer_ends_matters() {
        assert_ne!(Owner::of("ab", "c"), Owner::of("a", "bc"));
        assert_ne!(Owner::of("ab", ""), Owner::of("", "ab"));
    }

    #[test]
    fn only_what_was_written_is_read() {
        let text = Owner::of("a", "b").to_string();
        assert!(Owner::parse(&text.to_uppercase()).is_none());
        assert!(Owner::parse(&text[1..]).is_none());
        assert!(Owner::parse(&format!("{text}0")).is_none());
    }

    proptest! {
        #[test]
        fn an_owner_survives_being_written(issuer in ".*", subject in ".*") {
            let owner = Owner::of(&issuer, &subject);
            prop_assert_eq!(Owner::parse(&owner.to_string()), Some(owner));
        }

        #[test]
        fn no_text_makes_the_reader_fail(text in ".{0,80}|[0-9a-fé]{60,66}") {
            if let Some(owner) = Owner::parse(&text) {
                prop_assert_eq!(owner.to_string(), text);
            }
        }
    }
}
