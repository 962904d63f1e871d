//! The tokens of a template.

use super::SyntaxError;
use super::strings;

/// A piece of a template. All of them together are the template.
#[derive(Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    /// As it is written.
    pub(super) text: &'a str,
    /// Where it begins, in bytes.
    pub(super) at: usize,
}

#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    /// What is outside of actions.
    Text,
    /// A comment, with its braces.
    Comment,
    /// Two braces, and the mark that trims the text before them.
    Open,
    /// Two braces, and the mark that trims the text after them.
    Close,
    Space,
    /// A keyword, a function, `true`, `false` or `nil`.
    Word,
    /// A dot on its own.
    Dot,
    /// A dot and a name.
    Field,
    /// A dollar sign and perhaps a name.
    Variable,
    /// A string of either sort, with what it stands for.
    String(String),
    /// A character, with its number.
    Rune(u32),
    LeftParen,
    RightParen,
    /// Numbers and signs.
    Other,
}

/// Takes a template apart into `most` tokens at most.
pub(super) fn tokens(source: &str, most: usize) -> Result<Vec<Token<'_>>, SyntaxError> {
    let mut lexer = Lexer { source, rest: source, tokens: Vec::new(), most, parens: 0 };
    while !lexer.rest.is_empty() {
        let text = lexer.rest.find("{{").unwrap_or(lexer.rest.len());
        if text > 0 {
            lexer.push(Kind::Text, text)?;
        } else {
            lexer.action()?;
        }
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    source: &'a str,
    rest: &'a str,
    tokens: Vec<Token<'a>>,
    most: usize,
    parens: usize,
}

impl Lexer<'_> {
    fn at(&self) -> usize {
        self.source.len() - self.rest.len()
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { at: Some(self.at()), message: message.into() })
    }

    /// What comes is a token of this many bytes.
    fn push(&mut self, kind: Kind, length: usize) -> Result<(), SyntaxError> {
        if self.tokens.len() >= self.most {
            return self.error("the templates of a definition may not have more tokens: make them shorter");
        }
        let at = self.at();
        let (text, rest) = self.rest.split_at(length);
        self.tokens.push(Token { kind, text, at });
        self.rest = rest;
        Ok(())
    }

    /// An action or a comment, from its braces to its braces.
    fn action(&mut self) -> Result<(), SyntaxError> {
        let inside = self.rest.strip_prefix("{{").unwrap_or_default();
        let mark = if inside.starts_with('-') && inside.chars().nth(1).is_some_and(is_space) { 2 } else { 0 };
        if inside.get(mark..).is_some_and(|inside| inside.starts_with("/*")) {
            return self.comment("{{/*".len() + mark);
        }
        self.push(Kind::Open, "{{".len() + mark)?;
        self.parens = 0;
        loop {
            if let Some(length) = closing(self.rest) {
                if self.parens > 0 {
                    return self.error("a parenthesis is not closed");
                }
                return self.push(Kind::Close, length);
            }
            self.inside()?;
        }
    }

    /// A comment whose text begins after this many bytes.
    fn comment(&mut self, begin: usize) -> Result<(), SyntaxError> {
        let length = self.rest.get(begin..).and_then(|text| text.find("*/"));
        let Some(end) = length.map(|length| begin + length + "*/".len()) else {
            return self.error("a comment is not closed");
        };
        match self.rest.get(end..).and_then(closing) {
            Some(closing) => self.push(Kind::Comment, end + closing),
            None => self.error("a comment is closed before its braces are"),
        }
    }

    /// A token within an action.
    fn inside(&mut self) -> Result<(), SyntaxError> {
        let mut characters = self.rest.chars();
        let Some(first) = characters.next() else {
            return self.error("an action is not closed");
        };
        let second = characters.next();
        match first {
            '"' => self.quoted('"'),
            '\'' => self.quoted('\''),
            '`' => self.raw(),
            '$' => self.name(Kind::Variable),
            '.' if second.is_some_and(is_word) && !second.is_some_and(|c| c.is_ascii_digit()) => {
                self.name(Kind::Field)
            }
            '.' if !second.is_some_and(|c| c.is_ascii_digit()) => self.push(Kind::Dot, 1),
            '(' => {
                self.parens += 1;
                self.push(Kind::LeftParen, 1)
            }
            ')' if self.parens == 0 => self.error("a parenthesis is closed that was not opened"),
            ')' => {
                self.parens -= 1;
                self.push(Kind::RightParen, 1)
            }
            _ if is_space(first) => self.space(),
            '.' | '+' | '-' | '0'..='9' => self.number(first),
            _ if is_word(first) => self.word(),
            _ => self.push(Kind::Other, first.len_utf8()),
        }
    }

    /// A string or a character between quotes of this sort.
    fn quoted(&mut self, quote: char) -> Result<(), SyntaxError> {
        let mut characters = self.rest.char_indices().skip(1);
        let end = loop {
            match characters.next() {
                Some((_, '\\')) => match characters.next() {
                    Some((_, '\n')) | None => break None,
                    Some(_) => {}
                },
                Some((_, '\n')) | None => break None,
                Some((end, character)) if character == quote => break Some(end),
                Some(_) => {}
            }
        };
        let Some(end) = end else {
            return self.error("a quote is not closed on its line");
        };
        let inside = self.rest.get(1..end).unwrap_or_default();
        let kind = match quote {
            '"' => strings::text(inside).map(Kind::String),
            _ => strings::rune(inside).map(Kind::Rune),
        };
        match kind {
            Some(kind) => self.push(kind, end + 1),
            None => self.error("what is between quotes has an escape that is unknown, or is not UTF-8"),
        }
    }

    fn raw(&mut self) -> Result<(), SyntaxError> {
        let inside = self.rest.strip_prefix('`').unwrap_or_default();
        match inside.split_once('`') {
            Some((inside, _)) => self.push(Kind::String(strings::raw_text(inside)), inside.len() + 2),
            None => self.error("a backquote is not closed"),
        }
    }

    /// What begins with a dot or a dollar sign.
    fn name(&mut self, kind: Kind) -> Result<(), SyntaxError> {
        let length = run(self.rest, 1, is_word);
        self.push(kind, length)?;
        if length > 1 && self.rest.starts_with('-') {
            return self.error(
                "a name ends at a hyphen: read a step whose id has one with index, as in {{index .steps \"my-step\"}}",
            );
        }
        Ok(())
    }

    /// A number. What it means is not for us to say.
    fn number(&mut self, first: char) -> Result<(), SyntaxError> {
        let mut before = first;
        let length = run(self.rest, 1, |c| {
            let is_part =
                is_word(c) || c == '.' || (matches!(c, '+' | '-') && matches!(before, 'e' | 'E' | 'p' | 'P'));
            before = c;
            is_part
        });
        self.push(Kind::Other, length)
    }

    fn word(&mut self) -> Result<(), SyntaxError> {
        self.push(Kind::Word, run(self.rest, 0, is_word))
    }

    /// Blanks, but for the one that belongs to what closes the action.
    fn space(&mut self) -> Result<(), SyntaxError> {
        let mut length = 1;
        while self
            .rest
            .get(length..)
            .is_some_and(|rest| rest.starts_with(is_space) && closing(rest).is_none())
        {
            length += 1;
        }
        self.push(Kind::Space, length)
    }
}

/// How many bytes close an action, if it is closed here.
fn closing(rest: &str) -> Option<usize> {
    if rest.starts_with("}}") {
        return Some(2);
    }
    let trimming = rest.strip_prefix(is_space).is_some_and(|rest| rest.starts_with("-}}"));
    trimming.then_some(" -}}".len())
}

/// How many bytes a token has: the first ones, and those of characters that belong to it.
fn run(rest: &str, first: usize, mut is_part: impl FnMut(char) -> bool) -> usize {
    let after = rest.get(first..).unwrap_or_default();
    first + after.find(|c: char| !is_part(c)).unwrap_or(after.len())
}

/// Blanks as Go's templates know them.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
