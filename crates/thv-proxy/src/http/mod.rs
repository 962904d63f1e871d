//! The data plane: HTTP from clients to an MCP server and back.
//!
//! Every request takes one road:
//!
//! ```text
//! bytes ──▶ decode once ──▶ identity ──▶ policy ──▶ Permit ──▶ dispatch ──▶ backend
//! ```
//!
//! `handle` reads and understands, `policy` decides, `dispatch` sends on what was permitted and nothing else.
//! `upstream` has the connections to the backend, `front` those of clients. A request runs in the task of its
//! client's connection from its first byte to its last, and so does the connection to the backend that it uses:
//! when the client goes, everything goes.

mod chain;
mod clock;
mod dispatch;
mod ending;
mod events;
mod front;
mod handle;
mod identity;
mod inbound;
mod life;
mod origin;
mod outbound;
mod policy;
mod proxy;
mod reading;
mod reaper;
mod redirect;
mod refusal;
mod reply;
mod settings;
mod single_flight;
mod surface;
mod tenure;
mod upstream;

pub use chain::{Chain, Unsupported};
pub use front::{Drained, Front, ServeError, Target, serve};
pub use settings::{Settings, Times};
pub use upstream::RemoteError;

pub(crate) use origin::is_loopback;
