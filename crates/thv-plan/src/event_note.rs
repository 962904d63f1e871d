//! Notes of Events.

use std::borrow::Cow;

/// The longest note, in bytes: the API server refuses an Event with a longer one.
const LIMIT: usize = 1024;
/// What stands for the rest.
const ELLIPSIS: &str = "…";

/// A text as the note of an Event: cut between two characters if it is too long. The status has the whole of it.
pub fn event_note(text: &str) -> Cow<'_, str> {
    if text.len() <= LIMIT {
        return Cow::Borrowed(text);
    }
    let (kept, _) = text.split_at(text.floor_char_boundary(LIMIT - ELLIPSIS.len()));
    Cow::Owned(format!("{kept}{ELLIPSIS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_fits_is_kept_as_it_is() {
        for text in [String::new(), "short".to_owned(), "x".repeat(LIMIT)] {
            assert!(matches!(event_note(&text), Cow::Borrowed(note) if note == text));
        }
    }

    #[test]
    fn a_note_that_is_too_long_is_cut_between_two_characters() {
        // One, two, three and four bytes long.
        for character in ["x", "ü", "…", "🦀"] {
            for before in ["", "a", "ab", "abc"] {
                let text = format!("{before}{}", character.repeat(LIMIT + 1));
                let note = event_note(&text);
                assert!(
                    note.len() <= LIMIT && note.len() > LIMIT - ELLIPSIS.len() - character.len(),
                    "{note}"
                );
                assert!(text.starts_with(note.strip_suffix(ELLIPSIS).unwrap()), "{note}");
            }
        }
    }
}
