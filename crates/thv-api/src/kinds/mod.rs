//! The kinds, one module each.

mod composite_tool;
mod embedding_server;
mod mcp_authz_config;
mod mcp_external_auth_config;
mod mcp_group;
mod mcp_oidc_config;
mod mcp_registry;
mod mcp_remote_proxy;
mod mcp_server;
mod mcp_server_entry;
mod mcp_telemetry_config;
mod mcp_tool_config;
mod mcp_webhook_config;
mod virtual_mcp_server;

pub use composite_tool::{
    ElicitationAction, ElicitationHandling, OutputProperty, OutputType, StepErrorAction, StepErrorHandling,
    StepType, ValidationStatus, VirtualMCPCompositeToolDefinition, VirtualMCPCompositeToolDefinitionSpec,
    VirtualMCPCompositeToolDefinitionStatus, WorkflowOutput, WorkflowStep,
};
pub use embedding_server::{
    EmbeddingResourceOverrides, EmbeddingServer, EmbeddingServerPhase, EmbeddingServerSpec,
    EmbeddingServerStatus, ImagePullPolicy, ModelCache, StatefulSetOverrides, VolumeAccessMode,
};
pub use mcp_authz_config::{MCPAuthzConfig, MCPAuthzConfigSpec};
pub use mcp_external_auth_config::{
    AwsRoleMapping, AwsSts, BearerToken, CrossAppAccess, ExternalAuthType, HeaderInjection,
    MCPExternalAuthConfig, MCPExternalAuthConfigSpec, OnBehalfOf, TokenExchange, UpstreamInject,
    XaaSubjectTokenType,
};
pub use mcp_group::{MCPGroup, MCPGroupPhase, MCPGroupSpec, MCPGroupStatus};
pub use mcp_oidc_config::{
    InlineOIDC, KubernetesServiceAccountOIDC, MCPOIDCConfig, MCPOIDCConfigSpec, OIDCSource,
};
pub use mcp_registry::{MCPRegistry, MCPRegistryPhase, MCPRegistrySpec, MCPRegistryStatus};
pub use mcp_remote_proxy::{MCPRemoteProxy, MCPRemoteProxyPhase, MCPRemoteProxySpec, MCPRemoteProxyStatus};
pub use mcp_server::{
    HostVolume, MCPServer, MCPServerPhase, MCPServerSpec, MCPServerStatus, PermissionProfile,
    PermissionProfileType, SecretEnv, Transport,
};
pub use mcp_server_entry::{MCPServerEntry, MCPServerEntryPhase, MCPServerEntrySpec, MCPServerEntryStatus};
pub use mcp_telemetry_config::{
    MCPTelemetryConfig, MCPTelemetryConfigSpec, MetricsConfig, OpenTelemetry, PrometheusConfig,
    SensitiveHeader, TracingConfig,
};
pub use mcp_tool_config::{MCPToolConfig, MCPToolConfigSpec};
pub use mcp_webhook_config::{
    MCPWebhookConfig, MCPWebhookConfigSpec, Webhook, WebhookFailurePolicy, WebhookTls,
};
pub use virtual_mcp_server::{
    Aggregation, AuthStrategy, AwsStsStrategy, BackendAuth, BackendAuthType, CircuitBreaker,
    CircuitBreakerState, CodeMode, CompositeToolRef, ConfigAudit, ConfigAuthz, ConfigIncomingAuth,
    ConfigOidc, ConfigOutgoingAuth, ConfigSessionStorage, ConfigTelemetry, ConflictResolution,
    ConflictResolutionConfig, CrossAppAccessStrategy, DiscoveredBackend, EmbeddingProvider, FailureHandling,
    HeaderInjectionStrategy, IncomingAuth, IncomingAuthType, LogLevel, OnBehalfOfStrategy, Operational,
    Optimizer, OutgoingAuth, OutgoingAuthSource, PartialFailureMode, RoleMappingStrategy, ServiceType,
    StaticBackend, StaticBackendType, Timeouts, TokenExchangeStrategy, ToolVisibility,
    UpstreamInjectStrategy, VirtualMCPServer, VirtualMCPServerPhase, VirtualMCPServerSpec,
    VirtualMCPServerStatus, VmcpConfig, WorkloadTools,
};
