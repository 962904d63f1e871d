//! What a target holds on to: memory and files, with sessions, with streams, and after both.

use std::time::Duration;

use anyhow::Result;
use futures::{StreamExt, TryStreamExt, stream};
use http::HeaderValue;
use thv_testbed::mcp::{self, Client, Listening, leave_sessions};
use thv_testbed::usage::{self, Memory};

use super::place::Target;

/// As many connections make and use sessions.
const AT_ONCE: usize = 8;
/// As many streams are opened at a time.
const OPENED_AT_ONCE: usize = 64;
/// How long a target may take until it has closed what its clients have closed.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a target holds at one moment.
#[derive(Clone, Copy)]
pub(super) struct Residence {
    /// MiB.
    pub(super) memory: f64,
    /// MiB of that which are in no file.
    pub(super) own: f64,
    pub(super) files: usize,
}

impl Residence {
    #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 KiB")]
    pub(super) fn of(id: u32) -> Result<Self> {
        let Memory { resident, anonymous, peak: _ } = usage::memory(id)?;
        let mebibytes = |kibibytes: u64| kibibytes as f64 / 1024.0;
        Ok(Self { memory: mebibytes(resident), own: mebibytes(anonymous), files: usage::files(id)? })
    }
}

/// Begins so many sessions, uses each once, and closes the connections.
pub(super) async fn sessions(target: &Target, count: usize) -> Result<Vec<HeaderValue>> {
    leave_sessions(&target.url, count, AT_ONCE).await
}

/// What streams cost.
pub(super) struct Streams {
    /// MiB, while they are open.
    pub(super) memory: f64,
    /// kB for one.
    pub(super) each: f64,
    /// How many files are open that were not before, when all are closed again.
    pub(super) more_files: f64,
}

/// Opens so many streams, each of a session and on a connection of its own, and lets them be. Some come and go before
/// that, so that what is counted is streams, and not the code for them.
#[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 streams")]
pub(super) async fn streams(target: &Target, count: usize) -> Result<Streams> {
    let idle = usage::files(target.id)?;
    let first = open(target, sessions(target, OPENED_AT_ONCE).await?).await?;
    drop(first);
    let sessions = sessions(target, count).await?;
    let files_before = usage::files_at_most(target.id, idle + AT_ONCE, PATIENCE).await?;
    let before = Residence::of(target.id)?;
    let opened = open(target, sessions).await?;
    let full = Residence::of(target.id)?;
    drop(opened);
    let files_after = usage::files_at_most(target.id, files_before, PATIENCE).await?;
    Ok(Streams {
        memory: full.memory,
        each: (full.memory - before.memory) * 1024.0 * 1.024 / count as f64,
        more_files: files_after.saturating_sub(files_before) as f64,
    })
}

/// Opens a stream for each of these sessions.
async fn open(target: &Target, sessions: Vec<HeaderValue>) -> Result<Vec<Listening>> {
    let opened = stream::iter(sessions).map(|session| async move {
        let mut client = Client::connect(&target.url).await?;
        client.resume(session);
        client.listen().await
    });
    opened.buffer_unordered(OPENED_AT_ONCE).try_collect().await
}

/// What sessions leave behind.
pub(super) struct Churn {
    pub(super) before: Residence,
    pub(super) after: Residence,
}

impl Churn {
    /// How many files are open that were not before. Connections to the server may stay open for the next requests:
    /// as many as there were at once.
    #[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 files open")]
    pub(super) fn more_files(&self) -> f64 {
        self.after.files.saturating_sub(self.before.files + AT_ONCE) as f64
    }
}

/// Makes, uses and deletes sessions: some to warm up, and then those that count.
pub(super) async fn churn(target: &Target, warm_up: usize, count: usize) -> Result<Churn> {
    let idle = usage::files(target.id)?;
    let round = async |sessions: usize| {
        mcp::churn(&target.url, sessions, AT_ONCE).await?;
        usage::files_at_most(target.id, idle + AT_ONCE, PATIENCE).await?;
        Residence::of(target.id)
    };
    Ok(Churn { before: round(warm_up).await?, after: round(count).await? })
}
