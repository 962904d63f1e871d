//! Which objects of the examples refer to which others. The tests against an API server use the same list.

use super::reference::{Reference, refers};

/// Everything that a server can refer to and that has leaves which matter.
pub(crate) const REFERENCES: &[Reference] = &[
    refers("web", "/spec/oidcConfigRef/name", "MCPOIDCConfig", "corp-oidc"),
    refers("web", "/spec/telemetryConfigRef/name", "MCPTelemetryConfig", "otel"),
    refers("web", "/spec/toolConfigRef/name", "MCPToolConfig", "few-tools"),
    refers("web", "/spec/externalAuthConfigRef/name", "MCPExternalAuthConfig", "exchange"),
    refers("web", "/spec/webhookConfigRef/name", "MCPWebhookConfig", "hooks"),
    refers("ruled", "/spec/authzConfigRef/name", "MCPAuthzConfig", "rules"),
    refers("refereed", "/spec/authzConfigRef/name", "MCPAuthzConfig", "referee"),
    refers("ruled", "/spec/authServerRef/name", "MCPExternalAuthConfig", "sign-in"),
    refers("refereed", "/spec/authServerRef/name", "MCPExternalAuthConfig", "registering"),
    refers("known", "/spec/authServerRef/name", "MCPExternalAuthConfig", "registered"),
    refers("discovered", "/spec/authServerRef/name", "MCPExternalAuthConfig", "discovering"),
];
