//! `cargo xtask acceptance`: which items of the contract have tests, and how those ended.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};

use crate::results::{Outcome, Results};
use crate::shell::root;
use crate::source::{self, Source};

/// The file with all items.
const LIST: &str = "tests/acceptance.txt";
/// How the list marks an item that has no test yet.
const OPEN: &str = "(open) ";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Show only items that have no test, or whose last run failed, and fail if there are any
    #[arg(long)]
    missing: bool,
    /// Only items whose ids start like this, such as S0 or S2-1
    #[arg(value_name = "PREFIX")]
    prefixes: Vec<String>,
}

/// An item of the contract.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    id: String,
    title: String,
    /// Whether there is no test yet, and nobody expects one.
    is_open: bool,
}

/// The tests of one item, by name, with their last outcome.
type Tests = BTreeMap<String, Option<Outcome>>;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let sources = source::all(&root())?;
    let items = listed(&sources)?;
    let tests = tests_by_id(&names_in(&sources), &Results::load()?);
    let empty = Tests::new();
    let mut open = 0;
    for item in items.iter().filter(|item| is_chosen(&item.id, &arguments.prefixes)) {
        let tests = tests.get(&item.id).unwrap_or(&empty);
        let state = if item.is_open && tests.is_empty() { "open" } else { state(tests) };
        open += usize::from(state != "passed");
        if arguments.missing && state == "passed" {
            continue;
        }
        println!("{:6} {:9} {}", item.id, state, item.title);
        for (name, outcome) in tests {
            let outcome = outcome.map_or("not run", |outcome| match outcome {
                Outcome::Passed => "passed",
                Outcome::Failed => "failed",
                Outcome::Ignored => "ignored",
            });
            println!("                   {outcome}: {name}");
        }
    }
    if arguments.missing && open > 0 {
        bail!("{open} acceptance items have no test that passed");
    }
    Ok(())
}

/// Every item whose mark is wrong: one that should have a test and has none, or one that is open and has a test.
pub(crate) fn check(sources: &[Source]) -> Result<Vec<String>> {
    let tests = tests_by_id(&names_in(sources), &Results::default());
    let broken = listed(sources)?.into_iter().filter_map(|Item { id, title, is_open }| {
        match (is_open, tests.contains_key(&id)) {
            (false, false) => Some(format!(
                "{LIST}: {id} ({title}) has no test: write a test whose name starts with its id, or mark it (open)"
            )),
            (true, true) => Some(format!("{LIST}: {id} has a test: remove the mark (open)")),
            _ => None,
        }
    });
    Ok(broken.collect())
}

/// The items on the list.
fn listed(sources: &[Source]) -> Result<Vec<Item>> {
    let list = sources.iter().find(|source| source.path == LIST);
    items(&list.with_context(|| format!("{LIST} is missing"))?.text)
}

fn items(text: &str) -> Result<Vec<Item>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (id, title) = line.split_once(' ').with_context(|| format!("no title in {line:?}"))?;
            let (title, is_open) = match title.strip_prefix(OPEN) {
                Some(title) => (title, true),
                None => (title, false),
            };
            Ok(Item { id: id.to_owned(), title: title.trim().to_owned(), is_open })
        })
        .collect()
}

/// `S2` means the whole seed, `S2-1` just that item and not S2-10.
fn is_chosen(id: &str, prefixes: &[String]) -> bool {
    let starts = |prefix: &String| {
        id == prefix || id.starts_with(&format!("{prefix}-")) || (prefix == "G" && id.starts_with('G'))
    };
    prefixes.is_empty() || prefixes.iter().any(starts)
}

fn state(tests: &Tests) -> &'static str {
    if tests.is_empty() {
        return "no test";
    }
    if tests.values().any(|outcome| *outcome == Some(Outcome::Failed)) {
        return "failed";
    }
    if tests.values().any(|outcome| *outcome != Some(Outcome::Passed)) {
        return "not run";
    }
    "passed"
}

/// Tests are known from the sources, and from runs if a macro has written them.
fn tests_by_id(sources: &BTreeSet<String>, results: &Results) -> BTreeMap<String, Tests> {
    let mut found: BTreeMap<String, Tests> = BTreeMap::new();
    for tests in results.0.values() {
        for (path, outcome) in tests {
            let name = path.rsplit("::").next().unwrap_or(path);
            for id in ids(name) {
                found.entry(id).or_default().insert(path.clone(), Some(*outcome));
            }
        }
    }
    for name in sources {
        for id in ids(name) {
            let tests = found.entry(id).or_default();
            let is_known = tests.keys().any(|path| path.rsplit("::").next() == Some(name));
            if !is_known {
                tests.insert(name.clone(), None);
            }
        }
    }
    found
}

/// The ids at the start of a test's name: `s0_03_s0_04_an_old_pod…` gives S0-3 and S0-4.
fn ids(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut parts = name.split('_').peekable();
    while let Some(part) = parts.next() {
        let digits = part.get(1..).filter(|digits| digits.parse::<u32>().is_ok());
        match (part.get(..1), digits, parts.peek().and_then(|next| next.parse::<u32>().ok())) {
            (Some("g"), Some(rule), _) => found.push(format!("G{rule}")),
            (Some("s"), Some(seed), Some(number)) => {
                found.push(format!("S{seed}-{number}"));
                parts.next();
            }
            _ => break,
        }
    }
    found
}

/// The names of all tests in the sources that start with an id.
fn names_in(sources: &[Source]) -> BTreeSet<String> {
    let tests = sources.iter().filter(|source| source.is_rust()).flat_map(|source| tests_in(&source.text));
    tests.filter(|name| !ids(name).is_empty()).map(str::to_owned).collect()
}

/// The functions that a test program runs: those with an attribute that says so, unless another has them ignored.
fn tests_in(source: &str) -> Vec<&str> {
    let (mut found, mut attributes) = (Vec::new(), Vec::new());
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            attributes.push(line);
            continue;
        }
        let is_test = attributes
            .iter()
            .any(|line| ["#[test]", "#[tokio::test"].iter().any(|start| line.starts_with(start)));
        let is_ignored = attributes.iter().any(|line| line.starts_with("#[ignore"));
        let function = line.split_once("fn ").filter(|_| is_test && !is_ignored);
        found.extend(
            function.and_then(|(_, rest)| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()),
        );
        // A comment, or an attribute of several lines, may stand between an attribute and its function.
        if line.contains("fn ") || line.is_empty() {
            attributes.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_from_names() {
        assert_eq!(ids("s0_03_restarted_old_pod_keeps_its_generation"), ["S0-3"]);
        assert_eq!(ids("s0_04_s0_05_g1_order"), ["S0-4", "S0-5", "G1"]);
        assert!(ids("settles_after_2_tries").is_empty());
        assert!(ids("g_force").is_empty());
    }

    #[test]
    fn an_item_passes_when_every_test_of_it_did() {
        let mut tests = Tests::new();
        assert_eq!(state(&tests), "no test");
        tests.insert("a".to_owned(), Some(Outcome::Passed));
        assert_eq!(state(&tests), "passed");
        tests.insert("b".to_owned(), None);
        assert_eq!(state(&tests), "not run");
        tests.insert("c".to_owned(), Some(Outcome::Failed));
        assert_eq!(state(&tests), "failed");
    }

    #[test]
    fn a_test_in_the_sources_that_never_ran_is_known() {
        let sources = BTreeSet::from(["s1_01_a".to_owned(), "s1_02_b".to_owned()]);
        let mut results = Results::default();
        results.record("suite".to_owned(), vec![("kind::s1_01_a".to_owned(), Outcome::Passed)], true);
        let tests = tests_by_id(&sources, &results);
        assert_eq!(tests["S1-1"], Tests::from([("kind::s1_01_a".to_owned(), Some(Outcome::Passed))]));
        assert_eq!(tests["S1-2"], Tests::from([("s1_02_b".to_owned(), None)]));
    }

    #[test]
    fn the_list_in_the_project_is_complete() {
        let items = listed(&source::all(&root()).unwrap()).unwrap();
        let count = |prefix: &str| items.iter().filter(|item| item.id.starts_with(prefix)).count();
        assert_eq!(
            [count("S0-"), count("S1-"), count("S2-"), count("S3-"), count("S4-"), count("G")],
            [17, 10, 19, 12, 11, 4]
        );
    }

    #[test]
    fn an_item_that_lost_its_test_and_an_open_one_that_has_a_test_are_reported() {
        let list = "# Items\n\nS1-1 Tested\nS1-2 Not tested\nS1-3 (open) Tested\nS1-4 (open) Not tested\n\
                    S1-5 Ignored\nS1-6 No test\n";
        let code = "#[test]\nfn s1_01_a() {}\n\n#[tokio::test]\nasync fn s1_03_b() {}\n\n\
                    #[test]\n#[ignore = \"slow\"]\nfn s1_05_c() {}\n\nfn s1_06_helper() {}\n";
        let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let broken =
            check(&[source(LIST, list), source("a.rs", code), source("a.md", "#[test]\nfn s1_02_d()")]);
        let broken = broken.unwrap();
        let starts = [
            "tests/acceptance.txt: S1-2 (Not tested) has no test",
            "tests/acceptance.txt: S1-3 has a test",
            "tests/acceptance.txt: S1-5 (Ignored) has no test",
            "tests/acceptance.txt: S1-6 (No test) has no test",
        ];
        assert_eq!(broken.len(), starts.len(), "{broken:#?}");
        assert!(broken.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{broken:#?}");
        assert!(check(&[]).is_err(), "a list that is gone is not an empty one");
    }

    #[test]
    fn prefixes_are_whole_words() {
        let chosen = |id: &str, prefix: &str| is_chosen(id, &[prefix.to_owned()]);
        assert!(chosen("S2-1", "S2-1") && chosen("S2-1", "S2") && chosen("G1", "G"));
        assert!(!chosen("S2-10", "S2-1") && !chosen("S2-1", "S1"));
    }
}
