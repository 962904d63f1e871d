//! How the proxy itself is doing: what is looked at when asked, and what happens rarely.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// A number that is read when asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gauge {
    /// Sessions that this replica knows.
    Sessions,
    /// Instances of the backend that are ready.
    BackendInstancesReady,
    /// 1 while the session store answers.
    SessionStoreAvailable,
    /// Bytes that are set aside for bodies of requests in flight.
    RequestBodyBytes,
    /// Writes to the backend's objects that were refused, so far.
    RefusedWrites,
}

/// What this replica may do to the backend's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// Nothing yet: the owner cannot be read, or something else is missing.
    Waiting,
    /// It may write.
    Bound,
    /// Its configuration is not the one that it was born with.
    Unbound,
    /// A newer one has taken over.
    Superseded,
    /// Another content stands under the same revision.
    Refused,
}

impl Fence {
    /// All of them.
    const ALL: [Self; 5] = [Self::Waiting, Self::Bound, Self::Unbound, Self::Superseded, Self::Refused];

    fn label(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Bound => "bound",
            Self::Unbound => "unbound",
            Self::Superseded => "superseded",
            Self::Refused => "refused",
        }
    }
}

/// How the attempt to make a lost backend session anew ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// The session lives on a new backend session.
    Replayed,
    /// Another replica was faster; its backend session is used.
    Overtaken,
    /// The session is gone, or has nothing to be made anew from.
    Impossible,
    /// The backend refused, or speaks another version now.
    Refused,
    /// The backend could not be reached.
    Unreachable,
    /// The session store could not be reached.
    StoreUnavailable,
}

impl Replay {
    const ALL: [Self; 6] = [
        Self::Replayed,
        Self::Overtaken,
        Self::Impossible,
        Self::Refused,
        Self::Unreachable,
        Self::StoreUnavailable,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::Replayed => "replayed",
            Self::Overtaken => "overtaken",
            Self::Impossible => "impossible",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::StoreUnavailable => "store_unavailable",
        }
    }
}

type Read<T> = Box<dyn Fn() -> T + Send + Sync>;

/// How the proxy itself is doing.
#[derive(Default)]
pub(crate) struct Standing {
    pub(crate) spans_lost: AtomicU64,
    replays: [AtomicU64; Replay::ALL.len()],
    gauges: RwLock<BTreeMap<Gauge, Read<i64>>>,
    fence: RwLock<Option<Read<Fence>>>,
    target: RwLock<BTreeMap<String, String>>,
}

impl fmt::Debug for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standing").finish_non_exhaustive()
    }
}

impl Standing {
    pub(super) fn describe(&self, labels: BTreeMap<String, String>) {
        *self.target.write().unwrap_or_else(PoisonError::into_inner) = labels;
    }

    pub(super) fn observe(&self, gauge: Gauge, read: Read<i64>) {
        self.gauges.write().unwrap_or_else(PoisonError::into_inner).insert(gauge, read);
    }

    pub(super) fn observe_fence(&self, read: Read<Fence>) {
        *self.fence.write().unwrap_or_else(PoisonError::into_inner) = Some(read);
    }

    pub(super) fn replayed(&self, outcome: Replay) {
        if let Some(count) = self.replays.get(outcome as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number, if somebody observes it.
    pub(super) fn gauge(&self, gauge: Gauge) -> Option<i64> {
        self.gauges.read().unwrap_or_else(PoisonError::into_inner).get(&gauge).map(|read| read())
    }

    /// Each standing, and whether it is the present one.
    pub(super) fn fence(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let present = self.fence.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(|read| read());
        let all = if present.is_some() { Fence::ALL.as_slice() } else { &[] };
        all.iter().map(move |standing| (standing.label(), Some(*standing) == present))
    }

    /// Each outcome, and how often it was.
    pub(super) fn replays(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Replay::ALL
            .iter()
            .zip(&self.replays)
            .map(|(outcome, count)| (outcome.label(), count.load(Ordering::Relaxed)))
    }

    /// What the service is.
    pub(super) fn target(&self) -> BTreeMap<String, String> {
        self.target.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_counts_under_its_own_name() {
        let standing = Standing::default();
        for outcome in Replay::ALL {
            standing.replayed(outcome);
        }
        assert!(standing.replays().all(|(_, count)| count == 1));
        for (place, outcome) in Replay::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, place);
        }
    }
}
