//! Sessions of MCP clients.
