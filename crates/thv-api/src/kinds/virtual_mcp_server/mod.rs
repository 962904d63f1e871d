//! `VirtualMCPServer`: all servers of a group as one.

mod auth;
mod config;
mod config_incoming;
mod config_operation;
mod config_outgoing;
mod config_tools;
mod spec;
mod status;

pub use auth::{
    BackendAuth, BackendAuthType, IncomingAuth, IncomingAuthType, OutgoingAuth, OutgoingAuthSource,
};
pub use config::{CompositeToolRef, ConfigSessionStorage, StaticBackend, StaticBackendType, VmcpConfig};
pub use config_incoming::{ConfigAuthz, ConfigIncomingAuth, ConfigOidc};
pub use config_operation::{
    CircuitBreaker, ConfigAudit, ConfigTelemetry, FailureHandling, LogLevel, Operational, PartialFailureMode,
    Timeouts,
};
pub use config_outgoing::{
    AuthStrategy, AwsStsStrategy, ConfigOutgoingAuth, CrossAppAccessStrategy, HeaderInjectionStrategy,
    OnBehalfOfStrategy, RoleMappingStrategy, TokenExchangeStrategy, UpstreamInjectStrategy,
};
pub use config_tools::{
    Aggregation, CodeMode, ConflictResolution, ConflictResolutionConfig, EmbeddingProvider, Optimizer,
    ToolVisibility, WorkloadTools,
};
pub use spec::{ServiceType, VirtualMCPServer, VirtualMCPServerSpec};
pub use status::{CircuitBreakerState, DiscoveredBackend, VirtualMCPServerPhase, VirtualMCPServerStatus};
