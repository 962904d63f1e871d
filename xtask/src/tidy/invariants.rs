//! Documents stay true: an invariant, and a difference from ToolHive, names the test that shows it.

use crate::source::Source;

const INVARIANTS: &str = "ARCHITECTURE.md";
const DIFFERENCES: &str = "docs/differences.md";

pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let text =
        |path: &str| sources.iter().find(|source| source.path == path).map(|source| source.text.as_str());
    let Some(architecture) = text(INVARIANTS) else { return vec![format!("{INVARIANTS} is missing")] };
    let invariants = invariants(architecture).into_iter().map(|(number, invariant)| {
        let test =
            invariant.split_once("Test: `").and_then(|(_, rest)| rest.split('`').next()).map(str::to_owned);
        (format!("{INVARIANTS}: invariant {number}"), "Test: `name`", test)
    });
    let lines = (1..).zip(text(DIFFERENCES).unwrap_or_default().lines());
    let differences = lines.filter(|(_, line)| line.starts_with("- ")).map(|(number, line)| {
        let test =
            line.strip_suffix("`)").and_then(|line| line.rsplit_once("(`")).map(|(_, test)| test.to_owned());
        (format!("{DIFFERENCES}:{number}"), "(`name`)", test)
    });
    let mut broken = Vec::new();
    for (place, form, test) in invariants.chain(differences) {
        match test {
            None => broken.push(format!("{place} names no test: end it with {form}")),
            Some(test) if !exists(&test, sources) => {
                broken.push(format!("{place} names the test `{test}`, which does not exist"));
            }
            Some(_) => {}
        }
    }
    broken
}

/// The items of the numbered list under the heading "Invariants", each on one line.
fn invariants(document: &str) -> Vec<(String, String)> {
    let section =
        document.split("\n## ").find_map(|section| section.strip_prefix("Invariants\n")).unwrap_or_default();
    let mut found: Vec<(String, String)> = Vec::new();
    for line in section.lines() {
        let start = line.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok());
        match (start, found.last_mut()) {
            (Some((number, text)), _) => found.push((number.to_owned(), text.to_owned())),
            (None, Some((_, text))) => *text = format!("{text} {}", line.trim()),
            (None, None) => {}
        }
    }
    found
}

fn exists(test: &str, sources: &[Source]) -> bool {
    let function = format!("fn {test}(");
    sources.iter().any(|source| source.text.contains(&function))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(document: &str) -> Vec<String> {
        let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        check(&[source(INVARIANTS, document), source("a.rs", "fn it_holds() {}")])
    }

    #[test]
    fn an_invariant_with_its_test_is_fine() {
        assert_eq!(
            broken("# A\n\n## Invariants\n\n1. **So.** Because.\n   Test: `it_holds`\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_invariant_without_a_test_is_reported() {
        let broken = broken(
            "# A\n\n## Invariants\n\n1. So.\n2. And so. Test: `it_holds_too`\n\n## More\n\n1. Not one.\n",
        );
        assert_eq!(broken.len(), 2, "{broken:?}");
        assert!(broken[0].contains("invariant 1 names no test"), "{broken:?}");
        assert!(broken[1].contains("`it_holds_too`, which does not exist"), "{broken:?}");
    }
    #[test]
    fn a_difference_without_a_test_is_reported() {
        let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let text = "# D\n\n- Fine. (`it_holds`)\n- Not fine.\n- Nor this. (`nowhere`)\n";
        let broken =
            check(&[source(INVARIANTS, ""), source(DIFFERENCES, text), source("a.rs", "fn it_holds() {}")]);
        assert_eq!(broken.len(), 2, "{broken:?}");
        assert!(broken[0].starts_with("docs/differences.md:4 names no test"), "{broken:?}");
    }
}
