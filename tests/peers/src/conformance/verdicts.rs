//! What the suite says of a server.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tests_fixture::Peers;
use tokio::process::Command;

/// A run takes a few seconds.
const LIMIT: Duration = Duration::from_mins(3);

/// The verdict on each check. A scenario may use the id of a check several times; they are numbered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdicts(BTreeMap<String, BTreeMap<(String, usize), Verdict>>);

/// A status, and why it is so.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    status: String,
    why: String,
}

/// A check, as the suite writes it down.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    status: String,
    error_message: Option<String>,
}

impl Verdicts {
    /// Runs what a version of the protocol requires against a server.
    pub(crate) async fn of(peers: &Peers, url: &str, version: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut command = Command::new(peers.node());
        command.arg(peers.conformance()).args([
            "server",
            "--url",
            url,
            "--requirements",
            version,
            "--output-dir",
        ]);
        command.arg(folder.path()).current_dir(folder.path()).stdin(Stdio::null()).kill_on_drop(true);
        // It ends with an error if a check fails, which is for us to judge.
        let output = tokio::time::timeout(LIMIT, command.output()).await;
        let output = output.with_context(|| format!("the suite takes more than {LIMIT:?} for {url}"))??;
        let verdicts = Self::read(folder.path())?;
        ensure!(
            !verdicts.0.is_empty(),
            "the suite has not judged {url}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(verdicts)
    }

    /// Reads the folders of all scenarios.
    fn read(folder: &Path) -> Result<Self> {
        let mut all = Self::default();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let file = entry.path().join("checks.json");
            let checks: Vec<Check> = serde_json::from_slice(&fs::read(&file)?)
                .with_context(|| format!("the suite has changed the form of {}", file.display()))?;
            all.add(scenario(&name), checks);
        }
        Ok(all)
    }

    fn add(&mut self, scenario: &str, checks: Vec<Check>) {
        let verdicts = self.0.entry(scenario.to_owned()).or_default();
        for Check { id, status, error_message } in checks {
            let number = verdicts.keys().filter(|(known, _)| *known == id).count();
            let verdict = Verdict { status, why: error_message.unwrap_or_default() };
            verdicts.insert((id, number), verdict);
        }
    }

    /// The scenarios with a check that fails.
    pub(crate) fn failing(&self) -> Vec<&str> {
        let fails =
            |verdicts: &BTreeMap<_, Verdict>| verdicts.values().any(|verdict| verdict.status == "FAILURE");
        self.0.iter().filter(|(_, verdicts)| fails(verdicts)).map(|(name, _)| name.as_str()).collect()
    }

    /// Every check that fails, with the reason.
    pub(crate) fn failures(&self) -> String {
        let mut lines = Vec::new();
        for (scenario, verdicts) in &self.0 {
            for ((id, _), Verdict { status, why }) in verdicts {
                if status == "FAILURE" {
                    lines.push(format!("{scenario} {id}: {why}"));
                }
            }
        }
        lines.join("\n")
    }

    /// Every check whose status is another one in `seen`, or that is missing in one of the two.
    pub(crate) fn differences(&self, seen: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        let none = BTreeMap::new();
        let scenarios: std::collections::BTreeSet<_> = self.0.keys().chain(seen.0.keys()).collect();
        for scenario in scenarios {
            let (here, there) =
                (self.0.get(scenario).unwrap_or(&none), seen.0.get(scenario).unwrap_or(&none));
            let checks: std::collections::BTreeSet<_> = here.keys().chain(there.keys()).collect();
            for check in checks {
                let (before, after) = (here.get(check), there.get(check));
                if before.map(|verdict| &verdict.status) != after.map(|verdict| &verdict.status) {
                    lines.push(format!("{scenario} {}: {} became {}", check.0, told(before), told(after)));
                }
            }
        }
        lines
    }
}

fn told(verdict: Option<&Verdict>) -> String {
    verdict.map_or_else(|| "nothing".to_owned(), |Verdict { status, why }| format!("{status} ({why})"))
}

/// The scenario of a folder such as `server-tools-list-2026-11-15T13-36-03-890Z`.
fn scenario(folder: &str) -> &str {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    // Twenty-five characters: a dash and a time.
    name.len().checked_sub(25).and_then(|end| name.get(..end)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(checks: &[(&str, &str)]) -> Verdicts {
        let mut verdicts = Verdicts::default();
        let checks = checks.iter().map(|(id, status)| Check {
            id: (*id).to_owned(),
            status: (*status).to_owned(),
            error_message: None,
        });
        verdicts.add("s", checks.collect());
        verdicts
    }

    #[test]
    fn folders_are_named_after_scenarios() {
        assert_eq!(scenario("server-tools-list-2026-11-15T13-36-03-890Z"), "tools-list");
        assert_eq!(scenario("server-server-stateless-2026-11-15T13-36-03-890Z"), "server-stateless");
    }

    #[test]
    fn a_check_that_turns_comes_or_goes_is_a_difference() {
        let before = verdicts(&[("a", "SUCCESS"), ("b", "FAILURE"), ("b", "SUCCESS")]);
        assert_eq!(before.differences(&before), Vec::<String>::new());
        let turned = verdicts(&[("a", "WARNING"), ("b", "FAILURE"), ("b", "SUCCESS")]);
        assert_eq!(before.differences(&turned), ["s a: SUCCESS () became WARNING ()"]);
        let second = verdicts(&[("a", "SUCCESS"), ("b", "FAILURE"), ("b", "FAILURE")]);
        assert_eq!(before.differences(&second), ["s b: SUCCESS () became FAILURE ()"]);
        assert_eq!(before.differences(&verdicts(&[("a", "SUCCESS")])).len(), 2);
        assert_eq!(before.differences(&Verdicts::default()).len(), 3);
    }

    #[test]
    fn what_fails_is_told() {
        assert_eq!(verdicts(&[("a", "SUCCESS"), ("b", "WARNING")]).failing(), Vec::<&str>::new());
        let failing = verdicts(&[("a", "SUCCESS"), ("b", "FAILURE")]);
        assert_eq!((failing.failing(), failing.failures()), (vec!["s"], "s b: ".to_owned()));
    }
}
