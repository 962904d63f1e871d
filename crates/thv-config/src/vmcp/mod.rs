//! What a virtual MCP server runs by: `config.yaml`, and `authserver-config.yaml` beside it.
//!
//! [`VmcpConfig`] is both files as one value: [`VmcpConfig::to_files`] writes them, [`VmcpConfig::parse`]
//! reads them, and both call [`VmcpConfig::validate`] first. [`VmcpConfig::normalise`] fills in what may be
//! left out.

mod aggregation;
mod composite;
mod document;
mod duration;
mod free_form;
mod incoming;
mod operational;
mod outgoing;
mod problem;
mod read;
mod refill;
mod rules;
mod search;
mod storage;
mod strategy;
mod write;

pub use aggregation::{
    Aggregation, ConflictResolution, ConflictResolutionConfig, ToolAnnotations, ToolOverride, ToolVisibility,
    WorkloadTools,
};
pub use composite::{
    CompositeTool, ElicitationAction, ElicitationHandling, Output, OutputProperty, OutputType, Step,
    StepErrorAction, StepErrorHandling, StepType,
};
pub use document::{Backend, BackendTransport, BackendType, CompositeToolRef, VmcpConfig};
pub use duration::CanonicalDuration;
pub use free_form::FreeForm;
pub use incoming::{Authz, AuthzType, Callers, IncomingAuth, IncomingOidc};
pub use operational::{CircuitBreaker, FailureHandling, LogLevel, Operational, PartialFailureMode, Timeouts};
pub use outgoing::{AuthSource, AuthStrategy, OutgoingAuth};
pub use problem::{Invalid, Problem};
pub use read::{ParseError, ReadError};
pub use search::{CodeMode, EmbeddingProvider, Optimizer};
pub use storage::{SessionProvider, SessionStorage};
pub use strategy::{
    AwsSts, CrossAppAccess, HeaderInjection, OnBehalfOf, RoleMapping, TokenExchange, UpstreamInject,
};
pub use write::{Files, WriteError};
