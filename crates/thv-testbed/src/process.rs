//! Programs that live no longer than whoever started them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use tokio::process::{Child, Command};

/// Where a component of a cluster runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// On this machine, and killed by the kernel when the starting thread ends.
    Here,
    /// In the namespaces of the process with this id, and killed with it.
    Inside(u32),
}

impl Place {
    /// A command that runs `program` in this place.
    pub(crate) fn command(self, program: impl AsRef<OsStr>) -> Command {
        let mut command = match self {
            Self::Here => {
                let mut command = Command::new("setpriv");
                command.args(["--pdeathsig", "KILL"]);
                command
            }
            Self::Inside(pid) => {
                let mut command = Command::new("nsenter");
                command.args(["--target", &pid.to_string(), "--net", "--pid", "--mount"]);
                command
            }
        };
        command.arg("--").arg(program).stdin(Stdio::null()).kill_on_drop(true);
        // Ctrl-C is for whoever started it, who then decides in which order things end.
        command.process_group(0);
        command
    }
}

/// A running component that writes a log file.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command`, with its output in `<folder>/<name>.log`.
    pub(crate) fn start(name: &str, mut command: Command, folder: &Path) -> Result<Self> {
        let log = folder.join(format!("{name}.log"));
        let out = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdout(out.try_clone()?).stderr(out);
        let child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        Ok(Self { name: name.to_owned(), child, log })
    }

    /// Fails, with the end of its log, if it is no longer running.
    pub(crate) fn check(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("{} ended ({status}):\n{}", self.name, tail(&self.log));
        }
        Ok(())
    }

    /// Waits until it ends, which a component of a cluster should not, and says so.
    pub(crate) async fn ended(&mut self) -> String {
        let status = self.child.wait().await;
        format!("{} ended ({status:?}):\n{}", self.name, tail(&self.log))
    }

    /// The id of the process.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Kills it and waits until it is gone.
    pub(crate) async fn kill(&mut self) -> Result<()> {
        self.child.kill().await.with_context(|| format!("cannot kill {}", self.name))
    }
}

/// The last lines of a log file, for error messages.
pub(crate) fn tail(log: &Path) -> String {
    let text =
        std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    let start = lines.len().saturating_sub(15);
    let quoted: Vec<_> = lines.iter().skip(start).map(|line| format!("  | {line}")).collect();
    quoted.join("\n")
}

/// Runs a short command to its end; the error carries what it printed.
pub(crate) async fn run(mut command: Command) -> Result<String> {
    let output = command.output().await.with_context(|| format!("cannot run {:?}", command.as_std()))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        bail!("{:?} failed ({}): {}", command.as_std(), output.status, printed.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A loopback port that nothing listens on.
///
/// It lies below the range from which the kernel takes the ports of outgoing connections, so that none of
/// those can take it between now and the moment when a server binds it. Nobody else in this process gets it either.
pub fn free_port() -> Result<u16> {
    const FIRST: u16 = 20_000;
    const COUNT: u16 = 12_000;
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    for _ in 0..1_000 {
        let mut random = [0; 2];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let port = FIRST + u16::from_ne_bytes(random) % COUNT;
        let is_new = GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(port);
        if is_new && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no free port between {FIRST} and {}", FIRST + COUNT)
}
