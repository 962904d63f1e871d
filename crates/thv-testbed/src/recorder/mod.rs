//! An endpoint between a program under test and the API server, which records and disturbs.
//!
//! The program gets a [kubeconfig](Recorder::kubeconfig_for) that points here. It speaks TLS with a certificate
//! of the cluster's CA, so that a pod can use it as well, and passes the program's own credentials on: what the
//! program may do is decided by the API server, as always.

mod exchange;
mod fault;
mod log;
mod pattern;
mod proxy;
mod stream;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::fault::{BreakpointRule, FaultRule};
use crate::Bed;
use crate::control_plane::{client_for, kubeconfig_for};
use crate::pki;

pub use self::exchange::{Exchange, Verb};
pub use self::fault::{Breakpoint, Fault, Moment, StaleLists, WatchGate};
pub use self::log::{Mark, RequestLog};
pub use self::pattern::Pattern;

/// A running endpoint. It stops when dropped.
pub struct Recorder {
    state: Arc<State>,
    address: SocketAddr,
    bed: Bed,
    folder: TempDir,
    server: JoinHandle<()>,
}

/// What the endpoint knows, shared with the requests that are under way.
struct State {
    upstream: kube::Client,
    log: Mutex<Vec<Exchange>>,
    /// Moves with every change of the log.
    changes: watch::Sender<usize>,
    rules: Mutex<Rules>,
}

#[derive(Default)]
struct Rules {
    faults: Vec<FaultRule>,
    breakpoints: Vec<BreakpointRule>,
    gates: Vec<WatchGate>,
    stale: Vec<StaleLists>,
}

impl Recorder {
    /// Starts an endpoint in front of the API server of `bed`.
    pub async fn start(bed: &Bed) -> Result<Self> {
        let description = bed.description();
        let listener = TcpListener::bind((description.host, 0)).await.context("cannot listen")?;
        let address = listener.local_addr()?;
        let acceptor = proxy::acceptor(&description.recorder_certificate, &description.recorder_key)?;
        let state = Arc::new(State {
            upstream: proxy::upstream(&description.server, &description.ca)?,
            log: Mutex::default(),
            changes: watch::Sender::new(0),
            rules: Mutex::default(),
        });
        let server = tokio::spawn(proxy::serve(listener, acceptor, state.clone()));
        Ok(Self { state, address, bed: bed.clone(), folder: tempfile::tempdir()?, server })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A kubeconfig for a program that has `token`.
    pub fn kubeconfig_for(&self, token: &str) -> Result<PathBuf> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let file = self.folder.path().join(format!("kubeconfig-{number}"));
        let server = format!("https://{}", self.address);
        pki::write(&file, &kubeconfig_for(&server, &self.bed.description().ca, token)?)?;
        Ok(file)
    }

    /// A kubeconfig for a program that may do everything.
    pub fn admin_kubeconfig(&self) -> Result<PathBuf> {
        self.kubeconfig_for(&self.bed.admin_token()?)
    }

    /// A client that may do everything, and whose requests are in the log.
    pub async fn admin_client(&self) -> Result<kube::Client> {
        client_for(&self.admin_kubeconfig()?).await
    }

    /// The log so far.
    pub fn log(&self) -> RequestLog {
        self.since(Mark(0))
    }

    /// This moment.
    pub fn mark(&self) -> Mark {
        Mark(self.state.log().len())
    }

    /// The log from `mark` on.
    pub fn since(&self, mark: Mark) -> RequestLog {
        RequestLog(self.state.log().iter().skip(mark.0).cloned().collect())
    }

    /// Waits until a request that `pattern` means has come in after `mark` and been answered.
    pub async fn seen(&self, mark: Mark, pattern: &Pattern) -> Result<Exchange> {
        let answered = |log: &RequestLog| log.iter().find(|exchange| exchange.told.is_some()).cloned();
        self.until(mark, pattern, answered).await
    }

    /// Waits until `find` finds what it looks for among the requests that `pattern` means and that came in after `mark`.
    pub async fn until<T>(
        &self,
        mark: Mark,
        pattern: &Pattern,
        mut find: impl FnMut(&RequestLog) -> Option<T>,
    ) -> Result<T> {
        let mut changes = self.state.changes.subscribe();
        let search = async {
            loop {
                changes.mark_unchanged();
                if let Some(found) = find(&self.since(mark).only(pattern)) {
                    return found;
                }
                // The sender is in `self`, so that this cannot end in an error.
                let _ = changes.changed().await;
            }
        };
        let found = tokio::time::timeout(crate::wait::DEADLINE, search).await;
        found.with_context(|| format!("no such request: {pattern:?}; there were:\n{}", self.since(mark)))
    }

    /// From now on, the next `times` requests that `pattern` means go wrong.
    pub fn fail(&self, pattern: Pattern, times: usize, fault: Fault) {
        self.state.rules().faults.push(FaultRule { pattern, fault, left: AtomicUsize::new(times) });
    }

    /// Takes back every fault that has not struck yet.
    pub fn heal(&self) {
        self.state.rules().faults.clear();
    }

    /// Holds the next request that `pattern` means, after letting `before` of them pass.
    pub fn breakpoint(&self, pattern: Pattern, before: usize, moment: Moment) -> Breakpoint {
        let (rule, breakpoint) = BreakpointRule::new(pattern, before, moment);
        self.state.rules().breakpoints.push(rule);
        breakpoint
    }

    /// Takes control of the events of watches that `pattern` means.
    pub fn gate(&self, pattern: Pattern) -> WatchGate {
        let gate = WatchGate::new(pattern);
        self.state.rules().gates.push(gate.clone());
        gate
    }

    /// Remembers the answers to lists that `pattern` means, from now on.
    pub fn stale_lists(&self, pattern: Pattern) -> StaleLists {
        let stale = StaleLists::new(pattern);
        self.state.rules().stale.push(stale.clone());
        stale
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl State {
    fn log(&self) -> std::sync::MutexGuard<'_, Vec<Exchange>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rules(&self) -> std::sync::MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request into the log and gives it its number.
    fn record(&self, exchange: &mut Exchange) {
        let mut log = self.log();
        exchange.number = log.len();
        log.push(exchange.clone());
        drop(log);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Writes down how a recorded request went on.
    fn update(&self, exchange: &Exchange) {
        if let Some(entry) = self.log().get_mut(exchange.number) {
            entry.clone_from(exchange);
        }
        self.changes.send_modify(|count| *count += 1);
    }
}
