//! The proxy in front of one MCP server.

pub mod http;
pub mod program;
