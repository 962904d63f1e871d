//! Sessions of MCP clients: who owns one, where its backend is, and how to start it again.
//!
//! [`Sessions`] keeps them in memory or in Redis, and looks the same either way. In Redis a record is laid out as
//! ToolHive lays it out, so that its programs and ours can share a database: values that we do not know survive
//! when we write, and a record that changed under us is never overwritten.
//!
//! What a replica has read or written it may use for the length of a *lease* without asking Redis. A record lives
//! for its time to live and one lease more after each time it was asked for, and so a session that is used within
//! a lease never ends early.

mod error;
mod key;
mod leases;
mod link;
mod memory;
mod options;
mod owner;
mod record;
mod remote;
mod sessions;
mod table;
mod task;
mod wire;

pub use error::{Malformed, OptionsError, Unavailable};
pub use key::Key;
pub use options::{Password, RedisOptions};
pub use owner::Owner;
pub use record::{INIT_BODY_LIMIT, Kind, Metadata, Record};
pub use sessions::{Created, Sessions, Swap};
