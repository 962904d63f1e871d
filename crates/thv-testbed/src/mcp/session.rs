//! Sessions of the Legacy era.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;

use super::answer::event;
use super::state::lock;

/// How many events are kept for a client that comes back.
const KEPT: usize = 100;
/// How far a client may be behind before its stream ends.
const BEHIND: usize = 1_024;

/// One session.
pub(super) struct Session {
    id: String,
    is_ready: AtomicBool,
    counter: AtomicU64,
    outbox: Mutex<Outbox>,
}

/// Messages to the client, which leave by its stream.
#[derive(Default)]
struct Outbox {
    last: u64,
    delivered: u64,
    recent: VecDeque<(u64, Bytes)>,
    streams: Vec<mpsc::Sender<Bytes>>,
    has_ended: bool,
}

impl Session {
    pub(super) fn new(id: String) -> Self {
        Self { id, is_ready: AtomicBool::new(false), counter: AtomicU64::new(0), outbox: Mutex::default() }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The client has said that it is done with the handshake.
    pub(super) fn initialized(&self) {
        self.is_ready.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }

    /// Counts one more, and returns how many that is.
    pub(super) fn increment(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Sends a message by the client's stream, or by the next one that it opens.
    pub(super) fn send(&self, message: &Value) {
        let mut outbox = lock(&self.outbox);
        outbox.last += 1;
        let (number, bytes) = (outbox.last, event(Some(outbox.last), message));
        outbox.recent.push_back((number, bytes.clone()));
        if outbox.recent.len() > KEPT {
            outbox.recent.pop_front();
        }
        outbox.streams.retain(|stream| !stream.is_closed());
        // A message goes to one stream only.
        if let Some(stream) = outbox.streams.last()
            && stream.try_send(bytes).is_ok()
        {
            outbox.delivered = number;
        }
    }

    /// A new stream. It begins with what was not delivered, or with what followed the event that is named.
    pub(super) fn open(&self, after: Option<u64>) -> mpsc::Receiver<Bytes> {
        let (sender, receiver) = mpsc::channel(BEHIND);
        let mut outbox = lock(&self.outbox);
        let after = after.unwrap_or(outbox.delivered);
        for (_, bytes) in outbox.recent.iter().filter(|(number, _)| *number > after) {
            // There is room for all of them.
            let _ = sender.try_send(bytes.clone());
        }
        outbox.delivered = outbox.last;
        if !outbox.has_ended {
            outbox.streams.push(sender);
        }
        receiver
    }

    /// Ends all streams, also for those who still hold the session.
    pub(super) fn end(&self) {
        let mut outbox = lock(&self.outbox);
        outbox.has_ended = true;
        outbox.streams.clear();
    }
}
