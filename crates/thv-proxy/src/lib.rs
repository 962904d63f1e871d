//! The proxy in front of one MCP server.
