//! Sessions that ended where nobody can wait.

use std::sync::Arc;

use thv_session::{Key, Sessions};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Removes records. There are at most as many in its queue as there were streams.
#[derive(Clone, Debug)]
pub(super) struct Reaper(mpsc::UnboundedSender<Key>);

impl Reaper {
    /// The task ends when the last reaper is gone and everything is removed.
    pub(super) fn start(sessions: Arc<Sessions>) -> (Self, JoinHandle<()>) {
        let (sender, mut keys) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            while let Some(key) = keys.recv().await {
                if let Err(error) = sessions.remove(key).await {
                    // It ends by itself when nobody uses it.
                    tracing::debug!(%error, "the record of an ended session stays");
                }
            }
        });
        (Self(sender), task)
    }

    pub(super) fn remove(&self, key: Key) {
        // Without the task, the process is ending, and records end by themselves.
        let _ = self.0.send(key);
    }
}
