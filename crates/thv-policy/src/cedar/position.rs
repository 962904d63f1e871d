//! Places in a text.

use std::fmt;

/// A place in a text, counted from 1 the way editors do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Position {
    /// Where the byte at `offset` is. An offset behind the text is its end.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..text.floor_char_boundary(offset)).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_characters_are_counted_from_one() {
        let text = "é\nab\n";
        let place = |offset| {
            let Position { line, column } = Position::of(text, offset);
            (line, column)
        };
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6, 99].map(place),
            [(1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 1)]
        );
    }
}
