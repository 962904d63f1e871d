//! A session that is in use because an answer still streams.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use thv_session::{Key, Record, Sessions, Unavailable};
use tokio::time::{Sleep, sleep};

/// Keeps a session alive, and notices when somebody ends it.
pub(super) struct Tenure {
    sessions: Arc<Sessions>,
    key: Key,
    /// Until when the last look counts. Most answers end before there is a need for one.
    timer: Option<Pin<Box<Sleep>>>,
    look: Option<BoxFuture<'static, Result<Option<Arc<Record>>, Unavailable>>>,
}

impl Tenure {
    pub(super) const fn new(sessions: Arc<Sessions>, key: Key) -> Self {
        Self { sessions, key, timer: None, look: None }
    }

    /// Ready when the session is gone. While nobody knows, it is not.
    pub(super) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(look) = &mut self.look {
                let Poll::Ready(found) = look.as_mut().poll(cx) else { return Poll::Pending };
                self.look = None;
                self.timer = None;
                if matches!(found, Ok(None)) {
                    return Poll::Ready(());
                }
            }
            let lease = self.sessions.lease();
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(lease)));
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let (sessions, key) = (Arc::clone(&self.sessions), self.key);
            self.look = Some(Box::pin(async move { sessions.find(key).await }));
        }
    }
}
