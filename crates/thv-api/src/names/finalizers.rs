//! Finalizers.

/// Of `MCPServer`.
pub const MCP_SERVER: &str = "mcpserver.toolhive.stacklok.dev/finalizer";
/// Of `MCPToolConfig`.
pub const MCP_TOOL_CONFIG: &str = "toolhive.stacklok.dev/toolconfig-finalizer";
/// Of `MCPExternalAuthConfig`.
pub const MCP_EXTERNAL_AUTH_CONFIG: &str = "mcpexternalauthconfig.toolhive.stacklok.dev/finalizer";
/// Of `MCPOIDCConfig`.
pub const MCP_OIDC_CONFIG: &str = "mcpoidcconfig.toolhive.stacklok.dev/finalizer";
/// Of `MCPTelemetryConfig`.
pub const MCP_TELEMETRY_CONFIG: &str = "mcptelemetryconfig.toolhive.stacklok.dev/finalizer";
/// Of `MCPAuthzConfig`.
pub const MCP_AUTHZ_CONFIG: &str = "mcpauthzconfig.toolhive.stacklok.dev/finalizer";
/// Of `MCPWebhookConfig`.
pub const MCP_WEBHOOK_CONFIG: &str = "mcpwebhookconfig.toolhive.stacklok.dev/finalizer";
/// Of `MCPGroup`.
pub const MCP_GROUP: &str = "toolhive.stacklok.dev/mcpgroup-finalizer";
/// Of `EmbeddingServer`.
pub const EMBEDDING_SERVER: &str = "embeddingserver.toolhive.stacklok.dev/finalizer";
/// Of `MCPRegistry`.
pub const MCP_REGISTRY: &str = "mcpregistry.toolhive.stacklok.dev/finalizer";
