//! The name under which a session is kept.

use std::fmt;

use uuid::Uuid;

/// A UUID in its usual form.
const UUID: usize = 36;
/// What may stand before it.
const URN: &str = "urn:uuid:";
/// The longest key.
const LONGEST: usize = UUID + URN.len();

/// The key of a session's record.
///
/// ToolHive wants UUIDs as keys. An id that Go's parser takes for one is a key as it is, letter by letter; of any
/// other the key is a UUID computed from it. Clients never see it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// What is not used is zero.
    text: [u8; LONGEST],
    length: u8,
}

impl Key {
    /// The key for the id that a client sends.
    pub fn of(client_id: &str) -> Self {
        if go_parses(client_id.as_bytes()) {
            Self::copied(client_id.as_bytes())
        } else {
            let uuid = Uuid::new_v5(&Uuid::NAMESPACE_URL, client_id.as_bytes());
            let mut buffer = [0; UUID];
            Self::copied(uuid.hyphenated().encode_lower(&mut buffer).as_bytes())
        }
    }

    /// As it stands in Redis, behind the prefix. It lets whoever knows it name the session: not for logs.
    pub fn as_str(&self) -> &str {
        let text = self.text.get(..usize::from(self.length)).unwrap_or_default();
        str::from_utf8(text).unwrap_or_default()
    }

    /// `id` is at most [`LONGEST`] bytes long: both callers have seen to that.
    fn copied(id: &[u8]) -> Self {
        let mut text = [0; LONGEST];
        for (to, from) in text.iter_mut().zip(id) {
            *to = *from;
        }
        Self { text, length: u8::try_from(id.len().min(LONGEST)).unwrap_or_default() }
    }
}

impl fmt::Debug for Key {
    /// The beginning is enough to tell sessions apart in a log, and too little to use one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beginning: String = self.as_str().chars().take(8).collect();
        write!(f, "Key({beginning}…)")
    }
}

/// Whether `Parse` of github.com/google/uuid accepts this, with all its freedoms: of 38 characters it looks at the
/// middle 36 only.
fn go_parses(id: &[u8]) -> bool {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let hyphenated = |middle: &[u8]| {
        middle.len() == UUID
            && middle
                .iter()
                .enumerate()
                .all(|(at, byte)| if DASHES.contains(&at) { *byte == b'-' } else { byte.is_ascii_hexdigit() })
    };
    match id.len() {
        32 => id.iter().all(u8::is_ascii_hexdigit),
        UUID => hyphenated(id),
        38 => hyphenated(id.get(1..37).unwrap_or_default()),
        LONGEST => id
            .split_at_checked(URN.len())
            .is_some_and(|(urn, uuid)| urn.eq_ignore_ascii_case(URN.as_bytes()) && hyphenated(uuid)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_go_takes_for_a_uuid_is_a_key_as_it_is() {
        for id in [
            "0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1",
            "0195F0C2-7A52-7BD0-8B3A-2F4BE2A1C9D1",
            "urn:uuid:0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1",
            "URN:Uuid:0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1",
            "{0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1}",
            "<0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1?",
            "0195f0c27a527bd08b3a2f4be2a1c9d1",
            "00000000-0000-0000-0000-000000000000",
        ] {
            assert_eq!(Key::of(id).as_str(), id);
        }
    }

    #[test]
    fn anything_else_becomes_a_uuid_of_the_url_namespace() {
        // Computed with Python's `uuid.uuid5(uuid.NAMESPACE_URL, id)`.
        for (id, key) in [
            ("", "1b4db7eb-4057-5ddf-91e0-36dec72071f5"),
            ("session-1", "43f82426-0be8-519d-b555-c068abf14d92"),
            ("mcp-session-0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1", "356963db-b174-5ab9-b1f5-7bc7e5f02fd5"),
            ("0195f0c2-7a52-7bd0-8b3a_2f4be2a1c9d1", "61aa7377-59e8-54d4-9ca3-8e4372b52e16"),
            ("urn:uuix:0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1", "caee667a-6a97-513c-83a4-05f26fe76a24"),
            ("ключ", "d3d2b934-324c-5289-b0fe-4a70b95e6451"),
        ] {
            assert_eq!(Key::of(id).as_str(), key, "{id}");
        }
    }

    #[test]
    fn two_spellings_of_one_uuid_are_two_sessions() {
        let lower = Key::of("0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1");
        assert_ne!(lower, Key::of("0195F0C2-7A52-7BD0-8B3A-2F4BE2A1C9D1"));
        assert_ne!(lower, Key::of("0195f0c27a527bd08b3a2f4be2a1c9d1"));
    }

    #[test]
    fn a_log_shows_too_little_of_a_key_to_use_it() {
        assert_eq!(format!("{:?}", Key::of("0195f0c2-7a52-7bd0-8b3a-2f4be2a1c9d1")), "Key(0195f0c2…)");
    }

    proptest! {
        #[test]
        fn a_key_is_a_fixed_point(id in "\\PC{0,60}|[0-9a-fA-F]{32}|[{(][0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}[)}]") {
            let key = Key::of(&id);
            prop_assert_eq!(Key::of(key.as_str()), key);
            prop_assert!(go_parses(key.as_str().as_bytes()));
        }

        #[test]
        fn a_uuid_in_any_of_its_forms_is_kept(uuid in any::<u128>(), form in 0..5) {
            let uuid = Uuid::from_u128(uuid);
            let id = match form {
                0 => uuid.hyphenated().to_string(),
                1 => uuid.simple().to_string(),
                2 => uuid.urn().to_string(),
                3 => uuid.braced().to_string(),
                _ => uuid.hyphenated().to_string().to_uppercase(),
            };
            let key = Key::of(&id);
            prop_assert_eq!(key.as_str(), id);
        }

        #[test]
        fn one_wrong_letter_makes_it_something_else(uuid in any::<u128>(), at in 0..36_usize) {
            let mut id = Uuid::from_u128(uuid).hyphenated().to_string();
            id.replace_range(at..=at, "g");
            let key = Key::of(&id);
            prop_assert_ne!(key.as_str(), &id);
            prop_assert_eq!(Uuid::parse_str(key.as_str()).unwrap().get_version_num(), 5);
        }
    }
}
