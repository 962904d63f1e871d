//! The documents that the control plane writes and the data plane reads, each as one type for both sides.
//!
//! - [`RunConfig`] is what a proxy in front of one MCP server runs by: [`RunConfig::parse`] reads it,
//!   [`RunConfig::validate`] checks it, [`RunConfig::to_bytes`] writes it, [`Checksum`] recognises it.
//! - [`VmcpConfig`](vmcp::VmcpConfig) is what a virtual MCP server runs by, in YAML.
//! - [`middleware`] has the parameters of every middleware, which the document itself carries unread.
//! - [`Json`] is JSON that keeps its order. [`Secret`], [`Credential`] and [`Guarded`] keep what they hold
//!   from being shown.
//!
//! Reading and writing keep every document as it is, byte for byte, if it was written the way Go writes. Keys
//! that nobody knows are tolerated and listed; keys that are there twice, or in another case, are refused.
//!
//! This crate is pure: no I/O, no clock, and nothing of Kubernetes.
#![allow(clippy::struct_excessive_bools, reason = "the documents have as many switches as they have")]

pub mod audit;
pub mod auth_server;
pub mod authz;
mod checksum;
pub mod header;
mod json;
pub mod middleware;
mod nanoseconds;
pub mod oidc;
pub mod outgoing;
pub mod permission;
pub mod rate_limit;
pub mod remote;
pub mod run_config;
pub mod scaling;
mod secret;
pub mod telemetry;
pub mod tool;
mod transport;
pub mod url;
mod value;
pub mod vmcp;
pub mod webhook;
mod yaml;

pub use checksum::Checksum;
pub use json::{Decoded, Json, Malformed};
pub use nanoseconds::Nanoseconds;
pub use run_config::RunConfig;
pub use secret::{Credential, Guarded, Secret, SecretReference};
pub use thv_value::{DurationError, GoDuration};
pub use transport::{ProxyMode, Transport};
pub use yaml::{MAX_BYTES as MAX_YAML_BYTES, YamlError};
