//! How a proxy stands towards its backend, for people and for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// How a proxy stands towards its backend. Whatever it is, the proxy serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The backend could not be brought to what it should be yet, for this reason. It is tried again.
    Waiting {
        /// Why.
        why: String,
    },
    /// The backend is what this proxy was made for.
    Bound,
    /// The configuration file is not the one that this proxy was made for. It writes nothing until it is.
    Unbound,
    /// There is a newer proxy, or the server is gone. This one writes nothing any more.
    Superseded {
        /// By what.
        why: String,
    },
    /// To write would tear what somebody else has made. A person should look at it; nothing is written.
    Refused {
        /// What is in the way.
        why: String,
    },
}

impl Standing {
    /// In one word, for a label of a metric.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Waiting { .. } => "waiting",
            Self::Bound => "bound",
            Self::Unbound => "unbound",
            Self::Superseded { .. } => "superseded",
            Self::Refused { .. } => "refused",
        }
    }
}

/// How often things have happened.
#[derive(Debug, Default)]
pub struct Tally {
    applied: AtomicU64,
    conflicts: AtomicU64,
    refusals: AtomicU64,
    replaced_pods: AtomicU64,
}

impl Tally {
    /// Writes that went through, whether they changed something or not.
    pub fn applied(&self) -> u64 {
        self.applied.load(Ordering::Relaxed)
    }

    /// Writes that came too late.
    pub fn conflicts(&self) -> u64 {
        self.conflicts.load(Ordering::Relaxed)
    }

    /// Writes that were not made, because they would have torn something.
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    /// Pods that were deleted, because they could not start and stood in the way of better ones.
    pub fn replaced_pods(&self) -> u64 {
        self.replaced_pods.load(Ordering::Relaxed)
    }

    pub(crate) fn count_applied(&self) {
        self.applied.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_conflict(&self) {
        self.conflicts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_replaced_pod(&self) {
        self.replaced_pods.fetch_add(1, Ordering::Relaxed);
    }
}
