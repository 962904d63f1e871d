//! Tasks that end with whoever owns them.

use std::future::Future;

use tokio::task::JoinHandle;

/// A task in the background. Dropping this stops it.
#[derive(Debug)]
pub(crate) struct Task(JoinHandle<()>);

impl Task {
    /// Starts one, on the current runtime.
    pub(crate) fn start(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}
