//! CEL expressions, as far as it takes to see that two of them are written differently but mean the same.

mod words;

use words::Word;

/// One spelling for all the ways to write an expression: with other spaces, other quotes, or brackets that change
/// nothing. Nothing if the expression cannot be read.
pub(super) fn normal(expression: &str) -> Option<String> {
    let words = words::split(expression)?;
    let mut reader = Reader { words: &words };
    let node = reader.expression()?;
    reader.words.is_empty().then(|| node.text())
}

/// A part of an expression in its one spelling.
enum Node {
    Text(String),
    /// `&&` or `||` between any number of parts, for which grouping makes no difference.
    Chain(&'static str, Vec<String>),
}

impl Node {
    /// Everything that consists of parts comes in brackets, so that no two meanings have the same spelling.
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Chain(sign, parts) => format!("({})", parts.join(&format!(" {sign} "))),
        }
    }
}

/// The grammar of the language definition, top down: every method reads what binds tighter than its operators.
struct Reader<'a> {
    words: &'a [Word],
}

impl Reader<'_> {
    fn next(&mut self) -> Option<&Word> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// Reads a sign, if it is the next word.
    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.words.first(), Some(Word::Sign(next)) if *next == sign);
        if found {
            self.next();
        }
        found
    }

    fn one_of(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        signs.iter().copied().find(|sign| self.sign(sign))
    }

    fn expression(&mut self) -> Option<Node> {
        let condition = self.chain("||", |reader| reader.chain("&&", Self::relation))?;
        if !self.sign("?") {
            return Some(condition);
        }
        let yes = self.chain("||", |reader| reader.chain("&&", Self::relation))?.text();
        if !self.sign(":") {
            return None;
        }
        let no = self.expression()?.text();
        Some(Node::Text(format!("({} ? {yes} : {no})", condition.text())))
    }

    fn chain(&mut self, sign: &'static str, part: impl Fn(&mut Self) -> Option<Node>) -> Option<Node> {
        let first = part(self)?;
        if !matches!(self.words.first(), Some(Word::Sign(next)) if *next == sign) {
            return Some(first);
        }
        let mut parts = Vec::new();
        let mut add = |node| match node {
            Node::Chain(inner, more) if inner == sign => parts.extend(more),
            other => parts.push(other.text()),
        };
        add(first);
        while self.sign(sign) {
            add(part(self)?);
        }
        Some(Node::Chain(sign, parts))
    }

    fn relation(&mut self) -> Option<Node> {
        self.binary(&["<=", ">=", "<", ">", "==", "!=", "in"], |reader| {
            reader.binary(&["+", "-"], |reader| reader.binary(&["*", "/", "%"], Self::unary))
        })
    }

    fn binary(&mut self, signs: &[&'static str], part: impl Fn(&mut Self) -> Option<Node>) -> Option<Node> {
        let mut left = part(self)?;
        while let Some(sign) = self.one_of(signs) {
            left = Node::Text(format!("({} {sign} {})", left.text(), part(self)?.text()));
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Node> {
        match self.one_of(&["!", "-"]) {
            Some(sign) => Some(Node::Text(format!("({sign}{})", self.unary()?.text()))),
            None => self.member(),
        }
    }

    fn member(&mut self) -> Option<Node> {
        let mut node = self.primary()?;
        loop {
            node = if self.sign(".") {
                let optional = if self.sign("?") { "?" } else { "" };
                let Word::Name(name) = self.next()? else { return None };
                let name = name.clone();
                Node::Text(format!("{}.{optional}{name}", node.text()))
            } else if self.sign("[") {
                let optional = if self.sign("?") { "?" } else { "" };
                let index = self.expression()?.text();
                if !self.sign("]") {
                    return None;
                }
                Node::Text(format!("{}[{optional}{index}]", node.text()))
            } else if self.sign("(") {
                Node::Text(format!("{}({})", node.text(), self.list(")", Self::element)?))
            } else if self.sign("{") {
                Node::Text(format!("{}{{{}}}", node.text(), self.list("}", Self::entry)?))
            } else {
                return Some(node);
            };
        }
    }

    fn primary(&mut self) -> Option<Node> {
        if self.sign("(") {
            let inner = self.expression()?;
            return self.sign(")").then_some(inner);
        }
        if self.sign("[") {
            return Some(Node::Text(format!("[{}]", self.list("]", Self::element)?)));
        }
        if self.sign("{") {
            return Some(Node::Text(format!("{{{}}}", self.list("}", Self::entry)?)));
        }
        let global = if self.sign(".") { "." } else { "" };
        match self.next()? {
            Word::Name(text) => Some(Node::Text(format!("{global}{text}"))),
            Word::Literal(text) if global.is_empty() => Some(Node::Text(text.clone())),
            _ => None,
        }
    }

    /// Elements up to the closing bracket; a comma after the last one is allowed.
    fn list(&mut self, end: &str, part: impl Fn(&mut Self) -> Option<String>) -> Option<String> {
        let mut parts = Vec::new();
        while !self.sign(end) {
            parts.push(part(self)?);
            if !self.sign(",") {
                return self.sign(end).then(|| parts.join(", "));
            }
        }
        Some(parts.join(", "))
    }

    fn element(&mut self) -> Option<String> {
        let optional = if self.sign("?") { "?" } else { "" };
        Some(format!("{optional}{}", self.expression()?.text()))
    }

    fn entry(&mut self) -> Option<String> {
        let key = self.element()?;
        self.sign(":").then_some(())?;
        Some(format!("{key}: {}", self.expression()?.text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) {
        assert!(normal(one).is_some(), "{one}");
        assert_eq!(normal(one), normal(other), "{one}   {other}");
    }

    fn different(one: &str, other: &str) {
        assert!(normal(one).is_some() && normal(other).is_some(), "{one}   {other}");
        assert_ne!(normal(one), normal(other), "{one}   {other}");
    }

    #[test]
    fn spaces_and_quotes_make_no_difference() {
        same("self.a=='x'&&has( self . b )", "self.a == \"x\"\n  && has(self.b)");
        same(r"k.matches('^[\\x27]+$')", r#"k.matches(r"^[\x27]+$")"#);
        different("self.a == 'x y'", "self.a == 'xy'");
        different("self.a == 'x'", "self.a == x");
    }

    #[test]
    fn brackets_that_change_nothing_make_no_difference() {
        same("(a) || ((b && c))", "a || b && c");
        same("a || (b || c)", "(a || b) || c");
        same("(!has(a)) || (size(a) > 0)", "!has(a) || size(a) > 0");
        same("a ? b : c ? d : e", "a ? (b) : (c ? d : e)");
        same("(a + b) + c", "a + b + c");
        same("[1, 2,]", "[(1),2]");
    }

    #[test]
    fn brackets_that_change_something_make_a_difference() {
        different("a && (b || c)", "a && b || c");
        different("!(a || b)", "!a || b");
        different("a - (b - c)", "a - b - c");
        different("(a ? b : c) ? d : e", "a ? b : c ? d : e");
        different("(-a).b()", "-a.b()");
        different("a.b", "a.?b");
        different("a == b", "b == a");
    }

    #[test]
    fn the_whole_language_is_read() {
        for expression in [
            "!has(self.a) || self.a.all(k, k.matches('^x$') && !(k.lowerAscii() in ['b', 'c']))",
            "self.?a[?0].orValue({'k': 1u, \"l\": -2.5e-3, b'x': 0xFF}).size() % 2 >= 1",
            "(has(self.v) ? size(self.v) : 0) + (has(self.m) ? size(self.m) : 0) > 0",
            "google.protobuf.Duration{seconds: 1} < duration('1s') && .x.y == null",
            "'''a'b''' == \"\"\"c\"d\"\"\"",
        ] {
            assert!(normal(expression).is_some(), "{expression}");
        }
    }

    #[test]
    fn what_is_no_expression_has_no_spelling() {
        for text in
            ["", "a b", "(a", "a)", "a ?", "a ? b", "'a", "a..b", "a &", "#", "f(a b)", "{a}", "a.'b'"]
        {
            assert_eq!(normal(text), None, "{text}");
        }
    }
}
