//! Splitting a text the way Cedar and JSON do, as far as measuring it needs that.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    Round,
    Square,
    Curly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Open(Bracket),
    Close(Bracket),
    Comma,
    Semicolon,
    If,
    Operator,
    /// A string, with the characters in it that can be wrong.
    String {
        length: usize,
        escapes: usize,
    },
    /// Whatever adds no depth.
    Other,
}

/// The tokens of a text, each with its offset. Where Cedar or JSON stop because of a character, this may go on.
pub(super) struct Tokens<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Tokens<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text, offset: 0 }
    }

    /// Where the next token may begin.
    pub(super) const fn offset(&self) -> usize {
        self.offset
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let code = rest.trim_start();
            self.offset += rest.len() - code.len();
            if !code.starts_with("//") {
                return;
            }
            self.offset += code.find(['\n', '\r']).unwrap_or(code.len());
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = (usize, Token);

    fn next(&mut self) -> Option<(usize, Token)> {
        self.skip_space();
        let rest = self.rest();
        let first = rest.chars().next()?;
        let (token, length) = match first {
            '(' => (Token::Open(Bracket::Round), 1),
            '[' => (Token::Open(Bracket::Square), 1),
            '{' => (Token::Open(Bracket::Curly), 1),
            ')' => (Token::Close(Bracket::Round), 1),
            ']' => (Token::Close(Bracket::Square), 1),
            '}' => (Token::Close(Bracket::Curly), 1),
            ',' => (Token::Comma, 1),
            ';' => (Token::Semicolon, 1),
            '"' => string(rest),
            c if is_word(c) => word(rest),
            _ => sign(rest, first),
        };
        let offset = self.offset;
        self.offset += length;
        Some((offset, token))
    }
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// One that is not closed goes to the end; Cedar refuses it where it begins.
fn string(rest: &str) -> (Token, usize) {
    let (mut escaped, mut escapes, mut length) = (false, 0, rest.len());
    for (offset, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => (escaped, escapes) = (true, escapes + 1),
            // Cedar counts it as an escape that is wrong.
            '\r' => escapes += 1,
            '"' => {
                length = offset + 1;
                break;
            }
            _ => {}
        }
    }
    (Token::String { length, escapes }, length)
}

fn word(rest: &str) -> (Token, usize) {
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let token = match rest.get(..length) {
        Some("if") => Token::If,
        Some("in" | "has" | "like" | "is") => Token::Operator,
        _ => Token::Other,
    };
    (token, length)
}

fn sign(rest: &str, first: char) -> (Token, usize) {
    match rest.get(..2) {
        Some("::") => (Token::Other, 2),
        Some("||" | "&&" | "==" | "!=" | "<=" | ">=") => (Token::Operator, 2),
        _ if first.is_ascii_punctuation() => (Token::Operator, 1),
        _ => (Token::Other, first.len_utf8()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_told_apart() {
        let text = "if(é)<=A::B // if (\n.\"a\\\"(\r\\\\\",in_;\"";
        let found: Vec<_> = Tokens::of(text).collect();
        let string = Token::String { length: 9, escapes: 3 };
        let expected = [
            (0, Token::If),
            (2, Token::Open(Bracket::Round)),
            (3, Token::Other),
            (5, Token::Close(Bracket::Round)),
            (6, Token::Operator),
            (8, Token::Other),
            (9, Token::Other),
            (11, Token::Other),
            (21, Token::Operator),
            (22, string),
            (31, Token::Comma),
            (32, Token::Other),
            (35, Token::Semicolon),
            (36, Token::String { length: 1, escapes: 0 }),
        ];
        assert_eq!(found, expected);
    }
}
