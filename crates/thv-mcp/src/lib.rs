//! The messages of MCP, as far as someone between client and server has to understand them.
//!
//! A body is decoded once, strictly, and forwarded as it was: [`decode`] refuses whatever two readers could
//! understand differently, so that what is decided upon is what the server acts on. Nothing here does I/O; all
//! that reads foreign bytes is bounded by what it is given or by a limit of its own.

mod depth;
mod envelope;
mod era;
mod error;
pub mod headers;
pub mod initialize;
mod members;
mod message;
mod meta;
mod method;
mod resource;
pub mod sse;
mod text;

pub use envelope::{Flaw, Malformed, decode};
pub use era::{Era, MODERN_VERSION, era};
pub use error::{Cause, Error, codes, error_code};
pub use headers::{HeaderMismatch, check_headers};
pub use message::{Call, Id, Message};
pub use meta::{Meta, MetaVersion};
pub use method::Method;
pub use resource::Resource;
pub use text::Text;
