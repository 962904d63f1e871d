//! A program under test: started, paused, killed and started again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::process::Child;

use crate::process::Place;
use crate::wait::DEADLINE;

/// How to start a program under test.
#[derive(Clone, Debug)]
pub struct SubjectBuilder {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: BTreeMap<String, OsString>,
    files: BTreeMap<String, Vec<u8>>,
}

/// A program under test. Dropping it kills it.
pub struct Subject {
    builder: SubjectBuilder,
    child: Child,
    starts: usize,
    folder: TempDir,
}

impl SubjectBuilder {
    /// The program at this path.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// More arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// An environment variable. It gets these, a `PATH`, a `HOME` of its own, and nothing else of ours.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// A file in the folder that it starts in, which is its own.
    #[must_use]
    pub fn file(mut self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(name.to_owned(), content.into());
        self
    }

    /// Starts it.
    pub fn start(self) -> Result<Subject> {
        let folder = tempfile::tempdir()?;
        for (name, content) in &self.files {
            std::fs::write(folder.path().join(name), content)?;
        }
        let child = self.spawn(&log(folder.path(), 1))?;
        Ok(Subject { builder: self, child, starts: 1, folder })
    }

    fn spawn(&self, log: &Path) -> Result<Child> {
        let out = File::create(log)?;
        let mut command = Place::Here.command(&self.program);
        command.args(&self.arguments).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // What a program keeps for itself, such as a cache, goes with the test.
        let folder = log.parent().unwrap_or(Path::new("/"));
        command.env("HOME", folder).current_dir(folder);
        command.envs(&self.environment).stdout(out.try_clone()?).stderr(out);
        command.spawn().with_context(|| format!("cannot start {}", self.program.display()))
    }
}

impl Subject {
    /// The folder that it started in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// SIGKILL: it is gone when this returns, with no chance to do anything more.
    pub async fn kill(&mut self) -> Result<()> {
        self.child.kill().await.context("cannot kill the program under test")
    }

    /// SIGSTOP: it makes no step until [`Subject::resume`].
    pub fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// SIGCONT.
    pub fn resume(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// SIGTERM: it is asked to end.
    pub fn terminate(&self) -> Result<()> {
        self.signal(Signal::TERM)
    }

    /// Starts it again, after killing it if it still runs.
    pub async fn restart(&mut self) -> Result<()> {
        if self.is_running()? {
            self.kill().await?;
        }
        self.starts += 1;
        self.child = self.builder.spawn(&log(self.folder.path(), self.starts))?;
        Ok(())
    }

    /// Waits until it ends by itself.
    pub async fn exit(&mut self) -> Result<ExitStatus> {
        match tokio::time::timeout(DEADLINE, self.child.wait()).await {
            Ok(status) => status.context("cannot wait for the program under test"),
            Err(_) => bail!(
                "the program under test has not ended after {} s; it wrote:\n{}",
                DEADLINE.as_secs(),
                self.output()
            ),
        }
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// The id of its process.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// What it has written since it was last started, on both of its outputs.
    pub fn output(&self) -> String {
        let bytes = std::fs::read(log(self.folder.path(), self.starts)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = self.child.id().context("the program under test has ended")?;
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).context("not a process id")?;
        kill_process(pid, signal).with_context(|| format!("cannot send {signal:?}"))
    }
}

fn log(folder: &Path, start: usize) -> PathBuf {
    folder.join(format!("output-{start}"))
}

/// A program of this workspace, as `cargo xtask test` has built it.
pub fn built_program(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    // Tests are in `deps`, the programs one folder up.
    let folder = test.ancestors().nth(2).context("the test has no folder")?;
    let path = folder.join(name);
    if !path.is_file() {
        bail!(
            "{name} is not built: run the test with `cargo xtask test`, or `cargo build --workspace` before it"
        );
    }
    Ok(path)
}
