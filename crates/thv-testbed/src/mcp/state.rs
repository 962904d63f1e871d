//! What the server knows, counts and is told to do wrong.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::options::Options;
use super::session::Session;

/// How a request goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection ends when the request has been read.
    CutBefore,
    /// The request is carried out, and the connection ends in the middle of the answer.
    CutWithin,
    /// Nothing is done, and this is the answer.
    Status(StatusCode),
}

/// What the server has counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that were accepted.
    pub connections: u64,
    /// Those that are open.
    pub open_connections: u64,
    /// Sessions that were made.
    pub sessions_made: u64,
    /// Sessions that were deleted by their clients.
    pub sessions_deleted: u64,
    /// Sessions that there are.
    pub sessions: u64,
    /// Streams of events that are open: those that a client has asked for with GET, and subscriptions.
    pub open_streams: u64,
    /// Calls that are being worked on.
    pub running: u64,
    /// Calls whose client went away before the answer.
    pub abandoned: u64,
    /// How often each JSON-RPC method was received; GET and DELETE under their verbs, and answers as `response`.
    pub requests: BTreeMap<String, u64>,
}

impl Counts {
    /// How often this method was received.
    pub fn of(&self, method: &str) -> u64 {
        self.requests.get(method).copied().unwrap_or_default()
    }
}

/// A request that came in.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The verb of HTTP.
    pub verb: Method,
    /// The path with the query.
    pub path: String,
    /// All headers.
    pub headers: HeaderMap,
    /// The method of JSON-RPC, if it was such a request or notification.
    pub method: Option<String>,
    /// The body.
    pub body: Bytes,
}

/// What tests have asked for.
pub(super) struct Controls {
    pub(super) lost: StatusCode,
    pub(super) refuses_delete: bool,
    pub(super) delay: Duration,
    /// A method, what happens to it, and how many times more.
    pub(super) faults: Vec<(String, Fault, usize)>,
}

/// Everything, shared by the connections.
pub(super) struct State {
    pub(super) options: Options,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    counts: Mutex<Counts>,
    controls: Mutex<Controls>,
    seen: Mutex<Vec<Seen>>,
    /// The ids of subscriptions of the Modern era, with their streams.
    subscribers: Mutex<Vec<(Value, mpsc::Sender<Bytes>)>>,
    /// Moves with every change of the counts.
    changes: watch::Sender<()>,
    /// Moves when all connections are to end.
    closing: watch::Sender<()>,
}

impl State {
    pub(super) fn new(options: Options) -> Self {
        let controls = Controls {
            lost: StatusCode::NOT_FOUND,
            refuses_delete: false,
            delay: Duration::ZERO,
            faults: Vec::new(),
        };
        Self {
            options,
            sessions: Mutex::default(),
            counts: Mutex::default(),
            controls: Mutex::new(controls),
            seen: Mutex::default(),
            subscribers: Mutex::default(),
            changes: watch::Sender::new(()),
            closing: watch::Sender::new(()),
        }
    }

    pub(super) fn controls(&self) -> MutexGuard<'_, Controls> {
        lock(&self.controls)
    }

    pub(super) fn counts(&self) -> Counts {
        let sessions = lock(&self.sessions).len() as u64;
        Counts { sessions, ..lock(&self.counts).clone() }
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut lock(&self.counts));
        self.changes.send_replace(());
    }

    /// Takes a request into the counts, and into the log if there is one.
    pub(super) fn receive(&self, method: &str, seen: impl FnOnce() -> Seen) {
        if self.options.record {
            lock(&self.seen).push(seen());
        }
        self.count(|counts| match counts.requests.get_mut(method) {
            Some(count) => *count += 1,
            None => drop(counts.requests.insert(method.to_owned(), 1)),
        });
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        lock(&self.seen).clone()
    }

    /// What is to go wrong with a request of this method.
    pub(super) fn strike(&self, method: &str) -> Option<Fault> {
        let mut controls = self.controls();
        let (_, fault, left) =
            controls.faults.iter_mut().find(|(name, _, left)| name == method && *left > 0)?;
        *left -= 1;
        Some(*fault)
    }

    pub(super) fn closing(&self) -> watch::Receiver<()> {
        self.closing.subscribe()
    }

    pub(super) fn close_connections(&self) {
        self.closing.send_replace(());
    }

    pub(super) fn make_session(&self) -> Arc<Session> {
        let session = Arc::new(Session::new(uuid::Uuid::new_v4().to_string()));
        lock(&self.sessions).insert(session.id().to_owned(), session.clone());
        self.count(|counts| counts.sessions_made += 1);
        session
    }

    pub(super) fn session(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.sessions).get(id).cloned()
    }

    /// Whether there was such a session.
    pub(super) fn remove_session(&self, id: &str) -> bool {
        let removed = lock(&self.sessions).remove(id);
        self.changes.send_replace(());
        removed.is_some()
    }

    /// A new subscription.
    pub(super) fn subscribe(&self, id: &Value) -> mpsc::Receiver<Bytes> {
        /// How far a subscriber may be behind.
        const BEHIND: usize = 1_024;
        let (sender, receiver) = mpsc::channel(BEHIND);
        let mut subscribers = lock(&self.subscribers);
        subscribers.retain(|(_, stream)| !stream.is_closed());
        subscribers.push((id.clone(), sender));
        receiver
    }

    /// Does something for each subscription.
    pub(super) fn subscribers(&self, tell: impl Fn(&Value, &mpsc::Sender<Bytes>)) {
        lock(&self.subscribers).iter().for_each(|(id, stream)| tell(id, stream));
    }

    pub(super) fn forget_sessions(&self) {
        let forgotten = std::mem::take(&mut *lock(&self.sessions));
        for session in forgotten.values() {
            session.end();
        }
        self.changes.send_replace(());
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
