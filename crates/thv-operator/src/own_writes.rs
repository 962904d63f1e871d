//! What we have written on an object itself, and whether somebody keeps undoing it.
//!
//! Two programs that both take an object for theirs would write it in turns for as long as both run. After a few repairs
//! within a minute we leave it alone for a while, as we do with children.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use thv_plan::{Backoff, Contention};
use tokio::time::Instant;

use crate::hash::hash;
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
    /// The uid of the object, as a number. Another object of the same name is another one.
    uid: u64,
    /// The digest, as a number.
    status: Option<u64>,
    /// When the status was written.
    told: Option<Instant>,
    finalizer: bool,
    takeover: bool,
    contention: Option<Box<Contention>>,
}

impl Entry {
    /// Whether this was written before. If it is wanted again, somebody has undone it.
    fn was_written(&self, write: OwnWrite<'_>) -> bool {
        match write {
            OwnWrite::Status(digest) => self.status == Some(hash(digest)),
            OwnWrite::Finalizer => self.finalizer,
            OwnWrite::Takeover => self.takeover,
        }
    }
}

impl OwnWrites {
    /// Whether something may be written on the object with this uid.
    pub(crate) fn judge(&self, key: &Key, uid: &str, write: OwnWrite<'_>) -> Result<(), Backoff> {
        let (mut all, uid) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), hash(uid));
        let is_undone = |entry: &&mut Entry| entry.uid == uid && entry.was_written(write);
        let Some(entry) = all.get_mut(key).filter(is_undone) else { return Ok(()) };
        entry.contention.get_or_insert_default().back_off(Instant::now().into_std()).map_or(Ok(()), Err)
    }

    /// Notes what was written. A write that did not go through never comes here: trying it again is no repair.
    pub(crate) fn written(&self, key: &Key, uid: &str, write: OwnWrite<'_>) {
        let (mut all, uid) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), hash(uid));
        let entry = all.entry(key.clone()).or_default();
        if entry.uid != uid {
            *entry = Entry { uid, ..Entry::default() };
        }
        if entry.was_written(write) {
            entry.contention.get_or_insert_default().repaired(Instant::now().into_std());
        }
        match write {
            OwnWrite::Status(digest) => {
                entry.status = Some(hash(digest));
                entry.told = Some(Instant::now());
            }
            OwnWrite::Finalizer => entry.finalizer = true,
            OwnWrite::Takeover => entry.takeover = true,
        }
    }

    /// How long ago the status of an object was written, if this process did it.
    pub(crate) fn status_age(&self, key: &Key) -> Option<Duration> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(key)?.told.map(|told| told.elapsed())
    }

    /// Forgets an object that is gone.
    pub(crate) fn forget(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes if that is allowed.
    fn write(writes: &OwnWrites, key: &Key, write: OwnWrite<'_>) -> Result<(), Backoff> {
        writes.judge(key, "u", write).map(|()| writes.written(key, "u", write))
    }

    #[tokio::test(start_paused = true)]
    async fn a_status_that_somebody_keeps_undoing_is_left_alone_for_a_while() {
        let (writes, key) = (OwnWrites::default(), Key::new("K", "ns", "a"));
        for digest in ["a", "b", "a", "b"] {
            assert_eq!(write(&writes, &key, OwnWrite::Status(digest)), Ok(()), "another status is no repair");
        }
        assert_eq!(write(&writes, &key, OwnWrite::Status("b")), Ok(()));
        assert_eq!(write(&writes, &key, OwnWrite::Status("b")), Ok(()));
        let backoff = write(&writes, &key, OwnWrite::Status("b")).unwrap_err();
        assert!(backoff.is_news);
        assert!(!write(&writes, &key, OwnWrite::Status("b")).unwrap_err().is_news);
        assert_eq!(write(&writes, &key, OwnWrite::Status("c")), Ok(()), "what is new is written");
        tokio::time::advance(backoff.wait).await;
        assert_eq!(write(&writes, &key, OwnWrite::Status("c")), Ok(()));
        writes.forget(&key);
        assert!(writes.0.lock().unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_does_not_go_through_is_tried_again_as_often_as_it_takes() {
        let (writes, key) = (OwnWrites::default(), Key::new("K", "ns", "a"));
        for _ in 0..10 {
            assert_eq!(writes.judge(&key, "u", OwnWrite::Finalizer), Ok(()));
            assert_eq!(writes.judge(&key, "u", OwnWrite::Status("a")), Ok(()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn another_object_of_the_same_name_has_undone_nothing() {
        let (writes, key) = (OwnWrites::default(), Key::new("K", "ns", "a"));
        for uid in ["1", "2", "3", "4", "5", "6"] {
            assert_eq!(writes.judge(&key, uid, OwnWrite::Finalizer), Ok(()));
            writes.written(&key, uid, OwnWrite::Finalizer);
        }
    }
}
