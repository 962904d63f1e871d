//! All sessions, wherever they are.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::error::{OptionsError, Unavailable};
use crate::key::Key;
use crate::leases::Leases;
use crate::memory::Memory;
use crate::options::RedisOptions;
use crate::record::{INIT_BODY_LIMIT, Record};
use crate::remote::{Remote, Swapped};
use crate::task::Task;

/// The longest lease.
const LEASE: Duration = Duration::from_secs(30);
/// How much memory records under lease may take.
const LEASED: usize = 32 * 1024 * 1024;
/// Redis counts whole seconds.
const SHORTEST: Duration = Duration::from_secs(1);
/// Nobody means more, and clocks can add it up.
const LONGEST: Duration = Duration::from_hours(10 * 365 * 24);

/// The sessions of one server.
#[derive(Debug)]
pub struct Sessions {
    lease: Duration,
    place: Place,
    _sweeper: Task,
}

#[derive(Debug)]
enum Place {
    Memory(Arc<Memory>),
    Redis { remote: Box<Remote>, leases: Arc<Leases> },
}

/// What became of a new record.
#[derive(Clone, Debug, PartialEq)]
pub enum Created {
    /// It is stored.
    Created(Arc<Record>),
    /// There is a session with its key, which was left alone.
    Exists,
}

/// What became of a changed record.
#[derive(Clone, Debug, PartialEq)]
pub enum Swap {
    /// It is stored.
    Swapped(Arc<Record>),
    /// Somebody was faster. This is what there is, if anything.
    Lost(Option<Arc<Record>>),
}

impl Sessions {
    /// Sessions that end with this process. Call this on a runtime; a time to live counts as one second at least.
    pub fn in_memory(ttl: Duration) -> Self {
        let (ttl, lease) = times(ttl);
        let memory = Arc::new(Memory::new(ttl));
        let sweeper = sweeper(lease, memory.clone(), Memory::sweep);
        Self { lease, place: Place::Memory(memory), _sweeper: sweeper }
    }

    /// Sessions that all replicas share. Redis need not be there yet. Call this on a runtime; a time to live counts
    /// as one second at least.
    pub fn in_redis(options: RedisOptions, ttl: Duration) -> Result<Self, OptionsError> {
        options.check()?;
        let (ttl, lease) = times(ttl);
        let leases = Arc::new(Leases::new(lease, LEASED));
        // A session that is used under lease is not asked for, and yet has its full time to live.
        let whole = ttl + lease;
        let expiry = whole.as_secs() + u64::from(whole.subsec_nanos() > 0);
        let sweeper = sweeper(lease, leases.clone(), Leases::sweep);
        let remote = Box::new(Remote::new(&options, expiry));
        Ok(Self { lease, place: Place::Redis { remote, leases }, _sweeper: sweeper })
    }

    /// The session, which thereby counts as used. Asks Redis only without a lease, and then once for all who ask at
    /// the same time.
    pub async fn find(&self, key: Key) -> Result<Option<Arc<Record>>, Unavailable> {
        match &self.place {
            Place::Memory(memory) => Ok(memory.find(key)),
            Place::Redis { remote, leases } => match leases.fresh(key) {
                Some(record) => Ok(Some(record)),
                // In a box: this is rare, and a request would have room for it as long as it lives.
                None => Box::pin(leases.join(key).through(remote.read(key))).await,
            },
        }
    }

    /// The session as it is now, lease or not.
    pub async fn reread(&self, key: Key) -> Result<Option<Arc<Record>>, Unavailable> {
        match &self.place {
            Place::Memory(memory) => Ok(memory.find(key)),
            Place::Redis { remote, leases } => leases.read(key).through(remote.read(key)).await,
        }
    }

    /// Stores a new session unless there is one with its key. After [`Unavailable`] it may be there nevertheless.
    pub async fn create(&self, record: Record) -> Result<Created, Unavailable> {
        let record = Arc::new(storable(record));
        let new = match &self.place {
            Place::Memory(memory) => memory.create(record.clone()),
            Place::Redis { remote, leases } => {
                let (writing, sent) = (leases.write(record.key), Instant::now());
                let new = remote.create(&record).await?;
                writing.done(sent, new.then_some(&record));
                new
            }
        };
        Ok(if new { Created::Created(record) } else { Created::Exists })
    }

    /// Stores `new` if the session is still as it was `seen`, to the last byte. The key, and what others wrote into
    /// the record beside its metadata, stay.
    pub async fn swap(&self, seen: &Arc<Record>, new: Record) -> Result<Swap, Unavailable> {
        let kept = Record { key: seen.key, unknown: seen.unknown.clone(), ..new };
        let new = Arc::new(storable(kept));
        let now = match &self.place {
            Place::Memory(memory) => memory.swap(seen, new.clone()),
            Place::Redis { remote, leases } => {
                let (writing, sent) = (leases.write(seen.key), Instant::now());
                let now = match remote.swap(seen, &new).await? {
                    Swapped::Yes => Ok(()),
                    Swapped::No(now) => Err(now),
                };
                writing.done(sent, now.as_ref().map_or_else(Option::as_ref, |()| Some(&new)));
                now
            }
        };
        Ok(match now {
            Ok(()) => Swap::Swapped(new),
            Err(now) => Swap::Lost(now),
        })
    }

    /// Ends a session. That there is none is fine.
    pub async fn remove(&self, key: Key) -> Result<(), Unavailable> {
        match &self.place {
            Place::Memory(memory) => memory.remove(key),
            Place::Redis { remote, leases } => {
                let (writing, sent) = (leases.write(key), Instant::now());
                remote.remove(key).await?;
                writing.done(sent, None);
            }
        }
        Ok(())
    }

    /// Whether Redis is there, as far as is known. Memory always is.
    pub fn available(&self) -> bool {
        match &self.place {
            Place::Memory(_) => true,
            Place::Redis { remote, leases: _ } => remote.link().is_up(),
        }
    }

    /// Whether a session could be stored now. Costs no round trip; waits, a short while at most, only for a connection
    /// that is just being made.
    pub async fn ready_for_writes(&self) -> Result<(), Unavailable> {
        match &self.place {
            Place::Memory(_) => Ok(()),
            Place::Redis { remote, leases: _ } => remote.link().ready().await,
        }
    }

    /// How long this replica may use a record that it has read: thirty seconds, or a quarter of the time to live if
    /// that is less. Whoever keeps a session open without requests asks for it this often.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// How many records are held here: all in memory, or those under lease.
    pub fn len(&self) -> usize {
        match &self.place {
            Place::Memory(memory) => memory.len(),
            Place::Redis { remote: _, leases } => leases.len(),
        }
    }

    /// Whether none is held here.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The time to live, and the lease that goes with it.
fn times(ttl: Duration) -> (Duration, Duration) {
    let ttl = ttl.clamp(SHORTEST, LONGEST);
    (ttl, LEASE.min(ttl / 4))
}

/// What is stored of a record, as it will be stored.
fn storable(mut record: Record) -> Record {
    record.metadata.init_body.take_if(|body| body.len() > INIT_BODY_LIMIT);
    record.unknown = record.unknown.carried_over();
    record
}

fn sweeper<T: Send + Sync + 'static>(every: Duration, what: Arc<T>, sweep: fn(&T)) -> Task {
    Task::start(async move {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            sweep(&what);
        }
    })
}

#[cfg(test)]
mod tests;
