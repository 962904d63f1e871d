//! The rules for everything that is looked after, each written once for whatever kind it is given.
//!
//! A kind is a [`Case`]: what an object of it looks like and what it lives among. A new kind gets a file such as
//! `mcp_server`, with its case and a line for each rule, and a place in [`CASES`].

mod case;
mod configuration;
mod crash;
mod fixed_point;
mod foreign;
mod lane;
mod mcp_remote_proxy;
mod mcp_server;
mod mcp_server_entry;
mod memo;
mod quiet;
mod single_edit;
mod virtual_mcp_server;
mod withdrawal;
mod workloads;
mod world;

pub(super) use case::{Case, api_of, resource_of};
pub(super) use lane::set;

/// Every kind that is looked after.
pub(super) const CASES: [&Case; 15] = [
    &mcp_remote_proxy::MCP_REMOTE_PROXY,
    &mcp_server::MCP_SERVER,
    &mcp_server_entry::MCP_SERVER_ENTRY,
    &configuration::COMPOSITE_TOOL,
    &configuration::MCP_AUTHZ_CONFIG,
    &configuration::MCP_EXTERNAL_AUTH_CONFIG,
    &configuration::MCP_GROUP,
    &configuration::MCP_OIDC_CONFIG,
    &configuration::MCP_TELEMETRY_CONFIG,
    &configuration::MCP_TOOL_CONFIG,
    &configuration::MCP_WEBHOOK_CONFIG,
    &workloads::EMBEDDING_SERVER,
    &workloads::MCP_REGISTRY,
    &virtual_mcp_server::VIRTUAL_MCP_SERVER,
    &memo::MEMO,
];

/// Kinds that the operator watches and that few others have to do with.
const STRANGERS: &[&str] = &[
    "configmaps",
    "depots",
    "deployments",
    "embeddingservers",
    "horizontalpodautoscalers",
    "mcpauthzconfigs",
    "mcpexternalauthconfigs",
    "mcpgroups",
    "mcpoidcconfigs",
    "mcpregistries",
    "mcpremoteproxies",
    "mcpserverentries",
    "mcpservers",
    "mcptelemetryconfigs",
    "mcptoolconfigs",
    "mcpwebhookconfigs",
    "memos",
    "pods",
    "rolebindings",
    "roles",
    "secrets",
    "serviceaccounts",
    "services",
    "statefulsets",
    "virtualmcpcompositetooldefinitions",
    "virtualmcpservers",
];
