//! How each test ended when it was last run.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::shell::root;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Ignored,
}

/// The last outcome of each test, by test program and name. Kept in `target`, as what was built is.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Results(pub(crate) BTreeMap<String, BTreeMap<String, Outcome>>);

impl Results {
    /// What earlier runs have left; nothing if there were none.
    pub(crate) fn load() -> Result<Self> {
        let file = file();
        match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is damaged: remove it and run the tests again", file.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
        }
    }

    /// Takes in a run of one test program. A whole run also forgets tests that are no longer there.
    pub(crate) fn record(&mut self, suite: String, tests: Vec<(String, Outcome)>, whole: bool) {
        let known = self.0.entry(suite).or_default();
        if whole {
            known.clear();
        }
        known.extend(tests);
    }

    pub(crate) fn save(&self) -> Result<()> {
        let file = file();
        fs::write(&file, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("cannot write {}", file.display()))
    }
}

fn file() -> PathBuf {
    root().join("target/test-results.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_run_forgets_tests_that_are_gone_and_a_filtered_one_does_not() {
        let mut results = Results::default();
        let test = |name: &str, outcome| vec![(name.to_owned(), outcome)];
        results.record("s".to_owned(), test("a", Outcome::Passed), true);
        results.record("s".to_owned(), test("b", Outcome::Failed), false);
        assert_eq!(results.0["s"].len(), 2);
        results.record("s".to_owned(), test("b", Outcome::Passed), true);
        assert_eq!(results.0["s"], BTreeMap::from([("b".to_owned(), Outcome::Passed)]));
    }
}
