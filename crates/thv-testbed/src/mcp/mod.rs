//! An MCP server to test with: both eras of streamable-http, the older `sse`, tools that do what a test asks for,
//! and controls that make it go wrong.
//!
//! [`McpServer::start`] runs it within the test, the program `thv-mcp-server` in a process or pod of its own. It
//! shares no code with the product on purpose: what it expects of a message is its own reading of the protocol.
//!
//! Its tools are `echo(text)`, `sleep(ms, steps)`, `payload(bytes)`, `counter()`, `whoami()`, `notify(count)` and
//! `fail(code)`; `tools/list` describes them.
//!
//! [`Client`] is the other end, one that sends much and looks little at the answers, and [`LocalProxy`] is our proxy
//! between the two.

mod answer;
mod client;
mod connection;
mod local_proxy;
mod message;
mod methods;
mod modern;
mod options;
mod route;
mod session;
mod sse;
mod state;
mod streamable;
mod tools;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use http::StatusCode;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use self::state::State;

pub use self::client::{Call, Client, Listening, churn, leave_sessions};
pub use self::local_proxy::{LocalProxy, is_healthy};
pub use self::options::{Answers, Endpoint, Eras, Options, Transport};
pub use self::state::{Counts, Fault, Seen};

/// A running server. It stops, with all of its connections, when dropped.
pub struct McpServer {
    state: Arc<State>,
    address: SocketAddr,
    listening: JoinHandle<()>,
}

impl McpServer {
    /// Starts one; it listens when this returns.
    pub async fn start(options: Options) -> Result<Self> {
        let wanted = options.address;
        let listener =
            TcpListener::bind(wanted).await.with_context(|| format!("cannot listen on {wanted}"))?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::new(options));
        let listening = tokio::spawn(connection::accept(listener, state.clone()));
        Ok(Self { state, address, listening })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.state.options.entrance())
    }

    /// What it has counted so far.
    pub fn counts(&self) -> Counts {
        self.state.counts()
    }

    /// Waits until `is_so` says yes to what it has counted.
    pub async fn until(&self, what: &str, is_so: impl Fn(&Counts) -> bool) -> Result<Counts> {
        let mut changes = self.state.changes();
        let waiting = async {
            loop {
                changes.mark_unchanged();
                let counts = self.counts();
                if is_so(&counts) {
                    return counts;
                }
                // The sender is in `self`, so that this cannot end in an error.
                let _ = changes.changed().await;
            }
        };
        let found = tokio::time::timeout(crate::wait::DEADLINE, waiting).await;
        found.with_context(|| format!("the MCP server did not see that {what}: {:?}", self.counts()))
    }

    /// The requests that came in, if [`Options::record`] is set.
    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen()
    }

    /// Forgets every session, as a restart does, and ends their streams.
    pub fn forget_sessions(&self) {
        self.state.forget_sessions();
    }

    /// What a request gets whose session is unknown: 404 unless changed. There are servers that say 400.
    pub fn answer_lost_sessions_with(&self, status: StatusCode) {
        self.state.controls().lost = status;
    }

    /// Whether DELETE is refused with 405.
    pub fn refuse_delete(&self, refuse: bool) {
        self.state.controls().refuses_delete = refuse;
    }

    /// The next `times` requests of this JSON-RPC method go wrong. GET and DELETE are named by their verbs.
    pub fn fail_next(&self, method: &str, fault: Fault, times: usize) {
        self.state.controls().faults.push((method.to_owned(), fault, times));
    }

    /// New connections are accepted, but not read for this long.
    pub fn delay_accept(&self, delay: Duration) {
        self.state.controls().delay = delay;
    }

    /// Cuts every connection, whatever is under way on it.
    pub fn close_connections(&self) {
        self.state.close_connections();
    }

    /// Waits for as long as it listens.
    pub async fn ended(mut self) {
        // A panic has told about itself.
        let _ = (&mut self.listening).await;
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
