//! Server-sent events, as far as MCP needs them: cutting a stream into events, and the `endpoint` event by which
//! a server of the old transport tells the client where to POST.

mod endpoint;
mod event;
mod forwarded;
mod rewriter;
mod session;

pub(crate) use event::{Splitter, data, without_mark};
pub use forwarded::Forwarded;
pub use rewriter::{BadEndpoint, Endpoint, EndpointRewriter, Rewritten};
pub use session::{AmbiguousSession, session_of};
