//! What passes over objects of all kinds share: caches, subscriptions, the writer, and what was written last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::Resource;
use thv_plan::{ChildKind, Failure};

use crate::cache::{Cache, Written};
use crate::caches::Caches;
use crate::key::Key;
use crate::last_applied::LastApplied;
use crate::metrics::Metrics;
use crate::own_writes::OwnWrites;
use crate::pace::Pace;
use crate::snapshot::{Loader, ReadError};
use crate::watch::resource_version;
use crate::write_error::WriteError;
use crate::writer::Writer;

/// How long a pass waits for the caches to show our own last writes.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a pass may take. One that waits for an answer that never comes would keep a worker from all others.
pub(crate) const PASS_LIMIT: Duration = Duration::from_mins(1);

/// So many passes in a row have to fail before it is told, unless trying again will not help: what passes within three
/// seconds is nobody's business.
const REPORTED_FAILURES: u32 = 5;

/// The same for conflicts and for watches that lag behind, which are routine for a while: about a minute.
const REPORTED_CONFLICTS: u32 = 9;

/// A pass that did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PassError {
    /// Something could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Something could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The caches do not show yet what we have written.
    #[error(
        "the watches do not show what the operator has written itself: look for watches that fail in its log"
    )]
    Behind,
    /// Somebody keeps undoing what we write on the object itself.
    #[error("somebody keeps undoing what the operator writes: it is left alone for {} s", wait.as_secs())]
    Contested {
        /// For how long.
        wait: Duration,
    },
    /// The API server did not answer in time.
    #[error("the API server did not answer within {} s", PASS_LIMIT.as_secs())]
    Slow,
}

impl PassError {
    /// One word for metrics.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Write(WriteError::Conflict { .. }) => "conflict",
            Self::Write(WriteError::Taken { .. }) => "taken",
            Self::Write(WriteError::Refused { .. }) => "refused",
            Self::Write(WriteError::Terminating { .. }) => "terminating",
            Self::Write(WriteError::Api { .. }) => "write",
            Self::Behind => "behind",
            Self::Contested { .. } => "contested",
            Self::Slow => "slow",
        }
    }

    /// Whether this is routine: somebody was faster, and the next pass starts from what is there then.
    pub(crate) const fn is_routine(&self) -> bool {
        matches!(
            self,
            Self::Behind
                | Self::Read(ReadError::Stale { is_failing: false, .. })
                | Self::Contested { .. }
                | Self::Write(WriteError::Conflict { .. } | WriteError::Terminating { .. })
        )
    }

    /// After how many failures in a row the status tells it. Nobody is told of a namespace that goes; of an object that
    /// somebody else writes as well, an Event tells.
    pub(crate) fn told_after(&self) -> u32 {
        match self {
            Self::Write(WriteError::Terminating { .. }) | Self::Contested { .. } => u32::MAX,
            _ if self.is_definite() => 1,
            _ if self.is_routine() => REPORTED_CONFLICTS,
            _ => REPORTED_FAILURES,
        }
    }

    /// Whether the API server says that we lack a right.
    pub(crate) fn is_forbidden(&self) -> bool {
        let is_403 = |error: &kube::Error| matches!(error, kube::Error::Api(status) if status.code == 403);
        match self {
            Self::Read(ReadError::Api { source, .. }) => is_403(source),
            Self::Write(WriteError::Refused { code, .. }) => *code == 403,
            _ => false,
        }
    }

    /// Whether trying again will not help, so that it is told at once.
    pub(crate) fn is_definite(&self) -> bool {
        match self {
            Self::Read(ReadError::Api { source, .. }) => {
                matches!(&**source, kube::Error::Api(status) if status.code == 403)
            }
            Self::Write(error) => matches!(error, WriteError::Refused { .. } | WriteError::Taken { .. }),
            Self::Read(ReadError::Stale { .. }) | Self::Behind | Self::Contested { .. } | Self::Slow => false,
        }
    }

    /// What to tell. The first part of the text stays the same from one attempt to the next, whatever the API server
    /// says in its own words.
    pub(crate) fn failure(&self) -> (Failure, String) {
        let (stable, failure): (String, fn(String) -> Failure) = match self {
            Self::Read(ReadError::Api { what, .. }) => (format!("cannot read {what}"), Failure::Unknown),
            Self::Write(WriteError::Refused { what, .. }) => {
                (format!("the API server refuses {what}"), Failure::Refused)
            }
            Self::Write(WriteError::Taken { .. }) => (self.to_string(), Failure::Refused),
            Self::Write(WriteError::Api { what, .. }) => (format!("cannot write {what}"), Failure::Unknown),
            Self::Write(WriteError::Conflict { .. } | WriteError::Terminating { .. })
            | Self::Read(ReadError::Stale { .. })
            | Self::Behind
            | Self::Contested { .. }
            | Self::Slow => (self.to_string(), Failure::Unknown),
        };
        (failure(self.to_string()), stable)
    }
}

/// Which cache a write of ours will show up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// That of the object itself.
    Owner,
    /// That of a kind of children.
    Child(ChildKind),
}

/// What all passes share.
pub(crate) struct Engine {
    pub caches: Arc<Caches>,
    pub loader: Loader,
    pub writer: Writer,
    pub last_applied: LastApplied,
    pub own_writes: OwnWrites,
    pub metrics: Arc<Metrics>,
    pub pace: Pace,
    /// How long a status with nothing urgent in it waits after the last one.
    pub status_interval: Duration,
    /// Our last write in each place, for each owner.
    written: Mutex<BTreeMap<Key, BTreeMap<Place, Written>>>,
    /// The failure that was told last of each object: its generation, and the part of the text that stays the same.
    reported: Mutex<BTreeMap<Key, (Option<i64>, String)>>,
}

impl Engine {
    /// An engine over these parts.
    pub(crate) fn new(
        loader: Loader,
        writer: Writer,
        metrics: Arc<Metrics>,
        pace: Pace,
        status_interval: Duration,
    ) -> Self {
        Self {
            caches: loader.caches.clone(),
            loader,
            writer,
            metrics,
            pace,
            status_interval,
            last_applied: LastApplied::default(),
            own_writes: OwnWrites::default(),
            written: Mutex::default(),
            reported: Mutex::default(),
        }
    }

    /// Waits until the caches show all that we have written for this owner.
    pub(crate) async fn catch_up<T>(&self, key: &Key, owners: &Cache<T>) -> Result<(), PassError> {
        let written = self.written().get(key).cloned();
        for (place, written) in written.unwrap_or_default() {
            let namespace = key.namespace();
            let caught_up = match place {
                Place::Owner => match owners.store(namespace) {
                    Some(store) => store.caught_up(written, PATIENCE).await,
                    None => true,
                },
                Place::Child(kind) => {
                    match self.caches.children(kind).and_then(|cache| cache.store(namespace)) {
                        Some(store) => store.caught_up(written, PATIENCE).await,
                        None => true,
                    }
                }
            };
            if !caught_up {
                return Err(PassError::Behind);
            }
        }
        self.written().remove(key);
        Ok(())
    }

    /// Notes a write that a cache has to show before the next pass over this owner.
    pub(crate) fn note<T, K: Resource>(&self, key: &Key, place: Place, cache: Option<&Cache<T>>, object: &K) {
        if let Some(store) = cache.and_then(|cache| cache.store(key.namespace())) {
            let written = store.written(resource_version(object));
            self.written().entry(key.clone()).or_default().insert(place, written);
        }
    }

    /// Notes the failure that is told of an object. Whether it is another one than before, or the object is.
    pub(crate) fn is_news(&self, key: &Key, generation: Option<i64>, failure: &str) -> bool {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let now = (generation, failure.to_owned());
        reported.insert(key.clone(), now.clone()).is_none_or(|before| before != now)
    }

    /// Forgets the failure that was told of an object: there is none any more, or it could not be told.
    pub(crate) fn forget_failure(&self, key: &Key) {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    /// Forgets everything that we know of an owner that is gone.
    pub(crate) fn forget(&self, key: &Key) {
        self.loader.subscriptions.keep_only(key, &std::collections::BTreeSet::new());
        self.last_applied.forget(key);
        self.own_writes.forget(key);
        self.pace.forget(key);
        self.forget_failure(key);
        self.written().remove(key);
    }

    fn written(&self) -> MutexGuard<'_, BTreeMap<Key, BTreeMap<Place, Written>>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
