//! Building and running test programs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::results::Outcome;
use crate::shell::{cargo, run as run_command};

/// A compiled test program.
pub(crate) struct Suite {
    /// The package it belongs to.
    pub(crate) package: String,
    /// The name of the library, program or test in that package.
    target: String,
    executable: PathBuf,
    /// Where its source expects to run.
    folder: PathBuf,
}

/// How the tests of a program ended.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) tests: Vec<(String, Outcome)>,
    /// What went wrong beyond single tests.
    pub(crate) failure: Option<String>,
}

/// The messages of cargo that matter here.
#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Compiles every program and every test of the workspace.
pub(crate) fn build() -> Result<Vec<Suite>> {
    run_command(cargo().args(["build", "--workspace", "--bins", "--quiet"]))?;
    let mut command = cargo();
    command.args([
        "test",
        "--workspace",
        "--no-run",
        "--quiet",
        "--message-format",
        "json-render-diagnostics",
    ]);
    let output = command.stderr(Stdio::inherit()).output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("the tests do not compile");
    }
    let mut suites = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Message = serde_json::from_str(line).context("cargo sent something unexpected")?;
        let (Some(executable), Some(manifest), Some(target)) =
            (message.executable, message.manifest_path, message.target)
        else {
            continue;
        };
        if message.reason != "compiler-artifact" || !message.profile.is_some_and(|profile| profile.test) {
            continue;
        }
        let folder = manifest.parent().context("a manifest has no folder")?.to_owned();
        let package = package_of(&folder);
        suites.push(Suite { package, target: target.name, executable, folder });
    }
    suites.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
    Ok(suites)
}

/// A folder below `tests` holds the package `tests-<folder>`; all others have the name of their folder.
fn package_of(folder: &Path) -> String {
    let name = |path: Option<&Path>| {
        path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let (own, parent) = (name(Some(folder)), name(folder.parent()));
    if parent == "tests" { format!("tests-{own}") } else { own }
}

impl Suite {
    /// The name under which results are kept.
    pub(crate) fn name(&self) -> String {
        if self.package.replace('-', "_") == self.target.replace('-', "_") {
            self.package.clone()
        } else {
            format!("{}/{}", self.package, self.target)
        }
    }

    /// Runs the tests whose names contain one of `filters`, or all, with options of the test program, and shows what they
    /// print.
    pub(crate) async fn run(
        &self,
        filters: &[String],
        options: &[&str],
        environment: &[(String, String)],
        tests_at_once: usize,
        limit: Duration,
    ) -> Result<Report> {
        let mut command = tokio::process::Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(&self.executable).args(filters).args(options);
        command.arg(format!("--test-threads={tests_at_once}"));
        command.current_dir(&self.folder).envs(environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child =
            command.spawn().with_context(|| format!("cannot run {}", self.executable.display()))?;
        let mut lines = BufReader::new(child.stdout.take().context("a test has no output")?).lines();

        let mut report = Report::default();
        let reading = async {
            while let Some(line) = lines.next_line().await? {
                println!("{line}");
                report.tests.extend(read_line(&line));
            }
            child.wait().await
        };
        match tokio::time::timeout(limit, reading).await {
            Ok(status) => {
                let status = status?;
                let failed = report.tests.iter().any(|(_, outcome)| *outcome == Outcome::Failed);
                if !status.success() && !failed {
                    report.failure = Some(format!("{} ended with {status}", self.name()));
                }
            }
            Err(_) => report.failure = Some(format!("{} took more than {} s", self.name(), limit.as_secs())),
        }
        std::io::stdout().flush()?;
        Ok(report)
    }
}

/// Reads a line such as `test wait::tests::gives_up ... ok`.
fn read_line(line: &str) -> Option<(String, Outcome)> {
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let outcome = match outcome.split(',').next()?.trim() {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        "ignored" => Outcome::Ignored,
        _ => return None,
    };
    Some((name.trim_end_matches(" - should panic").to_owned(), outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_test_program_are_read() {
        let passed = |name: &str| Some((name.to_owned(), Outcome::Passed));
        assert_eq!(read_line("test a::b ... ok"), passed("a::b"));
        assert_eq!(read_line("test a::b - should panic ... ok"), passed("a::b"));
        assert_eq!(read_line("test a ... FAILED"), Some(("a".to_owned(), Outcome::Failed)));
        assert_eq!(read_line("test a ... ignored, slow"), Some(("a".to_owned(), Outcome::Ignored)));
        assert_eq!(read_line("test result: ok. 1 passed; 0 failed"), None);
        assert_eq!(read_line("running 3 tests"), None);
    }

    #[test]
    fn packages_are_named_after_folders() {
        assert_eq!(package_of(Path::new("/x/crates/thv-api")), "thv-api");
        assert_eq!(package_of(Path::new("/x/tests/api")), "tests-api");
    }
}
