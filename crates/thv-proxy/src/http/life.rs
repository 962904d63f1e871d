//! How far the end of the process is.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Where a process stands between its start and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Phase {
    /// Everything is as it should be.
    Serving,
    /// The end was announced. Others still send requests until they have heard of it; they are served, and asked to
    /// come back elsewhere.
    Leaving,
    /// No new requests. Streams that would never end by themselves end now, others go on.
    Closing,
    /// Streams on which answers may still be due end too.
    Ending,
    /// Whatever is left is cut off.
    Over,
}

/// The phase, for everybody to look at.
#[derive(Debug)]
pub(super) struct Life {
    phase: AtomicU8,
    changed: Notify,
}

impl Life {
    pub(super) const fn new() -> Self {
        Self { phase: AtomicU8::new(Phase::Serving as u8), changed: Notify::const_new() }
    }

    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Serving,
            1 => Phase::Leaving,
            2 => Phase::Closing,
            3 => Phase::Ending,
            _ => Phase::Over,
        }
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.phase() >= Phase::Leaving
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// Resolves when the phase changes.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }
}
