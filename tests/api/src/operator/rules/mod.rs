//! The rules for everything that has children, each written once for whatever kind it is given.
//!
//! A kind is a [`Case`]: what an object of it looks like and what it lives among. A new kind gets a file such as
//! `mcp_server`, with its case and a line for each rule, and a place in [`CASES`].

mod case;
mod crash;
mod fixed_point;
mod foreign;
mod lane;
mod mcp_server;
mod memo;
mod quiet;
mod single_edit;
mod withdrawal;
mod world;

pub(super) use case::{Case, api_of};
pub(super) use lane::set;

/// Every kind that has children.
pub(super) const CASES: [&Case; 2] = [&mcp_server::MCP_SERVER, &memo::MEMO];
