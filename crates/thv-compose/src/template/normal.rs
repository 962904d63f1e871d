//! The form of a template that gtmpl-ng reads as Go reads the original.
//!
//! Three things are written anew: strings and characters, whose escapes it does not all know; and `else with`, which it
//! does not know, as an `else` with a block of its own inside. And what is nested too deep is refused: it recurses for
//! each block, for each parenthesis, and for each `else if`.

use super::SyntaxError;
use super::paths::{self, DataPath};
use super::strings::quoted;
use super::tokens::{Kind, Token};
use crate::limits::MAX_NESTING;

pub(super) struct Normal {
    pub(super) text: String,
    /// What the template reads.
    pub(super) paths: Vec<DataPath>,
    /// Where tokens begin, here and in the original.
    places: Vec<(usize, usize)>,
}

impl Normal {
    /// Where in the original a place of this form is, in bytes.
    pub(super) fn origin(&self, line: usize, column: usize) -> Option<usize> {
        let lines = self.text.split_inclusive('\n').take(line.checked_sub(1)?);
        let place = lines.map(str::len).sum::<usize>() + column.checked_sub(1)?;
        let index = self.places.partition_point(|(here, _)| *here <= place).checked_sub(1)?;
        self.places.get(index).map(|(_, original)| *original)
    }
}

/// What an action begins or ends.
#[derive(Clone, Copy, PartialEq)]
enum Control {
    If,
    With,
    Range,
    /// A template of its own: `define` and `block`.
    Template,
    Else,
    ElseIf,
    ElseWith,
    End,
    None,
}

impl Control {
    /// By the words that the action begins with.
    fn of(action: &[Token<'_>]) -> Self {
        let mut words = action.iter().filter(|token| token.kind != Kind::Space);
        let mut word = || words.next().filter(|token| token.kind == Kind::Word).map(|token| token.text);
        match (word(), word()) {
            (Some("if"), _) => Self::If,
            (Some("with"), _) => Self::With,
            (Some("range"), _) => Self::Range,
            (Some("define" | "block"), _) => Self::Template,
            (Some("else"), Some("if")) => Self::ElseIf,
            (Some("else"), Some("with")) => Self::ElseWith,
            (Some("else"), _) => Self::Else,
            (Some("end"), _) => Self::End,
            _ => Self::None,
        }
    }
}

/// A block that is open.
struct Block {
    begun_by: Control,
    /// Whether the dot is something else here than outside.
    binds_dot: bool,
    /// How deep gtmpl-ng recurses for it.
    levels: usize,
    /// How many blocks more its `end` ends.
    ends: usize,
}

#[derive(Default)]
struct Scan {
    text: String,
    paths: Vec<DataPath>,
    places: Vec<(usize, usize)>,
    blocks: Vec<Block>,
}

pub(super) fn normalise(tokens: &[Token<'_>]) -> Result<Normal, SyntaxError> {
    let mut scan = Scan::default();
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        scan.copy(first);
        rest = after;
        if first.kind == Kind::Open {
            let end = after.iter().position(|token| token.kind == Kind::Close).unwrap_or(after.len());
            let (action, after) = after.split_at(end);
            scan.action(action)?;
            rest = after;
        }
    }
    let Scan { text, paths, places, blocks: _ } = scan;
    Ok(Normal { text, paths, places })
}

impl Scan {
    fn copy(&mut self, token: &Token<'_>) {
        self.places.push((self.text.len(), token.at));
        match &token.kind {
            Kind::String(text) => self.text.push_str(&quoted(text)),
            Kind::Rune(number) => self.text.push_str(&number.to_string()),
            _ => self.text.push_str(token.text),
        }
    }

    /// What is between the braces of an action.
    fn action(&mut self, action: &[Token<'_>]) -> Result<(), SyntaxError> {
        let control = self.control(action);
        if let (Control::Else | Control::ElseIf | Control::ElseWith, Some(block)) =
            (control, self.blocks.last_mut())
        {
            block.binds_dot = false;
        }
        self.nesting(action)?;
        let is_elsewhere = self.blocks.iter().any(|block| block.begun_by == Control::Template);
        let is_bound = self.blocks.iter().any(|block| block.binds_dot);
        self.paths.extend(paths::paths(action, !is_elsewhere && !is_bound, !is_elsewhere));
        self.write(control, action);
        match control {
            Control::If | Control::With | Control::Range | Control::Template => self.blocks.push(Block {
                begun_by: control,
                binds_dot: control != Control::If,
                levels: 1,
                ends: 0,
            }),
            Control::ElseIf | Control::ElseWith => {
                if let Some(block) = self.blocks.last_mut() {
                    block.levels += 1;
                    block.ends += usize::from(control == Control::ElseWith);
                    block.binds_dot = control == Control::ElseWith;
                }
            }
            Control::End => drop(self.blocks.pop()),
            Control::Else | Control::None => {}
        }
        Ok(())
    }

    /// An `else with` goes with a `with`. Elsewhere gtmpl-ng says what is wrong with it.
    fn control(&self, action: &[Token<'_>]) -> Control {
        match Control::of(action) {
            Control::ElseWith if self.blocks.last().is_none_or(|block| block.begun_by != Control::With) => {
                Control::None
            }
            other => other,
        }
    }

    fn nesting(&self, action: &[Token<'_>]) -> Result<(), SyntaxError> {
        let mut levels: usize = self.blocks.iter().map(|block| block.levels).sum();
        for token in action {
            match token.kind {
                Kind::LeftParen => levels += 1,
                Kind::RightParen => levels -= 1,
                _ => {}
            }
            if levels > MAX_NESTING {
                let message = format!("more than {MAX_NESTING} blocks or parentheses are inside each other");
                return Err(SyntaxError { at: Some(token.at), message });
            }
        }
        Ok(())
    }

    fn write(&mut self, control: Control, action: &[Token<'_>]) {
        let ends = self.blocks.last().map_or(0, |block| block.ends);
        let mut is_begun = false;
        for token in action {
            if control == Control::ElseWith && is_begun && token.text == "with" {
                self.text.push_str("}}{{");
                is_begun = false;
            }
            self.copy(token);
            let is_keyword = token.kind == Kind::Word && !is_begun;
            if is_keyword && control == Control::End && token.text == "end" {
                self.text.push_str(&"}}{{end".repeat(ends));
            }
            is_begun |= is_keyword && token.text == "else";
        }
    }
}
