//! The ToolHive API: its kinds as Rust types, and the CRDs made from them.
//!
//! - [`kinds`] has the fourteen kinds, [`shared`] and [`auth_server`] what several of them use.
//! - [`crds`] makes the custom resource definitions.
//! - [`Watched`] is the type to watch: one malformed object does not end the watch.
//! - [`conditions`] has the types and reasons of conditions, and makes conditions.
//! - [`names`] has every name that must be spelled the same everywhere.
//!
//! The documentation of fields ends up in the CRDs, where people read it with `kubectl explain`.
//!
//! This crate is pure: no client, no I/O, no clock.
#![allow(
    clippy::doc_markdown,
    reason = "descriptions are read with kubectl, where backticks around every name are noise"
)]
#![allow(clippy::struct_excessive_bools, reason = "the API has as many switches as it has")]

pub mod auth_server;
pub mod conditions;
mod crds;
pub mod kinds;
pub mod names;
mod object;
pub mod part;
mod pattern;
mod schema;
pub mod shared;
pub mod value;
mod watched;

pub use crds::{crd, crds};
pub use object::{Column, Kind, Object, Served, Version};
pub use schema::Conditions;
pub use watched::{Malformed, Watched, lenient_metadata, metadata_of};
