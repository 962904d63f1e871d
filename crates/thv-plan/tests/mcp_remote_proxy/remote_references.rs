//! Which objects of the examples remote proxies refer to. The tests against an API server use the same list.

use super::reference::{Reference, refers};

/// Everything that a remote proxy can refer to and that has leaves which matter.
pub(crate) const REMOTE_REFERENCES: &[Reference] = &[
    refers("saas", "/spec/oidcConfigRef/name", "MCPOIDCConfig", "far-oidc"),
    refers("saas", "/spec/telemetryConfigRef/name", "MCPTelemetryConfig", "far-otel"),
    refers("saas", "/spec/toolConfigRef/name", "MCPToolConfig", "far-choice"),
    refers("saas", "/spec/externalAuthConfigRef/name", "MCPExternalAuthConfig", "far-sts"),
    refers("signed", "/spec/externalAuthConfigRef/name", "MCPExternalAuthConfig", "far-exchange"),
    refers("signed", "/spec/authServerRef/name", "MCPExternalAuthConfig", "far-sign-in"),
    refers("signed", "/spec/authzConfigRef/name", "MCPAuthzConfig", "far-rules"),
];
