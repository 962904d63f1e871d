//! What we have written on an object itself, and whether somebody keeps undoing it.
//!
//! Two programs that both take an object for theirs would write it in turns for as long as both run. After a few repairs
//! within a minute we leave it alone for a while, as we do with children.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use thv_plan::{Backoff, Contention};
use tokio::time::Instant;

use crate::key::Key;

/// A write on an object itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnWrite<'a> {
    /// Our part of the status, by its digest.
    Status(&'a str),
    /// Our finalizer.
    Finalizer,
    /// The status fields of the Go operator, which become ours.
    Takeover,
}

/// The memory of one process.
#[derive(Default)]
pub(crate) struct OwnWrites(Mutex<BTreeMap<Key, Entry>>);

#[derive(Default)]
struct Entry {
    status: Option<String>,
    finalizer: bool,
    takeover: bool,
    contention: Contention,
}

impl OwnWrites {
    /// Whether something may be written. What was written before, and is wanted again, was undone by somebody.
    pub(crate) fn judge(&self, key: &Key, write: OwnWrite<'_>) -> Result<(), Backoff> {
        let now = Instant::now().into_std();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = all.entry(key.clone()).or_default();
        let was_undone = match write {
            OwnWrite::Status(digest) => entry.status.as_deref() == Some(digest),
            OwnWrite::Finalizer => entry.finalizer,
            OwnWrite::Takeover => entry.takeover,
        };
        if was_undone {
            if let Some(backoff) = entry.contention.back_off(now) {
                return Err(backoff);
            }
            entry.contention.repaired(now);
        }
        match write {
            OwnWrite::Status(digest) => entry.status = Some(digest.to_owned()),
            OwnWrite::Finalizer => entry.finalizer = true,
            OwnWrite::Takeover => entry.takeover = true,
        }
        Ok(())
    }

    /// Forgets an object that is gone.
    pub(crate) fn forget(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_status_that_somebody_keeps_undoing_is_left_alone_for_a_while() {
        let (writes, key) = (OwnWrites::default(), Key::new("K", "ns", "a"));
        for digest in ["a", "b", "a", "b"] {
            assert_eq!(writes.judge(&key, OwnWrite::Status(digest)), Ok(()), "another status is no repair");
        }
        assert_eq!(writes.judge(&key, OwnWrite::Status("b")), Ok(()));
        assert_eq!(writes.judge(&key, OwnWrite::Status("b")), Ok(()));
        let backoff = writes.judge(&key, OwnWrite::Status("b")).unwrap_err();
        assert!(backoff.is_news);
        assert!(!writes.judge(&key, OwnWrite::Status("b")).unwrap_err().is_news);
        assert_eq!(writes.judge(&key, OwnWrite::Status("c")), Ok(()), "what is new is written");
        tokio::time::advance(backoff.wait).await;
        assert_eq!(writes.judge(&key, OwnWrite::Status("c")), Ok(()));
        writes.forget(&key);
        assert!(writes.0.lock().unwrap().is_empty());
    }
}
