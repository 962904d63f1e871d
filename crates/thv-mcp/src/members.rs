//! Reading some members of an object, without ambiguity.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A module with the names of members and the place of each, so that the two cannot drift apart.
macro_rules! names {
    ($(#[$doc:meta])* $visible:vis mod $module:ident { $($name:ident = $text:literal,)* }) => {
        $(#[$doc])*
        $visible mod $module {
            #[allow(clippy::upper_case_acronyms, non_camel_case_types, reason = "they become constants")]
            enum Place { $($name),* }
            $(#[allow(dead_code, reason = "some members must be clear without being read")]
            pub(crate) const $name: usize = Place::$name as usize;)*
            pub(crate) const NAMES: [&str; [$($text),*].len()] = [$($text),*];
        }
    };
}
pub(crate) use names;

/// A text or a name that is JSON but no Unicode, as `"\ud800"` is. Readers differ in what they make of it.
#[derive(Debug)]
pub(crate) struct Unreadable;

/// Those members of an object that have one of `N` names, each as the JSON that it is.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a, const N: usize> {
    json: [Option<&'a str>; N],
    /// A bit for each name that stands twice, or in a spelling that some readers take for it.
    unclear: u32,
}

impl<'a, const N: usize> Members<'a, N> {
    pub(crate) const NONE: Self = Self { json: [None; N], unclear: 0 };

    /// The members of the object that `json` is; none when it is something else.
    pub(crate) fn of(json: &'a str, names: &'static [&'static str; N]) -> Result<Self, Unreadable> {
        if !json.starts_with('{') {
            return Ok(Self::NONE);
        }
        Object(names).deserialize(&mut serde_json::Deserializer::from_str(json)).map_err(|_| Unreadable)
    }

    /// The JSON of a member.
    pub(crate) fn json(&self, index: usize) -> Option<&'a str> {
        self.json.get(index).copied().flatten()
    }

    /// The text of a member, if it is one.
    pub(crate) fn text(&self, index: usize) -> Result<Option<Cow<'a, str>>, Unreadable> {
        self.json(index).map_or(Ok(None), text)
    }

    /// Whether one of the names with these bits is unclear.
    pub(crate) fn is_unclear(&self, names: u32) -> bool {
        self.unclear & names != 0
    }

    /// Takes down a member that was met.
    pub(crate) fn meet(&mut self, spelling: Spelling, json: &'a str) {
        match spelling {
            Spelling::Exact(index) => match self.json.get_mut(index) {
                Some(place @ None) => *place = Some(json),
                _ => self.unclear |= 1 << index,
            },
            Spelling::Variant(index) => self.unclear |= 1 << index,
            Spelling::Unknown => {}
        }
    }
}

/// The text that `json` is, if it is one. Copies only when there are escapes.
pub(crate) fn text(json: &str) -> Result<Option<Cow<'_, str>>, Unreadable> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        None => Ok(None),
        Some(plain) if !plain.contains('\\') => Ok(Some(Cow::Borrowed(plain))),
        Some(_) => serde_json::from_str(json).map(|text| Some(Cow::Owned(text))).map_err(|_| Unreadable),
    }
}

/// The first element of the array that `json` is.
pub(crate) fn first(json: &str) -> Option<&str> {
    struct First;

    impl<'de> Visitor<'de> for First {
        type Value = Option<&'de str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
            let first = elements.next_element::<&RawValue>()?.map(RawValue::get);
            while elements.next_element::<IgnoredAny>()?.is_some() {}
            Ok(first)
        }
    }

    serde_json::Deserializer::from_str(json).deserialize_seq(First).ok().flatten()
}

/// Reads an object, or nothing at all, into [`Members`].
pub(crate) struct Object<const N: usize>(pub(crate) &'static [&'static str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for Object<N> {
    type Value = Members<'de, N>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for Object<N> {
    type Value = Members<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(Members::NONE)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::NONE;
        while let Some(spelling) = map.next_key_seed(Name(self.0))? {
            if spelling == Spelling::Unknown {
                map.next_value::<IgnoredAny>()?;
            } else {
                members.meet(spelling, map.next_value::<&RawValue>()?.get());
            }
        }
        Ok(members)
    }
}

/// How a name in a document relates to the names that matter.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Spelling {
    Exact(usize),
    /// Not that name, but a reader that is careless about case takes it for it.
    Variant(usize),
    Unknown,
}

/// Reads the name of a member.
pub(crate) struct Name(pub(crate) &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Spelling;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Spelling, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Spelling;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Spelling, E> {
        if let Some(index) = self.0.iter().position(|known| *known == name) {
            return Ok(Spelling::Exact(index));
        }
        let variant = self.0.iter().position(|known| is_variant(name, known));
        Ok(variant.map_or(Spelling::Unknown, Spelling::Variant))
    }
}

fn is_variant(name: &str, known: &str) -> bool {
    if name.is_ascii() {
        return name.eq_ignore_ascii_case(known);
    }
    // No character is longer than three times one of ASCII, so this bounds the work for long names.
    name.len() <= 3 * known.len() && name.chars().map(folded).eq(known.chars().map(folded))
}

/// One letter for all that Go, Java or .NET take for the same when they ignore case.
fn folded(letter: char) -> char {
    match letter {
        '\u{212a}' => 'k', // the sign for kelvin
        'ſ' => 's',
        'İ' | 'ı' => 'i',
        _ => letter.to_ascii_lowercase(),
    }
}
