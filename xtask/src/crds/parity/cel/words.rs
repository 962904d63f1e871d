//! The words of CEL: names, numbers, strings, operators.

#[derive(Debug, PartialEq)]
pub(super) enum Word {
    Name(String),
    /// A number as it is written, or a string in the one spelling that we give it.
    Literal(String),
    /// An operator or a bracket; the operator `in` as well.
    Sign(&'static str),
}

/// Longer ones first.
const SIGNS: &[&str] = &[
    "||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ",", ".", "(", ")",
    "[", "]", "{", "}",
];

/// Longer ones first.
const QUOTES: &[&str] = &["'''", "\"\"\"", "'", "\""];

/// Splits an expression, or gives up on one that is not CEL.
pub(super) fn split(expression: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = skip(expression);
    while !rest.is_empty() {
        let (word, after) =
            string(rest).or_else(|| number(rest)).or_else(|| name(rest)).or_else(|| sign(rest))?;
        words.push(word);
        rest = skip(after);
    }
    Some(words)
}

/// Leaves out spaces and comments.
fn skip(text: &str) -> &str {
    let text = text.trim_start();
    match text.strip_prefix("//") {
        Some(comment) => skip(comment.split_once('\n').map_or("", |(_, after)| after)),
        None => text,
    }
}

fn sign(text: &str) -> Option<(Word, &str)> {
    SIGNS.iter().find_map(|sign| Some((Word::Sign(sign), text.strip_prefix(sign)?)))
}

fn name(text: &str) -> Option<(Word, &str)> {
    text.starts_with(|letter: char| letter == '_' || letter.is_ascii_alphabetic()).then_some(())?;
    let end =
        text.find(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (name, after) = text.split_at_checked(end)?;
    let word = if name == "in" { Word::Sign("in") } else { Word::Name(name.to_owned()) };
    Some((word, after))
}

fn number(text: &str) -> Option<(Word, &str)> {
    let starts = |text: &str| text.starts_with(|digit: char| digit.is_ascii_digit());
    (starts(text) || text.strip_prefix('.').is_some_and(starts)).then_some(())?;
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let mut before = ' ';
    let end = text.char_indices().find(|(at, letter)| {
        let point = *letter == '.' && text.get(at + 1..).is_some_and(starts);
        let exponent = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E') && !hexadecimal;
        before = *letter;
        !letter.is_ascii_alphanumeric() && !point && !exponent
    });
    let (number, after) = text.split_at_checked(end.map_or(text.len(), |(at, _)| at))?;
    Some((Word::Literal(number.to_owned()), after))
}

/// A string in any kind of quotes becomes one in double quotes. Bytes stay as they are: their escapes mean
/// something else, and nobody writes them in rules.
fn string(text: &str) -> Option<(Word, &str)> {
    let start = text.find(['\'', '"']).filter(|start| *start <= 2)?;
    let (prefix, quoted) = text.split_at_checked(start)?;
    let prefix = prefix.to_ascii_lowercase();
    let raw = match prefix.as_str() {
        "" | "b" => false,
        "r" | "rb" | "br" => true,
        _ => return None,
    };
    let (quote, body) = QUOTES.iter().find_map(|quote| Some((*quote, quoted.strip_prefix(quote)?)))?;
    let end = closing(body, quote, raw)?;
    let (inner, after) = body.split_at_checked(end)?;
    let after = after.strip_prefix(quote)?;
    let literal = match prefix.contains('b') {
        true => format!("{prefix}{quote}{inner}{quote}"),
        false if raw => format!("{inner:?}"),
        false => format!("{:?}", unescape(inner)?),
    };
    Some((Word::Literal(literal), after))
}

/// Where the closing quote is.
fn closing(body: &str, quote: &str, raw: bool) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in body.char_indices() {
        if escaped {
            escaped = false;
        } else if letter == '\\' && !raw {
            escaped = true;
        } else if body.get(at..)?.starts_with(quote) {
            return Some(at);
        }
    }
    None
}

fn unescape(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut letters = after.chars();
        let letter = letters.next()?;
        rest = letters.as_str();
        let (digits, radix) = match letter {
            'x' | 'X' => (2, 16),
            'u' => (4, 16),
            'U' => (8, 16),
            '0'..='3' => (3, 8),
            _ => (0, 10),
        };
        if digits == 0 {
            plain.push(simple(letter)?);
        } else {
            // The first octal digit is the letter itself.
            let source = if radix == 8 { after } else { rest };
            let (code, after) = source.split_at_checked(digits)?;
            plain.push(char::from_u32(u32::from_str_radix(code, radix).ok()?)?);
            rest = after;
        }
    }
    Some(plain + rest)
}

fn simple(letter: char) -> Option<char> {
    Some(match letter {
        '\\' | '?' | '"' | '\'' | '`' => letter,
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> String {
        match split(text).unwrap().as_slice() {
            [Word::Literal(literal)] => literal.clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn strings_are_spelled_one_way() {
        for text in
            [r"'a\'b'", r#""a'b""#, r#"r"a'b""#, r"'a\x27b'", r"'a\047b'", r"'a\u0027b'", r"'''a'b'''"]
        {
            assert_eq!(literal(text), "\"a'b\"", "{text}");
        }
        assert_eq!(literal(r"'\\d+'"), literal(r"r'\d+'"));
        assert_eq!(literal(r"b'\xff'"), r"b'\xff'");
        assert_eq!(split(r"'\q'"), None);
    }

    #[test]
    fn numbers_end_where_they_end() {
        for text in ["1", "1u", "1.5", ".5", "1e+5", "2.5E-3", "0xFFu"] {
            assert_eq!(literal(text), text);
        }
        assert_eq!(split("0xe+1").unwrap().len(), 3);
        assert_eq!(split("1.size()").unwrap().len(), 5);
    }

    #[test]
    fn names_that_begin_like_strings_are_names() {
        let expected = [
            Word::Name("b".into()),
            Word::Sign("=="),
            Word::Literal("\"x\"".into()),
            Word::Sign("in"),
            Word::Name("br".into()),
        ];
        assert_eq!(split("b == 'x' in br").unwrap(), expected);
        assert_eq!(split("a // note\n").unwrap(), [Word::Name("a".into())]);
    }
}
