//! What this replica may use without asking Redis.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::error::Unavailable;
use crate::key::Key;
use crate::record::Record;
use crate::table::Table;

/// What reading a record came to.
pub(crate) type Found = Result<Option<Arc<Record>>, Unavailable>;

/// Records that were read or written a short while ago.
///
/// Whoever asks Redis holds a *claim* on the key meanwhile, and only the newest claim may lay down what it learned:
/// an answer that was on its way while another request wrote is old news.
#[derive(Debug)]
pub(crate) struct Leases {
    length: Duration,
    /// How many bytes the records may take together. What does not fit is read each time.
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    leases: Table<Lease>,
    /// Of all leases.
    weight: usize,
    claims: Table<Claimed>,
    last_claim: u64,
}

#[derive(Debug)]
struct Lease {
    record: Arc<Record>,
    until: Instant,
}

#[derive(Debug)]
struct Claimed {
    number: u64,
    /// Where readers wait for each other; writers do not.
    reading: Option<Arc<OnceCell<Found>>>,
}

impl Leases {
    pub(crate) fn new(length: Duration, limit: usize) -> Self {
        Self { length, limit, state: Mutex::default() }
    }

    /// The record, if it was read or written within the length of a lease.
    pub(crate) fn fresh(&self, key: Key) -> Option<Arc<Record>> {
        let state = self.state();
        let lease = state.leases.get(&key)?;
        (Instant::now() < lease.until).then(|| lease.record.clone())
    }

    /// To read a record, together with everybody who wants to read it at the same time.
    pub(crate) fn join(&self, key: Key) -> Reading<'_> {
        let mut state = self.state();
        if let Some(Claimed { number, reading: Some(cell) }) = state.claims.get(&key) {
            return Reading { leases: self, key, number: *number, cell: cell.clone() };
        }
        self.begin(&mut state, key)
    }

    /// To read a record now, whoever else is reading.
    pub(crate) fn read(&self, key: Key) -> Reading<'_> {
        self.begin(&mut self.state(), key)
    }

    /// To write a record. From now on, and until that is done, there is no lease of this from before.
    pub(crate) fn write(&self, key: Key) -> Writing<'_> {
        let mut state = self.state();
        state.release(&key);
        let number = state.claim(key, None);
        Writing { leases: self, key, number, done: false }
    }

    /// Forgets leases that have run out.
    pub(crate) fn sweep(&self) {
        let (mut state, now) = (self.state(), Instant::now());
        let mut weight = 0;
        state.leases.retain(|_, lease| {
            let keep = now < lease.until;
            weight += if keep { lease.record.weight() } else { 0 };
            keep
        });
        state.weight = weight;
    }

    pub(crate) fn len(&self) -> usize {
        self.state().leases.len()
    }

    fn begin(&self, state: &mut State, key: Key) -> Reading<'_> {
        let cell = Arc::new(OnceCell::new());
        let number = state.claim(key, Some(cell.clone()));
        Reading { leases: self, key, number, cell }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn claim(&mut self, key: Key, reading: Option<Arc<OnceCell<Found>>>) -> u64 {
        self.last_claim += 1;
        self.claims.insert(key, Claimed { number: self.last_claim, reading });
        self.last_claim
    }

    fn holds(&self, key: &Key, number: u64) -> bool {
        self.claims.get(key).is_some_and(|claimed| claimed.number == number)
    }

    fn release(&mut self, key: &Key) {
        if let Some(lease) = self.leases.remove(key) {
            self.weight = self.weight.saturating_sub(lease.record.weight());
        }
    }

    /// What was read, or is being read, may be from before a write.
    fn forget(&mut self, key: &Key) {
        self.release(key);
        self.claims.remove(key);
    }

    fn lay_down(&mut self, record: Arc<Record>, until: Instant, limit: usize) {
        let (key, weight) = (record.key, record.weight());
        if self.weight + weight <= limit {
            self.weight += weight;
            self.leases.insert(key, Lease { record, until });
        }
    }
}

/// One of those who wait for one answer.
pub(crate) struct Reading<'a> {
    leases: &'a Leases,
    key: Key,
    number: u64,
    cell: Arc<OnceCell<Found>>,
}

impl Reading<'_> {
    /// One of those who wait asks. If that one gives up, so that its future is dropped, another asks.
    pub(crate) async fn through(self, ask: impl Future<Output = Found>) -> Found {
        let ask = async {
            // The time to live in Redis starts when it answers, and so not before this.
            let sent = Instant::now();
            let found = ask.await;
            self.lay_down(sent, &found);
            found
        };
        self.cell.get_or_init(|| ask).await.clone()
    }

    fn lay_down(&self, sent: Instant, found: &Found) {
        let mut state = self.leases.state();
        if !state.holds(&self.key, self.number) {
            return;
        }
        state.claims.remove(&self.key);
        let Ok(record) = found else { return };
        state.release(&self.key);
        if let Some(record) = record {
            state.lay_down(record.clone(), sent + self.leases.length, self.leases.limit);
        }
    }
}

impl Drop for Reading<'_> {
    /// The last one who gives up waiting takes the claim along.
    fn drop(&mut self) {
        let mut state = self.leases.state();
        // One is ours, one is in the table.
        if Arc::strong_count(&self.cell) <= 2 && state.holds(&self.key, self.number) {
            state.claims.remove(&self.key);
        }
    }
}

/// A write that is under way.
pub(crate) struct Writing<'a> {
    leases: &'a Leases,
    key: Key,
    number: u64,
    done: bool,
}

impl Writing<'_> {
    /// This is what there is now, by an answer to a question that was sent at this time.
    pub(crate) fn done(mut self, sent: Instant, record: Option<&Arc<Record>>) {
        self.done = true;
        let mut state = self.leases.state();
        let newest = state.holds(&self.key, self.number);
        state.forget(&self.key);
        if let (true, Some(record)) = (newest, record) {
            state.lay_down(record.clone(), sent + self.leases.length, self.leases.limit);
        }
    }
}

impl Drop for Writing<'_> {
    /// A write that was given up may have happened, or may happen yet.
    fn drop(&mut self) {
        if !self.done {
            self.leases.state().forget(&self.key);
        }
    }
}

#[cfg(test)]
mod tests;
