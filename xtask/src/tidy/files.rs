//! Small rooms: a file that has grown too long holds two.

use crate::source::Source;

/// The most lines that a Rust file may have.
const LIMIT: usize = 400;

/// Files that may be longer, each with a reason. The list is to become shorter.
const LONGER: &[(&str, usize, &str)] = &[];

pub(super) fn check(sources: &[Source]) -> Vec<String> {
    check_with(sources, LONGER)
}

fn check_with(sources: &[Source], longer: &[(&str, usize, &str)]) -> Vec<String> {
    let mut broken = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let lines = source.text.lines().count();
        let allowed =
            longer.iter().find(|(path, ..)| *path == source.path).map_or(LIMIT, |(_, lines, _)| *lines);
        if lines > allowed {
            broken.push(format!(
                "{} has {lines} lines, more than {allowed}: split it by what it is about",
                source.path
            ));
        }
    }
    for (path, ..) in longer {
        let lines =
            sources.iter().find(|source| source.path == *path).map(|source| source.text.lines().count());
        if lines.is_none_or(|lines| lines <= LIMIT) {
            broken.push(format!("{path} no longer needs its place on the list of long files"));
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, lines: usize) -> Source {
        Source { path: path.to_owned(), text: "x\n".repeat(lines) }
    }

    #[test]
    fn long_files_are_reported_unless_listed() {
        let sources = [source("a.rs", LIMIT), source("b.rs", LIMIT + 1), source("c.yaml", 10 * LIMIT)];
        let broken = check_with(&sources, &[]);
        assert!(broken.len() == 1 && broken[0].starts_with("b.rs has 401 lines"), "{broken:?}");
        assert_eq!(check_with(&sources, &[("b.rs", LIMIT + 1, "a table")]), Vec::<String>::new());
    }

    #[test]
    fn the_list_shrinks_with_the_files() {
        assert_eq!(check_with(&[source("a.rs", 10)], &[("a.rs", 500, "a table")]).len(), 1);
    }
}
