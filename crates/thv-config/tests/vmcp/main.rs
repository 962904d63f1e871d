//! The configuration of a virtual server: what is read, written and refused.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper fails by panicking"
)]

mod files;
mod keys;
mod properties;
mod reading;
#[path = "../../../../tests/recordings/mod.rs"]
mod recordings;
mod rules;
mod server_rules;
mod support;
