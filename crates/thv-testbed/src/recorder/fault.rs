//! Ways for a request to go wrong, chosen by a test.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::exchange::Exchange;
use super::pattern::Pattern;

/// What happens to a request instead of what should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The API server never sees it; the client is told this status.
    Answer(u16),
    /// The API server carries it out; the client is told this status.
    CommitThenAnswer(u16),
    /// The API server carries it out; the client's connection is closed with no answer.
    CommitThenCut,
    /// The API server never sees it; the client's connection is closed with no answer.
    Cut,
}

/// When a [`Breakpoint`] holds a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the API server sees it.
    Before,
    /// After the API server has carried it out, before the client learns.
    AfterCommit,
}

/// A fault and how often it strikes.
pub(super) struct FaultRule {
    pub(super) pattern: Pattern,
    pub(super) fault: Fault,
    pub(super) left: AtomicUsize,
}

impl FaultRule {
    /// Takes one of the strikes that are left, if this request is meant.
    pub(super) fn strike(&self, exchange: &Exchange) -> Option<Fault> {
        let taken = self.pattern.matches(exchange)
            && self
                .left
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1))
                .is_ok();
        taken.then_some(self.fault)
    }
}

/// A place in the traffic where a request stops until the test says how it goes on.
///
/// While it is held, the test can pause, kill or restart the program that sent it, or change the cluster
/// behind its back. A breakpoint that is dropped lets nothing through: the request ends there.
#[derive(Debug)]
pub struct Breakpoint {
    arrived: oneshot::Receiver<Exchange>,
    resume: Option<oneshot::Sender<()>>,
}

/// The other end of a [`Breakpoint`].
pub(super) struct BreakpointRule {
    pattern: Pattern,
    pub(super) moment: Moment,
    /// How many requests still pass before the one that is held.
    before: AtomicUsize,
    ends: Mutex<Option<(oneshot::Sender<Exchange>, oneshot::Receiver<()>)>>,
}

impl BreakpointRule {
    pub(super) fn new(pattern: Pattern, before: usize, moment: Moment) -> (Self, Breakpoint) {
        let (arrive, arrived) = oneshot::channel();
        let (resume, resumed) = oneshot::channel();
        let ends = Mutex::new(Some((arrive, resumed)));
        let rule = Self { pattern, moment, before: AtomicUsize::new(before), ends };
        (rule, Breakpoint { arrived, resume: Some(resume) })
    }

    /// Whether it is this request's turn to be held at `moment`.
    pub(super) fn take(&self, exchange: &Exchange, moment: Moment) -> Option<Hold> {
        if self.moment != moment || !self.pattern.matches(exchange) {
            return None;
        }
        let skipped =
            self.before.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        if skipped.is_ok() {
            return None;
        }
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Hold { ends })
    }
}

/// A request that is about to be held.
pub(super) struct Hold {
    ends: (oneshot::Sender<Exchange>, oneshot::Receiver<()>),
}

impl Hold {
    /// Tells the test, and waits for its decision: whether the request goes on.
    pub(super) async fn wait(self, exchange: &Exchange) -> bool {
        let (arrive, resumed) = self.ends;
        arrive.send(exchange.clone()).is_ok() && resumed.await.is_ok()
    }
}

impl Breakpoint {
    /// Waits until a request is held, and returns it.
    pub async fn hit(&mut self) -> Result<Exchange> {
        let arrived = tokio::time::timeout(crate::wait::DEADLINE, &mut self.arrived);
        let exchange = arrived.await.context("no request reached the breakpoint")?;
        exchange.context("the recorder has stopped")
    }

    /// Lets the request go on as if nothing had been.
    pub fn release(mut self) {
        if let Some(resume) = self.resume.take() {
            // Nobody is there to hear it when the request was never held, or its client has gone away.
            let _ = resume.send(());
        }
    }
}

type EventFilter = dyn Fn(&Value) -> bool + Send + Sync;

/// Control over the events of some watches.
#[derive(Clone)]
pub struct WatchGate(Arc<GateState>);

struct GateState {
    pattern: Pattern,
    /// Events wait while this is true.
    held: watch::Sender<bool>,
    /// How many watches have an event that waits.
    waiting: watch::Sender<usize>,
    /// Watches end when this moves.
    cuts: watch::Sender<Cuts>,
    loses: Mutex<Option<Box<EventFilter>>>,
    lost: AtomicUsize,
}

/// How often watches were ended, and how the last time.
#[derive(Clone, Copy, Default)]
pub(super) struct Cuts {
    count: usize,
    /// Whether watches are told at their end that they cannot go on from where they were.
    pub(super) is_expiry: bool,
}

impl fmt::Debug for WatchGate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("WatchGate").field("pattern", &self.0.pattern).finish_non_exhaustive()
    }
}

impl WatchGate {
    pub(super) fn new(pattern: Pattern) -> Self {
        let (held, waiting) = (watch::Sender::new(false), watch::Sender::new(0));
        let cuts = watch::Sender::new(Cuts::default());
        let state =
            GateState { pattern, held, waiting, cuts, loses: Mutex::new(None), lost: AtomicUsize::new(0) };
        Self(Arc::new(state))
    }

    /// From now on, events wait.
    pub fn hold(&self) {
        self.0.held.send_replace(true);
    }

    /// Waits until an event is being held.
    pub async fn holds_one(&self) -> Result<()> {
        let mut waiting = self.0.waiting.subscribe();
        let held = tokio::time::timeout(crate::wait::DEADLINE, waiting.wait_for(|count| *count > 0));
        held.await.context("no event came to be held")?.map(drop).context("the recorder has stopped")
    }

    /// Events that waited arrive, in their order, and later ones no longer wait.
    pub fn release(&self) {
        self.0.held.send_replace(false);
    }

    /// Ends the watches that are under way, as an API server does that is being restarted.
    pub fn cut(&self) {
        self.end(false);
    }

    /// Ends the watches that are under way with a 410, as an API server does that has forgotten where they were. Events
    /// that are held are lost, and the client has to list everything anew.
    pub fn expire(&self) {
        self.end(true);
    }

    fn end(&self, is_expiry: bool) {
        self.0.cuts.send_modify(|cuts| *cuts = Cuts { count: cuts.count + 1, is_expiry });
    }

    /// From now on, events that `which` says yes to never arrive.
    pub fn lose(&self, which: impl Fn(&Value) -> bool + Send + Sync + 'static) {
        *self.0.loses.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(which));
    }

    /// How many events have been lost so far.
    pub fn lost(&self) -> usize {
        self.0.lost.load(Ordering::Acquire)
    }

    pub(super) fn matches(&self, exchange: &Exchange) -> bool {
        self.0.pattern.matches(exchange)
    }

    pub(super) fn cuts(&self) -> watch::Receiver<Cuts> {
        self.0.cuts.subscribe()
    }

    /// Waits while events are held; then whether this one arrives.
    pub(super) async fn passes(&self, event: &[u8]) -> bool {
        self.0.waiting.send_modify(|count| *count += 1);
        let mut held = self.0.held.subscribe();
        // The sender is in `self`, so that the wait cannot end in an error.
        let _ = held.wait_for(|held| !held).await;
        self.0.waiting.send_modify(|count| *count -= 1);
        let loses = self.0.loses.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = match (loses.as_ref(), serde_json::from_slice(event)) {
            (Some(which), Ok(event)) => which(&event),
            _ => false,
        };
        if lost {
            self.0.lost.fetch_add(1, Ordering::AcqRel);
        }
        !lost
    }
}

/// Lists that were answered once and can be answered again, as an API server does that lags behind.
#[derive(Clone, Debug)]
pub struct StaleLists(Arc<StaleState>);

#[derive(Debug)]
struct StaleState {
    pattern: Pattern,
    serving: AtomicBool,
    remembered: Mutex<BTreeMap<String, Bytes>>,
}

impl StaleLists {
    pub(super) fn new(pattern: Pattern) -> Self {
        let remembered = Mutex::new(BTreeMap::new());
        Self(Arc::new(StaleState { pattern, serving: AtomicBool::new(false), remembered }))
    }

    /// From now on, a list that was answered before is answered the same way again.
    pub fn serve(&self) {
        self.0.serving.store(true, Ordering::Release);
    }

    /// From now on, lists are answered by the API server.
    pub fn stop(&self) {
        self.0.serving.store(false, Ordering::Release);
    }

    pub(super) fn remembered(&self, exchange: &Exchange) -> Option<Bytes> {
        if !self.0.serving.load(Ordering::Acquire) || !self.0.pattern.matches(exchange) {
            return None;
        }
        self.0.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&key(exchange)).cloned()
    }

    pub(super) fn remember(&self, exchange: &Exchange, body: &Bytes) {
        if !self.0.serving.load(Ordering::Acquire) && self.0.pattern.matches(exchange) {
            let mut remembered = self.0.remembered.lock().unwrap_or_else(PoisonError::into_inner);
            remembered.insert(key(exchange), body.clone());
        }
    }
}

/// What makes two lists the same question.
fn key(exchange: &Exchange) -> String {
    let part = |name| exchange.query.get(name).map(String::as_str).unwrap_or_default();
    [exchange.path.as_str(), part("labelSelector"), part("fieldSelector"), part("continue")].join("\n")
}

/// How long the API server may take to answer a request that is not a stream.
pub(super) const ANSWER: Duration = Duration::from_mins(1);
