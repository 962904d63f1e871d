//! What a template reads of the data that it is given, as far as it says so itself.

use super::tokens::{Kind, Token};

/// Names from the data of the workflow down, such as `steps`, `search`, `output`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DataPath {
    pub(crate) names: Vec<String>,
    /// Whether it begins at the data of the workflow. Inside of `with`, `range` and `define` the dot may be anything.
    pub(crate) is_certain: bool,
}

/// The paths in an action: `.a.b`, `$.a.b`, and strings that `index` takes after one. Told is whether the dot, and
/// whether the dollar sign, is the data of the workflow here.
pub(super) fn paths(action: &[Token<'_>], dot_is_root: bool, dollar_is_root: bool) -> Vec<DataPath> {
    let mut found = Vec::new();
    for (index, token) in action.iter().enumerate() {
        let (before, from) = action.split_at(index);
        let is_certain = match token.kind {
            Kind::Field | Kind::Dot if !is_part_of_term(before) => dot_is_root,
            Kind::Variable if token.text == "$" => dollar_is_root,
            _ => continue,
        };
        let mut names = fields(from);
        if is_indexed(before) {
            let length = names.len() + usize::from(token.kind != Kind::Field);
            names.extend(strings(from.get(length..).unwrap_or_default()));
        }
        if !names.is_empty() {
            found.push(DataPath { names, is_certain });
        }
    }
    found
}

/// Whether what comes after these belongs to the term that they end with.
fn is_part_of_term(before: &[Token<'_>]) -> bool {
    let last = before.last().map(|token| &token.kind);
    matches!(last, Some(Kind::Field | Kind::Variable | Kind::RightParen))
}

/// The names of a term, from its first token on.
fn fields(term: &[Token<'_>]) -> Vec<String> {
    let skipped = usize::from(term.first().is_some_and(|token| token.kind == Kind::Variable));
    let fields = term.iter().skip(skipped).take_while(|token| token.kind == Kind::Field);
    fields.map(|token| token.text.trim_start_matches('.').to_owned()).collect()
}

/// Whether what comes after these is the first argument of `index`.
fn is_indexed(before: &[Token<'_>]) -> bool {
    let mut back = before.iter().rev();
    let blank = back.next().is_some_and(|token| token.kind == Kind::Space);
    blank && back.next().is_some_and(|token| token.kind == Kind::Word && token.text == "index")
}

/// The strings that follow, up to what is none.
fn strings(after: &[Token<'_>]) -> Vec<String> {
    let words = after.iter().filter(|token| token.kind != Kind::Space);
    words
        .map_while(|token| match &token.kind {
            Kind::String(text) => Some(text.clone()),
            _ => None,
        })
        .collect()
}
