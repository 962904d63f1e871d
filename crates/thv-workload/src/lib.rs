//! One backend: brought up behind a fence, and watched.
//!
//! - [`render`] says what the backend looks like: a StatefulSet and, for HTTP transports, two Services. Pure.
//! - [`fence`] decides whether a proxy may write that, so that an old one never undoes what a newer one has done. Pure.
//! - [`Kubernetes`] does it: reads, decides, applies, watches, restores, and tells which instances there are.
//!
//! Several proxies of several revisions can be there at any time. Each of them decides for itself, by what it was
//! [born](Birth) with and what it reads, and every write carries the version of what was read, so that a decision that
//! is out of date by then does nothing.

mod birth;
mod connection;
mod document;
pub mod fence;
mod instance;
mod keeper;
mod kubernetes;
mod platform;
mod pods;
pub mod render;
mod seen;
mod standing;
mod stuck;
mod trouble;
mod view;
mod writer;

pub use birth::Birth;
pub use connection::{Connection, NoCluster};
pub use document::{Document, ReadConfig};
pub use instance::{Instance, Instances};
pub use kubernetes::Kubernetes;
pub use platform::platform_of;
pub use render::{Blueprint, RenderError};
pub use standing::{Standing, Tally};
pub use thv_plan::{NotAMark, Platform, Token};
