//! Label values, as far as clients choose them.

/// The longest value that is taken as it is.
const LONGEST: usize = 128;
/// What is kept of a longer one.
const KEPT: usize = 125;
const DOTS: &str = "...";

/// What stands for values that came after the room for them was full.
pub(super) const OTHER: &str = "other";

/// Where a value is put together that had to be cut, so that cutting allocates nothing.
pub(super) type Room = [u8; LONGEST];

/// The value, cut to what a label may hold.
pub(super) fn cut<'a>(value: &'a str, room: &'a mut Room) -> &'a str {
    if value.len() <= LONGEST {
        return value;
    }
    let head = value.get(..value.floor_char_boundary(KEPT)).unwrap_or_default();
    let filled = head.len() + DOTS.len();
    for (place, byte) in room.iter_mut().zip(head.bytes().chain(DOTS.bytes())) {
        *place = byte;
    }
    room.get(..filled).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or(head)
}

/// Whether what a method is about makes a useful label.
///
/// Cursors, ids of requests and tasks, and free text do not: they never come back, and every one of them would
/// make a new series.
pub(super) fn names_something(method: &str) -> bool {
    matches!(
        method,
        "initialize"
            | "tools/call"
            | "prompts/get"
            | "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "logging/setLevel"
            | "completion/complete"
            | "ping"
            | "server/discover"
            | "notifications/initialized"
            | "notifications/message"
            | "notifications/roots/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated"
            | "notifications/tools/list_changed"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_of_128_bytes_stays_and_one_of_129_is_cut_to_125_and_dots() {
        let mut room = [0; LONGEST];
        let longest = "a".repeat(128);
        assert_eq!(cut(&longest, &mut room), longest);
        assert_eq!(cut(&"a".repeat(129), &mut room), format!("{}...", "a".repeat(125)));
    }

    #[test]
    fn a_character_is_never_split() {
        let mut room = [0; LONGEST];
        let value = format!("{}ü{}", "a".repeat(124), "b".repeat(10));
        assert_eq!(cut(&value, &mut room), format!("{}...", "a".repeat(124)));
    }

    proptest! {
        #[test]
        fn what_is_cut_is_short_and_the_beginning_of_what_was_given(value in ".{0,300}") {
            let mut room = [0; LONGEST];
            let label = cut(&value, &mut room);
            prop_assert!(label.len() <= LONGEST);
            if value.len() <= LONGEST {
                prop_assert_eq!(label, value.as_str());
            } else {
                let head = label.strip_suffix(DOTS).unwrap();
                prop_assert!(value.starts_with(head));
                // A character has at most four bytes, so at most three are lost to keep it whole.
                prop_assert!(head.len() > KEPT - 4 && head.len() <= KEPT);
            }
        }

        #[test]
        fn cutting_twice_changes_nothing(value in "\\PC{0,300}") {
            let (mut one, mut two) = ([0; LONGEST], [0; LONGEST]);
            let once = cut(&value, &mut one).to_owned();
            prop_assert_eq!(cut(&once, &mut two), once.as_str());
        }
    }
}
