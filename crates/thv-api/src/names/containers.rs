//! Containers, by which pod templates of users refer to them.

/// The proxy of an `MCPServer` or `MCPRemoteProxy`.
pub const PROXY: &str = "toolhive";
/// The MCP server itself, in the backend of an `MCPServer`.
pub const MCP: &str = "mcp";
/// A `VirtualMCPServer`.
pub const VMCP: &str = "vmcp";
/// An `EmbeddingServer`.
pub const EMBEDDING: &str = "embedding";
/// An `MCPRegistry`.
pub const REGISTRY_API: &str = "registry-api";
/// The container that prepares the password file of an `MCPRegistry`.
pub const SETUP_PGPASS: &str = "setup-pgpass";
