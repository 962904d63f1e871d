//! What the specs of kinds with a proxy say alike.

use thv_api::kinds::{PermissionProfile, SecretEnv};
use thv_api::shared::{
    AuditConfig, AuthServerRef, AuthzConfig, AuthzConfigRef, ExternalAuthConfigRef, GroupRef, HeaderForward,
    OIDCConfigRef, ResourceOverrides, ResourceRequirements, SessionAffinity, SessionStorage,
    TelemetryConfigRef, ToolConfigRef, WebhookConfigRef,
};
use thv_api::value::{Port, RawObject};

/// What a spec says of its proxy, and everything that it can refer to. What a kind does not have is absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProxySpec<'a> {
    pub(crate) proxy_port: Port,
    pub(crate) resources: Option<&'a ResourceRequirements>,
    pub(crate) pod_template_spec: Option<&'a RawObject>,
    pub(crate) resource_overrides: Option<&'a ResourceOverrides>,
    pub(crate) session_affinity: SessionAffinity,
    pub(crate) session_storage: Option<&'a SessionStorage>,
    pub(crate) audit: Option<&'a AuditConfig>,
    pub(crate) trust_proxy_headers: bool,
    pub(crate) endpoint_prefix: Option<&'a str>,
    pub(crate) group_ref: Option<&'a GroupRef>,
    pub(crate) oidc_config_ref: Option<&'a OIDCConfigRef>,
    pub(crate) authz_config: Option<&'a AuthzConfig>,
    pub(crate) authz_config_ref: Option<&'a AuthzConfigRef>,
    pub(crate) tool_config_ref: Option<&'a ToolConfigRef>,
    pub(crate) telemetry_config_ref: Option<&'a TelemetryConfigRef>,
    pub(crate) external_auth_config_ref: Option<&'a ExternalAuthConfigRef>,
    pub(crate) auth_server_ref: Option<&'a AuthServerRef>,
    pub(crate) webhook_config_ref: Option<&'a WebhookConfigRef>,
    pub(crate) permission_profile: Option<&'a PermissionProfile>,
    pub(crate) secrets: Option<&'a [SecretEnv]>,
    pub(crate) header_forward: Option<&'a HeaderForward>,
}
