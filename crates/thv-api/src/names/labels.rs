//! Labels.

use std::collections::BTreeMap;

/// On a CRD: the operator may rewrite stored objects to the storage version.
pub const AUTO_MIGRATE_STORAGE_VERSION: &str = "toolhive.stacklok.dev/auto-migrate-storage-version";

/// The kind of workload, in short.
pub const APP: &str = "app";
/// The kind of workload.
pub const APP_NAME: &str = "app.kubernetes.io/name";
/// The name of the object that a child belongs to.
pub const APP_INSTANCE: &str = "app.kubernetes.io/instance";
/// The part that a child plays.
pub const APP_COMPONENT: &str = "app.kubernetes.io/component";
/// Who manages a child: [`OPERATOR`].
pub const APP_MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// `true` on everything of ours.
pub const TOOLHIVE: &str = "toolhive";
/// The name of the object that a workload belongs to.
pub const TOOLHIVE_NAME: &str = "toolhive-name";

/// The part that a ConfigMap plays: [`RUN_CONFIG`] or [`VMCP_CONFIG`].
pub const COMPONENT: &str = "toolhive.stacklok.io/component";
/// Who manages a ConfigMap: [`OPERATOR`].
pub const MANAGED_BY: &str = "toolhive.stacklok.io/managed-by";
/// The `MCPServer` that a ConfigMap belongs to.
pub const MCP_SERVER: &str = "toolhive.stacklok.io/mcp-server";
/// The `MCPRemoteProxy` that a ConfigMap belongs to.
pub const MCP_REMOTE_PROXY: &str = "toolhive.stacklok.io/mcp-remote-proxy";
/// The `VirtualMCPServer` that a ConfigMap belongs to.
pub const VIRTUAL_MCP_SERVER: &str = "toolhive.stacklok.io/virtual-mcp-server";
/// The `MCPRegistry` that a child belongs to.
pub const REGISTRY_NAME: &str = "toolhive.stacklok.io/registry-name";
/// On a ConfigMap with authorization rules: [`INLINE`].
pub const AUTHZ: &str = "toolhive.stacklok.io/authz";

/// Value of [`APP_MANAGED_BY`] and [`MANAGED_BY`].
pub const OPERATOR: &str = "toolhive-operator";
/// Value of [`COMPONENT`] on the configuration of a proxy.
pub const RUN_CONFIG: &str = "run-config";
/// Value of [`COMPONENT`] on the configuration of a virtual server.
pub const VMCP_CONFIG: &str = "vmcp-config";
/// Value of [`AUTHZ`].
pub const INLINE: &str = "inline";
/// Value of [`APP_COMPONENT`] on the children of an `EmbeddingServer`.
pub const EMBEDDING_SERVER: &str = "embedding-server";
/// Value of [`APP_COMPONENT`] on the children of an `MCPRegistry`.
pub const REGISTRY_API: &str = "registry-api";
/// Value of [`APP_COMPONENT`] on the Secret that binds the sessions of a virtual server.
pub const SESSION_SECURITY: &str = "session-security";

/// Kinds whose pods carry the labels of [`workload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// The proxy of an `MCPServer`.
    McpServer,
    /// The proxy of an `MCPRemoteProxy`.
    McpRemoteProxy,
    /// A `VirtualMCPServer`.
    VirtualMcpServer,
}

impl Workload {
    /// Value of [`APP`] and [`APP_NAME`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::McpServer => "mcpserver",
            Self::McpRemoteProxy => "mcpremoteproxy",
            Self::VirtualMcpServer => "virtualmcpserver",
        }
    }
}

/// The labels of a Deployment, its pods and its Service. They are the selector too, so they never change.
pub fn workload(kind: Workload, name: &str) -> BTreeMap<String, String> {
    owned([
        (APP, kind.as_str()),
        (APP_NAME, kind.as_str()),
        (APP_INSTANCE, name),
        (TOOLHIVE, "true"),
        (TOOLHIVE_NAME, name),
    ])
}

/// The labels of the children of an `EmbeddingServer`.
pub fn embedding_server(name: &str) -> BTreeMap<String, String> {
    owned([
        (APP_NAME, "embeddingserver"),
        (APP_INSTANCE, name),
        (APP_COMPONENT, EMBEDDING_SERVER),
        (APP_MANAGED_BY, OPERATOR),
    ])
}

/// The labels of a child of an `MCPRegistry`.
pub fn registry(child: &str, registry: &str) -> BTreeMap<String, String> {
    owned([
        (APP_NAME, child),
        (APP_COMPONENT, REGISTRY_API),
        (APP_MANAGED_BY, OPERATOR),
        (REGISTRY_NAME, registry),
    ])
}

/// The labels of the configuration of a proxy or virtual server.
pub fn configuration(kind: Workload, name: &str) -> BTreeMap<String, String> {
    let (component, owner) = match kind {
        Workload::McpServer => (RUN_CONFIG, MCP_SERVER),
        Workload::McpRemoteProxy => (RUN_CONFIG, MCP_REMOTE_PROXY),
        Workload::VirtualMcpServer => (VMCP_CONFIG, VIRTUAL_MCP_SERVER),
    };
    owned([(COMPONENT, component), (owner, name), (MANAGED_BY, OPERATOR)])
}

fn owned<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}
