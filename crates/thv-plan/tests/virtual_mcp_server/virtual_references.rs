//! Which objects the virtual servers of the examples refer to. The tests against an API server use the same list.

use super::reference::{Reference, refers};

/// Everything that a virtual server can refer to and that has leaves which matter. A member names the group where the server
/// does.
pub(crate) const REFERENCES: &[Reference] = &[
    refers("hub", "/spec/incomingAuth/oidcConfigRef/name", "MCPOIDCConfig", "crew-oidc"),
    refers("hub", "/spec/telemetryConfigRef/name", "MCPTelemetryConfig", "crew-otel"),
    refers("hub", "/spec/config/aggregation/tools/1/toolConfigRef/name", "MCPToolConfig", "crew-choice"),
    refers("hub", "/spec/config/compositeToolRefs/0/name", "VirtualMCPCompositeToolDefinition", "crew-brief"),
    refers(
        "hub",
        "/spec/outgoingAuth/default/externalAuthConfigRef/name",
        "MCPExternalAuthConfig",
        "crew-exchange",
    ),
    refers(
        "hub",
        "/spec/outgoingAuth/backends/crew-front/externalAuthConfigRef/name",
        "MCPExternalAuthConfig",
        "crew-key",
    ),
    refers("hub", "/spec/groupRef/name", "MCPServer", "crew-web"),
    refers("hub", "/spec/groupRef/name", "MCPRemoteProxy", "crew-far"),
    refers("hub", "/spec/groupRef/name", "MCPServerEntry", "crew-ctx"),
    refers("rooms", "/spec/incomingAuth/authzConfigRef/name", "MCPAuthzConfig", "crew-law"),
    refers(
        "gate",
        "/spec/outgoingAuth/default/externalAuthConfigRef/name",
        "MCPExternalAuthConfig",
        "crew-inject",
    ),
    refers(
        "gate",
        "/spec/outgoingAuth/backends/crew-front/externalAuthConfigRef/name",
        "MCPExternalAuthConfig",
        "crew-cross",
    ),
];
