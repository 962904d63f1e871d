//! Sessions that live and die with this process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::key::Key;
use crate::record::Record;
use crate::table::Table;

/// All sessions, each until it was not used for the time to live.
#[derive(Debug)]
pub(crate) struct Memory {
    ttl: Duration,
    sessions: Mutex<Table<Held>>,
}

#[derive(Debug)]
struct Held {
    record: Arc<Record>,
    used: Instant,
}

impl Memory {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self { ttl, sessions: Mutex::default() }
    }

    /// Finding a session is using it.
    pub(crate) fn find(&self, key: Key) -> Option<Arc<Record>> {
        let (mut sessions, now) = (self.sessions(), Instant::now());
        let held = sessions.get_mut(&key)?;
        if self.is_over(held, now) {
            sessions.remove(&key);
            return None;
        }
        held.used = now;
        Some(held.record.clone())
    }

    /// Unless there is one with this key.
    pub(crate) fn create(&self, record: Arc<Record>) -> bool {
        let (mut sessions, used) = (self.sessions(), Instant::now());
        let free = sessions.get(&record.key).is_none_or(|held| self.is_over(held, used));
        if free {
            sessions.insert(record.key, Held { record, used });
        }
        free
    }

    /// If `seen` is still what there is; otherwise says what there is.
    pub(crate) fn swap(&self, seen: &Record, new: Arc<Record>) -> Result<(), Option<Arc<Record>>> {
        let (mut sessions, now) = (self.sessions(), Instant::now());
        let Some(held) = sessions.get_mut(&seen.key).filter(|held| !self.is_over(held, now)) else {
            return Err(None);
        };
        held.used = now;
        if *held.record != *seen {
            return Err(Some(held.record.clone()));
        }
        held.record = new;
        Ok(())
    }

    pub(crate) fn remove(&self, key: Key) {
        self.sessions().remove(&key);
    }

    /// Forgets what nobody has used for too long.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        self.sessions().retain(|_, held| !self.is_over(held, now));
    }

    pub(crate) fn len(&self) -> usize {
        self.sessions().len()
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.sessions().capacity()
    }

    fn is_over(&self, held: &Held, now: Instant) -> bool {
        now.duration_since(held.used) >= self.ttl
    }

    fn sessions(&self) -> MutexGuard<'_, Table<Held>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
