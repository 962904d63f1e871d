//! `MCPServer`: an MCP server in the cluster, behind a proxy.

mod spec;
mod status;

pub use spec::{
    HostVolume, MCPServer, MCPServerSpec, PermissionProfile, PermissionProfileType, SecretEnv, Transport,
};
pub use status::{MCPServerPhase, MCPServerStatus};
