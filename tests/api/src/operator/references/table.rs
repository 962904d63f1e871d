//! Who can refer to what.

use serde_json::{Value, json};
use thv_api::names::finalizers;

use super::{server, with};

/// Makes a spec, or a part of one.
type Spec = fn() -> Value;
/// What a spec has besides what it needs when it refers to the object of a name, and what takes that back.
type Link = (fn(&str) -> Value, Spec);

/// A kind that others refer to.
#[derive(Clone, Copy)]
pub(super) struct Referent {
    pub(super) kind: &'static str,
    pub(super) spec: Spec,
    /// What the Go operator holds an object of it by. That which keeps it is the same.
    pub(super) finalizer: Option<&'static str>,
}

impl Referent {
    pub(super) fn is_group(self) -> bool {
        self.kind == GROUP.kind
    }

    /// Whether an object of it stays while somebody refers to it.
    pub(super) fn is_kept(self) -> bool {
        ![COMPOSITE_TOOL.kind, GROUP.kind].contains(&self.kind)
    }
}

const AUTHZ: Referent = Referent {
    kind: "MCPAuthzConfig",
    spec: || json!({"type": "cedarv1", "config": {"policies": ["permit(principal, action, resource);"]}}),
    finalizer: Some(finalizers::MCP_AUTHZ_CONFIG),
};

const AUTH: Referent = Referent {
    kind: "MCPExternalAuthConfig",
    spec: || {
        let exchange = json!({"tokenUrl": "https://login.example.com/token", "audience": "one"});
        json!({"type": "tokenExchange", "tokenExchange": exchange})
    },
    finalizer: Some(finalizers::MCP_EXTERNAL_AUTH_CONFIG),
};

const AUTH_SERVER: Referent = Referent {
    spec: || {
        let provider = json!({"issuerUrl": "https://idp.example.com", "clientId": "c"});
        json!({"type": "embeddedAuthServer", "embeddedAuthServer": {
            "issuer": "https://auth.example.com",
            "upstreamProviders": [{"name": "main", "type": "oidc", "oidcConfig": provider}],
        }})
    },
    ..AUTH
};

const COMPOSITE_TOOL: Referent = Referent {
    kind: "VirtualMCPCompositeToolDefinition",
    spec: || json!({"name": "tool", "description": "d", "steps": [{"id": "a", "type": "tool", "tool": "one"}]}),
    finalizer: None,
};

const GROUP: Referent =
    Referent { kind: "MCPGroup", spec: || json!({}), finalizer: Some(finalizers::MCP_GROUP) };

const OIDC: Referent = Referent {
    kind: "MCPOIDCConfig",
    spec: || json!({"type": "inline", "inline": {"issuer": "https://login.example.com"}}),
    finalizer: Some(finalizers::MCP_OIDC_CONFIG),
};

const TELEMETRY: Referent = Referent {
    kind: "MCPTelemetryConfig",
    spec: || json!({"openTelemetry": {"enabled": true, "endpoint": "one:4318", "tracing": {"enabled": true}}}),
    finalizer: Some(finalizers::MCP_TELEMETRY_CONFIG),
};

const TOOLS: Referent = Referent {
    kind: "MCPToolConfig",
    spec: || json!({"toolsFilter": ["one"]}),
    finalizer: Some(finalizers::MCP_TOOL_CONFIG),
};

const WEBHOOKS: Referent = Referent {
    kind: "MCPWebhookConfig",
    spec: || json!({"validating": [{"name": "w", "url": "https://hook.example.com"}]}),
    finalizer: Some(finalizers::MCP_WEBHOOK_CONFIG),
};

/// Every kind that others refer to.
pub(super) const REFERENTS: [Referent; 8] =
    [AUTHZ, AUTH, COMPOSITE_TOOL, GROUP, OIDC, TELEMETRY, TOOLS, WEBHOOKS];

/// Somebody who refers to something.
pub(super) struct Pair {
    pub(super) referrer: &'static str,
    link: Link,
    pub(super) referent: Referent,
    /// For those whose children show it: an edit of the other object, and where it is seen in the configuration.
    pub(super) edit: Option<Edit>,
}

/// An edit, and where it is seen.
#[derive(Clone, Copy)]
pub(super) struct Edit {
    pub(super) spec: Spec,
    pub(super) places: &'static [&'static str],
}

impl Edit {
    /// The same edit, seen elsewhere.
    const fn at(self, places: &'static [&'static str]) -> Self {
        Self { spec: self.spec, places }
    }
}

impl Pair {
    const fn new(referrer: &'static str, link: Link, referent: Referent) -> Self {
        Self { referrer, link, referent, edit: None }
    }

    const fn seen(mut self, edit: Edit) -> Self {
        self.edit = Some(edit);
        self
    }

    /// The spec of an object that refers to `name`.
    pub(super) fn referrer_spec(&self, name: &str) -> Value {
        let remote = json!({"remoteUrl": "https://mcp.example.com"});
        let elsewhere = json!({"groupRef": {"name": "elsewhere"}});
        let needed = match self.referrer {
            "MCPServer" => server(json!({})),
            "MCPRemoteProxy" => remote,
            "MCPServerEntry" => with(with(remote, &elsewhere), &json!({"transport": "streamable-http"})),
            _ => with(elsewhere, &json!({"incomingAuth": {"type": "anonymous"}})),
        };
        with(needed, &(self.link.0)(name))
    }

    /// The ConfigMap with the configuration of a referrer of this name, and the file in it.
    pub(super) fn config(&self, name: &str) -> (String, &'static str) {
        match self.referrer {
            "VirtualMCPServer" => (format!("{name}-vmcp-config"), "config.yaml"),
            _ => (format!("{name}-runconfig"), "runconfig.json"),
        }
    }

    /// What takes the reference back.
    pub(super) fn forget(&self) -> Value {
        (self.link.1)()
    }
}

/// A reference in a field of its own.
macro_rules! field {
    ($field:literal) => {
        (|name| json!({$field: {"name": name}}), || json!({$field: null}))
    };
}

const OIDC_REF: Link =
    (|name| json!({"oidcConfigRef": {"name": name, "audience": "a"}}), || json!({"oidcConfigRef": null}));
const AUTH_SERVER_REF: Link = (
    |name| json!({"authServerRef": {"kind": "MCPExternalAuthConfig", "name": name}}),
    || json!({"authServerRef": null}),
);
const OTHER_GROUP: Link =
    (|name| json!({"groupRef": {"name": name}}), || json!({"groupRef": {"name": "elsewhere"}}));

/// What an edit of each kind changes in the configuration of a proxy that refers to it.
const TOOLS_EDIT: Edit = Edit {
    spec: || json!({"toolsFilter": ["two"]}),
    places: &[
        "tools_filter[0]",
        "middleware_configs[tool-filter].parameters.filter_tools[0]",
        "middleware_configs[tool-call-filter].parameters.filter_tools[0]",
    ],
};
const OIDC_EDIT: Edit = Edit {
    spec: || json!({"inline": {"clientId": "two"}}),
    places: &["oidc_config.ClientID", "middleware_configs[auth].parameters.oidc_config.ClientID"],
};
const TELEMETRY_EDIT: Edit = Edit {
    spec: || json!({"openTelemetry": {"endpoint": "two:4318"}}),
    places: &["telemetry_config.endpoint", "middleware_configs[telemetry].parameters.config.endpoint"],
};
const AUTHZ_EDIT: Edit = Edit {
    spec: || json!({"config": {"role_claim_name": "two"}}),
    places: &[
        "authz_config.cedar.role_claim_name",
        "middleware_configs[authorization].parameters.config_data.cedar.role_claim_name",
    ],
};
const AUTH_EDIT: Edit = Edit {
    spec: || json!({"tokenExchange": {"audience": "two"}}),
    places: &[
        "token_exchange_config.audience",
        "middleware_configs[tokenexchange].parameters.token_exchange_config.audience",
    ],
};
const WEBHOOKS_EDIT: Edit = Edit {
    spec: || json!({"validating": [{"name": "w", "url": "https://two.example.com"}]}),
    places: &[
        "validating_webhooks[w].url",
        "middleware_configs[validating-webhook].parameters.webhooks[w].url",
    ],
};

/// Every pair.
pub(super) static PAIRS: [Pair; 25] = [
    Pair::new("MCPServer", field!("toolConfigRef"), TOOLS).seen(TOOLS_EDIT),
    Pair::new("MCPServer", OIDC_REF, OIDC).seen(OIDC_EDIT),
    Pair::new("MCPServer", field!("telemetryConfigRef"), TELEMETRY).seen(TELEMETRY_EDIT),
    Pair::new("MCPServer", field!("authzConfigRef"), AUTHZ).seen(AUTHZ_EDIT),
    Pair::new("MCPServer", field!("externalAuthConfigRef"), AUTH).seen(AUTH_EDIT),
    Pair::new("MCPServer", field!("webhookConfigRef"), WEBHOOKS).seen(WEBHOOKS_EDIT),
    Pair::new("MCPServer", AUTH_SERVER_REF, AUTH_SERVER),
    Pair::new("MCPServer", field!("groupRef"), GROUP),
    Pair::new("MCPRemoteProxy", field!("toolConfigRef"), TOOLS).seen(TOOLS_EDIT),
    Pair::new("MCPRemoteProxy", OIDC_REF, OIDC).seen(OIDC_EDIT),
    Pair::new("MCPRemoteProxy", field!("telemetryConfigRef"), TELEMETRY).seen(TELEMETRY_EDIT),
    Pair::new("MCPRemoteProxy", field!("authzConfigRef"), AUTHZ).seen(AUTHZ_EDIT),
    Pair::new("MCPRemoteProxy", field!("externalAuthConfigRef"), AUTH).seen(AUTH_EDIT),
    Pair::new("MCPRemoteProxy", AUTH_SERVER_REF, AUTH_SERVER),
    Pair::new("MCPRemoteProxy", field!("groupRef"), GROUP),
    Pair::new("MCPServerEntry", field!("externalAuthConfigRef"), AUTH),
    Pair::new("MCPServerEntry", OTHER_GROUP, GROUP),
    Pair::new(
        "VirtualMCPServer",
        (
            |name| json!({"config": {"aggregation": {"tools": [{"workload": "w", "toolConfigRef": {"name": name}}]}}}),
            || json!({"config": null}),
        ),
        TOOLS,
    )
    .seen(TOOLS_EDIT.at(&["aggregation.tools[0].filter[0]"])),
    Pair::new(
        "VirtualMCPServer",
        (
            |name| json!({"incomingAuth": {"type": "oidc", "oidcConfigRef": {"name": name, "audience": "a"}}}),
            || json!({"incomingAuth": {"type": "anonymous", "oidcConfigRef": null}}),
        ),
        OIDC,
    )
    .seen(OIDC_EDIT.at(&["incomingAuth.oidc.clientId"])),
    Pair::new(
        "VirtualMCPServer",
        (
            |name| json!({"incomingAuth": {"type": "anonymous", "authzConfigRef": {"name": name}}}),
            || json!({"incomingAuth": {"authzConfigRef": null}}),
        ),
        AUTHZ,
    )
    .seen(AUTHZ_EDIT.at(&["incomingAuth.authz.roleClaimName"])),
    Pair::new("VirtualMCPServer", field!("telemetryConfigRef"), TELEMETRY)
        .seen(TELEMETRY_EDIT.at(&["telemetry.endpoint"])),
    Pair::new(
        "VirtualMCPServer",
        (
            |name| {
                let auth = json!({"type": "externalAuthConfigRef", "externalAuthConfigRef": {"name": name}});
                json!({"outgoingAuth": {"default": auth}})
            },
            || json!({"outgoingAuth": null}),
        ),
        AUTH,
    )
    .seen(AUTH_EDIT.at(&["outgoingAuth.default.tokenExchange.audience"])),
    Pair::new(
        "VirtualMCPServer",
        (
            |name| {
                let auth = json!({"type": "externalAuthConfigRef", "externalAuthConfigRef": {"name": name}});
                json!({"outgoingAuth": {"backends": {"one": auth}}})
            },
            || json!({"outgoingAuth": {"backends": null}}),
        ),
        AUTH,
    )
    .seen(AUTH_EDIT.at(&["outgoingAuth.backends.one.tokenExchange.audience"])),
    Pair::new("VirtualMCPServer", OTHER_GROUP, GROUP),
    Pair::new(
        "VirtualMCPServer",
        (|name| json!({"config": {"compositeToolRefs": [{"name": name}]}}), || json!({"config": null})),
        COMPOSITE_TOOL,
    ),
];
