//! Tests have their recordings in the project: what lies beside it is not there for everybody.

use crate::source::Source;

/// How the folder beside the project is called.
const BESIDE: [&str; 2] = [concat!("../sha", "red"), concat!("shared/ref", "erence")];

/// The one that may look there, because it compares when there is something to compare with, and is no test.
const PARITY: &str = "xtask/src/crds/mod.rs";

pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let code = sources.iter().filter(|source| source.is_rust() && source.path != PARITY);
    code.flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<String> {
    let lines = (1..).zip(source.text.lines());
    let looks = lines.filter(|(_, line)| BESIDE.iter().any(|folder| line.contains(folder)));
    looks
        .map(|(number, _)| {
            format!(
                "{}:{number}: a test reads what lies beside the project: put it into tests/recordings",
                source.path
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_reads_a_recording_beside_the_project_is_reported() {
        let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let broken = |path: &str, text: &str| check(&[source(path, text)]).len();
        for folder in BESIDE {
            assert_eq!(
                broken("crates/a/tests/b.rs", &format!("fn f() {{\n    read(\"{folder}/c\");\n}}\n")),
                1
            );
            assert_eq!(broken("docs/a.md", folder), 0, "only code reads");
            assert_eq!(broken(PARITY, folder), 0);
        }
        assert_eq!(broken("crates/a/tests/b.rs", "use thv_api::shared::Reference;"), 0);
    }
}
