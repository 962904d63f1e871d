//! Words that do not belong into the project.

use crate::source::Source;

/// A word, and what to do instead.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("/ro", "ot/"), "a path of one machine: take it from the environment"),
    (concat!("/ho", "me/"), "a path of one machine: take it from the environment"),
    (concat!("/wo", "rk/"), "a path of one machine: take it from the environment"),
    (concat!("FIX", "ME"), "mend it, or file an issue"),
    (concat!("XX", "X"), "mend it, or file an issue"),
    (concat!("to", "do!("), "unfinished code does not land"),
    (concat!("unimple", "mented!("), "unfinished code does not land"),
    (concat!("proxy.golang", ".org"), "which registry is used is a matter of the machine"),
    (concat!("#[", "ignore]"), "say why: `#[ignore = \"…\"]`"),
];

/// A path that is part of somebody else's image: where the registry looks for its password file.
const OF_AN_IMAGE: &str = concat!("/ho", "me/appuser/");

/// A note for later is fine when it says why not now: the word, a bracket, a reason.
const LATER: &str = concat!("TO", "DO");

/// Texts that others wrote, or that cargo, Go and npm write.
const NOT_OURS: &[&str] = &["LICENSE", "Cargo.lock", "go.sum", "package-lock.json"];

pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let ours = sources.iter().filter(|source| !NOT_OURS.iter().any(|name| source.path.ends_with(name)));
    ours.flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<String> {
    let mut broken = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        let line = &line.replace(OF_AN_IMAGE, "");
        for (word, instead) in FORBIDDEN.iter().filter(|(word, _)| line.contains(word)) {
            broken.push(format!("{}:{number}: {word:?}: {instead}", source.path));
        }
        if line.contains(LATER) && !line.contains(&format!("{LATER}(")) {
            broken.push(format!(
                "{}:{number}: {LATER} without a reason: write {LATER}(why not now)",
                source.path
            ));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(text: &str) -> usize {
        check(&[Source { path: "a.rs".to_owned(), text: text.to_owned() }]).len()
    }

    #[test]
    fn forbidden_words_are_reported() {
        assert_eq!(broken("fine\n"), 0);
        assert_eq!(broken(&format!("{OF_AN_IMAGE}.pgpass")), 0);
        for (word, _) in FORBIDDEN {
            assert_eq!(broken(word), 1, "{word}");
        }
    }

    #[test]
    fn a_note_for_later_needs_a_reason() {
        assert_eq!(broken(&format!("// {LATER}: later")), 1);
        assert_eq!(broken(&format!("// {LATER}(until rmcp speaks SSE): later")), 0);
    }

    #[test]
    fn what_others_wrote_is_left_alone() {
        let text = FORBIDDEN[0].0.to_owned();
        assert_eq!(check(&[Source { path: "tools/x/go.sum".to_owned(), text }]), Vec::<String>::new());
    }
}
