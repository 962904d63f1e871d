//! Types that several kinds use.

mod audit;
mod authz;
mod overrides;
mod rate_limit;
mod refs;
mod remote;
mod secrets;
mod session;
mod status;
mod tools;

pub use audit::AuditConfig;
pub use authz::{AuthzConfig, AuthzConfigMap, AuthzSource, InlineAuthz};
pub use overrides::{
    EnvVar, MetadataOverrides, ProxyDeploymentOverrides, ResourceList, ResourceOverrides,
    ResourceRequirements,
};
pub use rate_limit::{RateLimitBucket, RateLimiting, ToolRateLimit};
pub use refs::{
    AuthServerKind, AuthServerRef, AuthzConfigRef, EmbeddingServerRef, ExternalAuthConfigRef, GroupRef,
    OIDCConfigRef, TelemetryConfigRef, ToolConfigRef, WebhookConfigRef,
};
pub use remote::{HeaderForward, HttpTransport, SecretHeader};
pub use secrets::{CABundleSource, KeySelector, PullSecretRef, SecretKeyRef};
pub use session::{SessionAffinity, SessionProvider, SessionStorage};
pub use status::ConfigStatus;
pub use tools::{ToolAnnotations, ToolOverride};
