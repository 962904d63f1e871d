//! Where our definitions differ from the reference on purpose.

use std::fmt;

use super::parity::Difference;

/// A difference as `cargo xtask crd-parity` prints it, with the reason for it. A star stands for any text.
pub(super) struct Deliberate {
    pub(super) kind: &'static str,
    pub(super) path: &'static str,
    pub(super) ours: &'static str,
    pub(super) theirs: &'static str,
    pub(super) reason: &'static str,
}

/// All of them. An entry that no longer matches a difference has to go.
pub(super) const DELIBERATE: &[Deliberate] = &[
    Deliberate {
        kind: "*",
        path: "*rule message of *",
        // In quotes: that one side has no message at all is not meant.
        ours: "\"*\"",
        theirs: "\"*\"",
        reason: "messages are for people and in our own words: the same objects are accepted and rejected",
    },
    Deliberate {
        kind: "*",
        path: "deprecationWarning",
        ours: "\"*\"",
        theirs: "\"*\"",
        reason: "warnings are for people and in our own words: the same versions are deprecated",
    },
    Deliberate {
        kind: "*",
        path: "column Referenced",
        ours: "*",
        theirs: "–",
        reason: "people see whether anybody refers to an object before they delete it",
    },
    Deliberate {
        kind: "*",
        path: "column Referrers",
        ours: "*",
        theirs: "–",
        reason: "people see who refers to an object before they delete it",
    },
    Deliberate {
        kind: "MCPGroup",
        path: "column Entries",
        ours: "*",
        theirs: "–",
        reason: "members of all three kinds are counted",
    },
];

impl Deliberate {
    fn is(&self, difference: &Difference) -> bool {
        // All versions of a kind have the same schema, so an entry holds for each of them.
        let Difference { kind, path, versions: _, ours, theirs } = difference;
        [(self.kind, kind), (self.path, path), (self.ours, ours), (self.theirs, theirs)]
            .into_iter()
            .all(|(pattern, text)| matches(pattern, text))
    }
}

/// Whether a text is what a pattern says.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            // The star takes nothing, or a letter more, and so on.
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| rest.get(at..).is_some_and(|rest| matches(after, rest)))
        }),
    }
}

impl fmt::Display for Deliberate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {} / {}", self.kind, self.path, self.ours, self.theirs)
    }
}

/// What to make of the differences.
pub(super) struct Verdict<'a> {
    /// Nobody said that these are meant.
    pub(super) unexpected: Vec<Difference>,
    /// These are, for a reason.
    pub(super) accepted: Vec<(&'static str, Vec<Difference>)>,
    /// These are said to be there, and are not.
    pub(super) stale: Vec<&'a Deliberate>,
}

pub(super) fn judge(differences: Vec<Difference>, deliberate: &[Deliberate]) -> Verdict<'_> {
    let (known, unexpected): (Vec<_>, Vec<_>) =
        differences.into_iter().partition(|difference| deliberate.iter().any(|entry| entry.is(difference)));
    let mut accepted: Vec<(&'static str, Vec<Difference>)> = Vec::new();
    let mut stale = Vec::new();
    for entry in deliberate {
        let here: Vec<Difference> = known.iter().filter(|known| entry.is(known)).cloned().collect();
        if here.is_empty() {
            stale.push(entry);
        }
        match accepted.iter_mut().find(|(reason, _)| *reason == entry.reason) {
            Some((_, all)) => all.extend(here),
            None if here.is_empty() => {}
            None => accepted.push((entry.reason, here)),
        }
    }
    Verdict { unexpected, accepted, stale }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: Deliberate =
        Deliberate {
            kind: "Thing", path: "spec.a", ours: "–", theirs: "string", reason: "nobody needs it"
        };

    fn difference(path: &str, versions: &str) -> Difference {
        Difference {
            kind: "Thing".to_owned(),
            path: path.to_owned(),
            versions: versions.to_owned(),
            ours: "–".to_owned(),
            theirs: "string".to_owned(),
        }
    }

    #[test]
    fn a_deliberate_difference_is_accepted() {
        let verdict = judge(vec![difference("spec.a", "v1"), difference("spec.b", "v1")], &[ENTRY]);
        assert_eq!(verdict.accepted, [("nobody needs it", vec![difference("spec.a", "v1")])]);
        assert_eq!(verdict.unexpected, [difference("spec.b", "v1")]);
        assert!(verdict.stale.is_empty());
    }

    #[test]
    fn an_entry_that_matches_nothing_is_stale() {
        let stale = |differences: Vec<Difference>| {
            judge(differences, &[ENTRY]).stale.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(stale(vec![]), ["Thing spec.a: – / string"]);
        assert_eq!(stale(vec![difference("spec.a", "v1 v2")]), Vec::<String>::new());
        // The difference is still there, but it is not the one that somebody argued for.
        let other = Difference { theirs: "integer".to_owned(), ..difference("spec.a", "v1") };
        assert_eq!(stale(vec![other]).len(), 1);
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in
            [("*", ""), ("*", "a"), ("a*", "a"), ("a*c", "abbc"), ("*b*", "abc"), ("\"*\"", "\"\"")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a", "ab"), ("a*", "ba"), ("*a", "ab"), ("\"*\"", "–"), ("\"*\"", "\"")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn every_entry_has_a_reason() {
        for entry in DELIBERATE {
            assert!(entry.reason.split_whitespace().count() > 3, "{entry}");
        }
    }
}
