//! Texts that are short nearly always.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// What fits without a place of its own. With it a [`Text`] is 32 bytes.
const ROOM: usize = 30;

/// A text that needs no allocation while it is short, as ids and names of tools are.
#[derive(Clone)]
pub struct Text(Repr);

#[derive(Clone)]
enum Repr {
    Short { length: u8, bytes: [u8; ROOM] },
    Long(Box<str>),
}

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Short { length, bytes } => {
                let bytes = bytes.get(..usize::from(*length)).unwrap_or_default();
                // It was a text when it came in; to check again costs less than an allocation would have.
                std::str::from_utf8(bytes).unwrap_or_default()
            }
            Repr::Long(text) => text,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        let mut bytes = [0; ROOM];
        match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(place), Ok(length)) => {
                place.copy_from_slice(text.as_bytes());
                Self(Repr::Short { length, bytes })
            }
            _ => Self(Repr::Long(text.into())),
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::from("")
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_as_small_as_its_documentation_says() {
        assert_eq!(size_of::<Text>(), 32);
    }

    proptest! {
        #[test]
        fn a_text_says_what_it_was_given(text in ".{0,40}", other in ".{0,2}") {
            prop_assert_eq!(Text::from(text.as_str()).to_string(), text.clone());
            prop_assert_eq!(Text::from(text.as_str()) == Text::from(other.as_str()), text == other);
        }
    }
}
