//! Which objects of the examples refer to which others. The tests against an API server use the same list.

/// An object that another one refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// The name of the object that refers.
    pub(crate) owner: &'static str,
    /// Where it names the other one.
    pub(crate) place: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
}

impl Reference {
    /// How a leaf of the object is called on the list.
    pub(crate) fn title(&self, leaf: &str) -> String {
        format!("{} {} {leaf}", self.kind, self.name)
    }
}

const fn refers(
    owner: &'static str,
    place: &'static str,
    kind: &'static str,
    name: &'static str,
) -> Reference {
    Reference { owner, place, kind, name }
}

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
