//! MCP servers and clients made with the official SDKs, and tests that have them talk through the proxy.
#![cfg_attr(
    test,
    allow(clippy::large_futures, reason = "a test is one future, which is made once and never moved")
)]

pub mod server;

#[cfg(test)]
mod clients;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod place;
