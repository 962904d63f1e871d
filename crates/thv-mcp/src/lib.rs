//! The messages of MCP.
