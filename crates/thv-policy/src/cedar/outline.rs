//! A look at a text before it is parsed: where it ends, and whether parsing it is safe.
//!
//! Cedar parses with tables but walks what it has parsed by recursion: a level of brackets takes up to 15 kB of stack, an
//! operator in a chain 100 bytes, and evaluating it 4 kB more. A token takes 1.7 kB of memory, an error in a deep place
//! the time of hundreds of tokens, and every wrong escape in a string a copy of that string. A manifest has room for
//! enough of each to end the program, so that all are bounded here, far above what people write.

use super::tokens::{Bracket, Token, Tokens};

/// The most brackets and conditionals that contain one another.
const NESTING: usize = 50;
/// The most operators in one expression. Commas separate expressions.
const OPERATORS: usize = 2000;

/// What else is bounded.
#[derive(Debug)]
pub(super) struct Limits {
    bytes: usize,
    tokens: usize,
    /// The longest string.
    string: usize,
    /// For each string, its length times the number of its escapes; all of these together.
    escapes: usize,
}

/// For a text of one policy.
pub(super) const POLICY: Limits =
    Limits { bytes: 128 << 10, tokens: 10_000, string: usize::MAX, escapes: 1 << 20 };
/// For the document of entities. Its escapes are read by a JSON parser, which minds none. A string may be the name of a
/// type, which Cedar parses as if it were a policy.
pub(super) const ENTITIES: Limits =
    Limits { bytes: usize::MAX, tokens: 200_000, string: 8 << 10, escapes: usize::MAX };

/// What a text is like.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outline {
    /// Just behind the first semicolon, or behind the text if there is none.
    pub(super) end: usize,
    /// The first token behind it.
    pub(super) rest: Option<usize>,
    /// How many tokens there are before it.
    pub(super) tokens: usize,
}

/// A text is too big to be parsed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooBig {
    /// Where it gets too big.
    pub(super) offset: usize,
    pub(super) message: &'static str,
}

/// Looks at a text. In one that the parser does not take, it may see what the parser no longer sees.
pub(super) fn outline(text: &str, limits: &Limits) -> Result<Outline, TooBig> {
    let Limits { bytes, tokens: most, string: longest, escapes: most_escapes } = *limits;
    let (mut depth, mut tokens, mut escaped) = (Depth::new(), Tokens::of(text), 0);
    let (mut count, mut is_long) = (0, false);
    while let Some((offset, token)) = tokens.next() {
        count += 1;
        match token {
            Token::Open(bracket) => depth.open(bracket),
            Token::Close(bracket) => depth.close(bracket),
            Token::Comma => depth.next_expression(),
            Token::If => depth.conditional(),
            Token::Operator => depth.operator(),
            Token::String { length, escapes } => {
                escaped += length * escapes;
                is_long |= length > longest;
            }
            Token::Semicolon => {
                return Ok(Outline {
                    end: tokens.offset(),
                    rest: tokens.next().map(|(offset, _)| offset),
                    tokens: count,
                });
            }
            Token::Other => {}
        }
        let message = if tokens.offset() > bytes || count > most {
            "this is too long: make several policies of it"
        } else if is_long {
            "this string is too long: use 8 KiB at most"
        } else if escaped > most_escapes {
            "this string has too many escapes: make several of it"
        } else if depth.nesting() > NESTING {
            "brackets and conditionals are nested too deep here: make several policies of this one"
        } else if depth.operators() > OPERATORS {
            "this expression has too many operators: use a set, or make several policies of this one"
        } else {
            continue;
        };
        return Err(TooBig { offset, message });
    }
    Ok(Outline { end: text.len(), rest: None, tokens: count })
}

/// How deep the tree of an expression can be at most. It counts too much rather than too little: a bracket that does not
/// match is an error to the parser, which then forgets some of what was open, and is ignored here, where all of it stays
/// open.
struct Depth {
    /// The brackets that are open, and before them whatever is outside of brackets.
    levels: Vec<Level>,
    /// Conditionals of all levels.
    conditionals: usize,
}

/// What is inside one pair of brackets.
#[derive(Default)]
struct Level {
    bracket: Option<Bracket>,
    /// Conditionals in the expression that is being read.
    conditionals: usize,
    /// Operators in it, with those in brackets that it contains.
    operators: usize,
    /// The most operators of the expressions before it.
    most: usize,
}

impl Depth {
    fn new() -> Self {
        Self { levels: vec![Level::default()], conditionals: 0 }
    }

    fn nesting(&self) -> usize {
        self.levels.len() - 1 + self.conditionals
    }

    /// Those of the expression that is being read.
    fn operators(&self) -> usize {
        self.levels.last().map_or(0, |level| level.operators)
    }

    fn open(&mut self, bracket: Bracket) {
        self.levels.push(Level { bracket: Some(bracket), ..Level::default() });
    }

    /// What was in brackets is part of the expression around them. Brackets may also be an operator: a call or an index.
    fn close(&mut self, bracket: Bracket) {
        let Some(inner) = self.levels.pop_if(|level| level.bracket == Some(bracket)) else { return };
        self.conditionals -= inner.conditionals;
        if let Some(outer) = self.levels.last_mut() {
            outer.operators += inner.operators.max(inner.most) + 1;
        }
    }

    fn next_expression(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.conditionals -= level.conditionals;
            level.most = level.most.max(level.operators);
            (level.conditionals, level.operators) = (0, 0);
        }
    }

    fn conditional(&mut self) {
        self.conditionals += 1;
        if let Some(level) = self.levels.last_mut() {
            level.conditionals += 1;
        }
        self.operator();
    }

    fn operator(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.operators += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Outline, TooBig> {
        outline(text, &POLICY)
    }

    fn rest(text: &str) -> Option<&str> {
        of(text).unwrap().rest.map(|offset| &text[offset..])
    }

    #[test]
    fn a_policy_ends_with_its_semicolon() {
        for text in ["", "permit", "a;", "a; // b;\n ", "a(\";\", \"\\\";\"); // ;", "// a;\nb;"] {
            assert_eq!(rest(text), None, "{text}");
        }
        assert_eq!(rest("a; b;"), Some("b;"));
        assert_eq!(rest("a;\n// c\n;"), Some(";"));
        assert_eq!(rest("a;\u{2003}é"), Some("é"));
        assert_eq!(of("a; b"), Ok(Outline { end: 2, rest: Some(3), tokens: 2 }));
    }

    #[test]
    fn nesting_is_bounded_whatever_it_is_made_of() {
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("if a then b else ", ""), ("f(1, [", "])")]
        {
            let levels = NESTING / open.matches(['(', '[', '{', 'i']).count();
            let nested = |levels: usize| format!("{}x{}", open.repeat(levels), close.repeat(levels));
            assert!(of(&nested(levels)).is_ok(), "{open}");
            assert!(of(&nested(levels + 1)).unwrap_err().offset >= open.len() * levels, "{open}");
        }
    }

    #[test]
    fn siblings_add_no_depth() {
        for item in ["if a then b else c", "(a)", "a + b", "\"(\"", "A::B::\"c\"", "// (\n 1"] {
            assert!(
                outline(&format!("[{}]", format!("{item}, ").repeat(10_000)), &ENTITIES).is_ok(),
                "{item}"
            );
        }
    }

    #[test]
    fn a_chain_is_bounded_even_when_brackets_hide_parts_of_it() {
        for link in ["a || ", "!", "a.", "a + ", "a has ", "(a) || ", "a(b, c).", "f[\"a\"]"] {
            assert!(outline(&link.repeat(OPERATORS / 3), &ENTITIES).is_ok(), "{link}");
            assert!(outline(&link.repeat(OPERATORS * 2), &ENTITIES).is_err(), "{link}");
        }
        // Each pair of brackets has few operators, and contains all those before it.
        let part = "a || ".repeat(OPERATORS / NESTING * 2);
        let text = format!("{}a{}", "(".repeat(NESTING), format!(" || {part} a)").repeat(NESTING));
        assert!(outline(&text, &ENTITIES).unwrap_err().message.contains("operators"));
    }

    #[test]
    fn a_bracket_that_does_not_match_closes_nothing() {
        for text in [")))))", "(]", "}", "a)b(c,", ",,,,)"] {
            assert_eq!(of(text).unwrap().rest, None);
        }
        assert!(of(&"(]".repeat(NESTING + 1)).is_err());
        assert!(of(&"a || )".repeat(OPERATORS + 1)).is_err());
    }

    #[test]
    fn length_and_escapes_are_bounded() {
        let string =
            |length: usize, escapes: usize| format!("\"{}{}\"", "\\q".repeat(escapes), "x".repeat(length));
        assert!(of(&string(100_000, 9)).is_ok());
        assert!(of(&string(100_000, 11)).unwrap_err().message.contains("escapes"));
        assert!(of(&format!("[{}]", "\"C:\\\\a\\\\b\", ".repeat(2_000))).is_ok());
        assert!(of(&string(200_000, 0)).unwrap_err().message.contains("too long"));
        assert!(of(&"a,".repeat(5_000)).is_ok());
        assert!(of(&"a,".repeat(5_001)).unwrap_err().message.contains("too long"));
    }
}
