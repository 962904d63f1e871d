//! The data plane over real sockets: every rule of it, against servers that behave and servers that do not.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "all of this is tests"
)]

mod bytes_on_the_way;
mod eras;
mod events;
mod life;
mod lost_sessions;
mod origins;
mod remote;
mod routing;
mod sessions;
mod shared_sessions;
mod support;
mod surface;
