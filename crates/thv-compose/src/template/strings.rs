//! Strings and characters in templates, as Go reads them.

use std::str::Chars;

/// What an escape or a plain character stands for.
enum Unit {
    /// A byte of a string; the number itself in a character.
    Byte(u8),
    Char(char),
}

/// The text of a string between double quotes. Nothing where it has an escape that Go does not know, or is not UTF-8.
pub(super) fn text(inside: &str) -> Option<String> {
    let (mut rest, mut bytes) = (inside.chars(), Vec::with_capacity(inside.len()));
    while let Some(first) = rest.next() {
        match unit(first, &mut rest, '"')? {
            Unit::Byte(byte) => bytes.push(byte),
            Unit::Char(character) => bytes.extend(character.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    String::from_utf8(bytes).ok()
}

/// The number of a character between single quotes.
pub(super) fn rune(inside: &str) -> Option<u32> {
    let mut rest = inside.chars();
    let rune = match unit(rest.next()?, &mut rest, '\'')? {
        Unit::Byte(byte) => u32::from(byte),
        Unit::Char(character) => u32::from(character),
    };
    rest.next().is_none().then_some(rune)
}

/// The text of a string between backquotes.
pub(super) fn raw_text(inside: &str) -> String {
    inside.replace('\r', "")
}

/// A string that stands for a text, with no more escapes than it takes.
///
/// gtmpl-ng takes a quote after an escaped backslash for an escaped one, and the characters after a hexadecimal escape
/// for more of them. So a backslash is hexadecimal where the string ends, and nowhere else.
pub(super) fn quoted(text: &str) -> String {
    let (body, last) = text.strip_suffix('\\').map_or((text, ""), |body| (body, r"\x5c"));
    let body = body.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    format!("\"{body}{last}\"")
}

/// The character or escape that begins with the first character. Nothing where it is malformed.
fn unit(first: char, rest: &mut Chars<'_>, quote: char) -> Option<Unit> {
    if first == '\\' { escape(rest, quote) } else { Some(Unit::Char(first)) }
}

fn escape(rest: &mut Chars<'_>, quote: char) -> Option<Unit> {
    let character = match rest.next()? {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' => '\\',
        same if same == quote => same,
        'x' => return Some(Unit::Byte(u8::try_from(digits(rest, 2, 16)?).ok()?)),
        'u' => char::from_u32(digits(rest, 4, 16)?)?,
        'U' => char::from_u32(digits(rest, 8, 16)?)?,
        first @ '0'..='7' => {
            let number = first.to_digit(8)? * 64 + digits(rest, 2, 8)?;
            return Some(Unit::Byte(u8::try_from(number).ok()?));
        }
        _ => return None,
    };
    Some(Unit::Char(character))
}

/// A number of exactly so many digits.
fn digits(rest: &mut Chars<'_>, count: usize, radix: u32) -> Option<u32> {
    let mut number = 0_u32;
    for _ in 0..count {
        number = number.checked_mul(radix)?.checked_add(rest.next()?.to_digit(radix)?)?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_as_go_reads_them() {
        for (inside, wanted) in [
            ("", Some("")),
            ("plain ä", Some("plain ä")),
            (r#"a\"b\\c"#, Some(r#"a"b\c"#)),
            (r"\a\b\f\n\r\t\v", Some("\u{7}\u{8}\u{c}\n\r\t\u{b}")),
            (r"\x41\101\u263a\U0001F4A9!", Some("AA☺💩!")),
            (r"\xe2\x98\xba", Some("☺")),
            (r"\xff", None),
            (r"\'", None),
            (r"\q", None),
            (r"\u12", None),
            (r"\ud800", None),
            (r"\400", None),
            (r"\", None),
        ] {
            assert_eq!(text(inside).as_deref(), wanted, "{inside}");
        }
    }

    #[test]
    fn characters_are_numbers() {
        for (inside, wanted) in [
            ("a", Some(97)),
            (r"\'", Some(39)),
            (r"\\", Some(92)),
            (r"\xff", Some(255)),
            ("☺", Some(0x263a)),
            ("", None),
            ("ab", None),
            ("\\\"", None),
        ] {
            assert_eq!(rune(inside), wanted, "{inside}");
        }
    }

    #[test]
    fn a_backslash_is_hexadecimal_at_the_end_alone() {
        assert_eq!(quoted(r#"a\b"c\"#), r#""a\\b\"c\x5c""#);
        assert_eq!(quoted("a\nb\r"), "\"a\\nb\r\"");
    }
}
