//! The cases, one a kind.

use serde_json::json;

use super::another;
use crate::operator::Program;
use crate::operator::rules::STRANGERS;
use crate::operator::rules::case::{Case, Effects, edits, is_observed};

/// What follows from every edit: those who refer to the object learn from its digest that there is something new.
const NEW_DIGEST: &[&str] = &["status.configHash"];

/// What follows from an edit that is not valid: it is told, and the digest stays that of what was valid last.
const INVALID: &[&str] = &[
    "status.conditions[Valid].message",
    "status.conditions[Valid].reason",
    "status.conditions[Valid].status",
];

/// Why a type cannot be changed alone.
const FIELD_OF_TYPE: &str = "the schema wants the field that belongs to the type";

/// What the kinds have in common.
const CONFIGURATION: Case = Case {
    program: Program::Shipped,
    kind: "",
    example: "",
    name: "",
    more: "",
    shared: "",
    minimal: || json!({}),
    companions: |_| Vec::new(),
    children: Vec::new,
    workloads: 0,
    strangers: STRANGERS,
    is_converged: is_observed,
    pulse: None,
    refer_to_secret: None,

    near: Effects::Alike { all: NEW_DIGEST, but: &[] },
    far: "",
    references: &[],
    another,
    far_another: edits::far_another,
    refused: &[],

    left: &[],
    theirs: || json!({}),
    edit: || json!({}),
    change: || json!({}),
    stays: &[],
};

pub(crate) const MCP_TOOL_CONFIG: Case = Case {
    kind: "MCPToolConfig",
    example: include_str!("tool.yaml"),
    name: "choice",
    minimal: || json!({"toolsFilter": ["fetch"]}),
    left: &["toolsOverride"],
    theirs: || json!({"toolsOverride": {"search": {"name": "find"}}}),
    edit: || json!({"spec": {"toolsFilter": ["search"]}}),
    change: || json!({"spec": {"toolsFilter": ["search"], "toolsOverride": null}}),
    ..CONFIGURATION
};

pub(crate) const MCP_OIDC_CONFIG: Case = Case {
    kind: "MCPOIDCConfig",
    example: include_str!("oidc.yaml"),
    name: "login",
    more: include_str!("more-oidc.yaml"),
    minimal: || json!({"type": "inline", "inline": {"issuer": "https://login.example.com"}}),
    near: Effects::Alike {
        all: NEW_DIGEST,
        but: &[(
            "login /inline/protectedResourceAllowPrivateIP",
            &["status.configHash", "status.conditions[Valid].message"],
        )],
    },
    refused: &[("/type", FIELD_OF_TYPE)],
    theirs: || json!({"inline": {"clientId": "theirs"}}),
    edit: || json!({"spec": {"inline": {"issuer": "https://other.example.com"}}}),
    change: || json!({"spec": {"inline": {"issuer": "https://other.example.com", "jwksUrl": null}}}),
    ..CONFIGURATION
};

pub(crate) const MCP_TELEMETRY_CONFIG: Case = Case {
    kind: "MCPTelemetryConfig",
    example: include_str!("telemetry.yaml"),
    name: "collector",
    minimal: || json!({"prometheus": {"enabled": true}}),
    near: Effects::Alike {
        all: NEW_DIGEST,
        // There are certificate authorities to trust as well.
        but: &[("collector /openTelemetry/insecure", INVALID)],
    },
    left: &["prometheus"],
    theirs: || json!({"prometheus": {"enabled": false}}),
    edit: || json!({"spec": {"openTelemetry": {"endpoint": "https://other.example.com:4318"}}}),
    change: || json!({"spec": {"openTelemetry": {"headers": null}, "prometheus": null}}),
    ..CONFIGURATION
};

pub(crate) const MCP_AUTHZ_CONFIG: Case = Case {
    kind: "MCPAuthzConfig",
    example: include_str!("authz.yaml"),
    name: "law",
    more: include_str!("more-authz.yaml"),
    minimal: || json!({"type": "cedarv1", "config": {"policies": ["permit(principal, action, resource);"]}}),
    near: Effects::Alike {
        all: NEW_DIGEST,
        // What is written is for the other one.
        but: &[("law /type", INVALID), ("judge /type", INVALID)],
    },
    theirs: || json!({"config": {"group_claim_name": "theirs"}}),
    edit: || json!({"spec": {"config": {"role_claim_name": "other"}}}),
    change: || json!({"spec": {"config": {"role_claim_name": "other", "multi_valued_claims": null}}}),
    ..CONFIGURATION
};

pub(crate) const MCP_WEBHOOK_CONFIG: Case = Case {
    kind: "MCPWebhookConfig",
    example: include_str!("webhook.yaml"),
    name: "callback",
    minimal: || json!({"validating": [{"name": "check", "url": "https://hooks.example.com/check"}]}),
    left: &["mutating"],
    theirs: || json!({"mutating": [{"name": "theirs", "url": "https://theirs.example.com"}]}),
    edit: || json!({"spec": {"validating": [{"name": "other", "url": "https://hooks.example.com/check"}]}}),
    change: || {
        json!({"spec": {
            "validating": [{"name": "other", "url": "https://hooks.example.com/check"}], "mutating": null,
        }})
    },
    ..CONFIGURATION
};

pub(crate) const MCP_EXTERNAL_AUTH_CONFIG: Case = Case {
    kind: "MCPExternalAuthConfig",
    example: include_str!("external-auth.yaml"),
    name: "swap",
    more: include_str!("more-external-auth.yaml"),
    shared: include_str!("../../../../../../crates/thv-plan/tests/examples/more.yaml"),
    minimal: || json!({"type": "unauthenticated"}),
    near: Effects::Alike {
        all: NEW_DIGEST,
        but: &[
            // This build cannot do it, whatever it says.
            ("on-behalf /obo", &[]),
            // They do not say who the user is, which is told with their names.
            ("registered /embeddedAuthServer/upstreamProviders/0/name", UNNAMED),
            ("discovering /embeddedAuthServer/upstreamProviders/0/name", UNNAMED),
        ],
    },
    refused: &[
        ("/type", FIELD_OF_TYPE),
        ("/embeddedAuthServer/upstreamProviders/0/type", FIELD_OF_TYPE),
        ("cross /xaa/subjectTokenType", "the schema knows one type"),
        (
            "sign-in /embeddedAuthServer/allowConfidentialClientRegistration",
            "the schema wants it where redirect URIs are forced to be confidential",
        ),
        (
            "sign-in /embeddedAuthServer/insecureAllowHTTP",
            "the schema wants it off where clients are confidential",
        ),
    ],
    theirs: || json!({"tokenExchange": {"clientId": "theirs"}}),
    edit: || json!({"spec": {"tokenExchange": {"audience": "other"}}}),
    change: || json!({"spec": {"tokenExchange": {"audience": "other", "scopes": null}}}),
    ..CONFIGURATION
};

/// What follows from an edit after which a composite tool cannot be used.
const UNUSABLE: &[&str] = &[
    "status.conditions[Ready].message",
    "status.conditions[Ready].reason",
    "status.conditions[Ready].status",
    "status.conditions[WorkflowValidated].message",
    "status.conditions[WorkflowValidated].reason",
    "status.conditions[WorkflowValidated].status",
    "status.validationErrors",
    "status.validationStatus",
];

/// What follows from an edit after which something in a composite tool has no effect.
const NOTED: &[&str] = &["status.conditions[WorkflowValidated].message"];

pub(crate) const COMPOSITE_TOOL: Case = Case {
    kind: "VirtualMCPCompositeToolDefinition",
    example: include_str!("composite-tool.yaml"),
    name: "triage",
    minimal: || json!({"name": "tool", "description": "d", "steps": [{"id": "a", "type": "tool", "tool": "one"}]}),
    near: Effects::Alike {
        all: &[],
        but: &[
            // Tools take their arguments by name.
            ("triage /parameters/type", UNUSABLE),
            // A step of another type needs other fields.
            ("triage /steps/0/type", UNUSABLE),
            ("triage /steps/1/type", UNUSABLE),
            ("triage /steps/2/type", UNUSABLE),
            // Other steps, templates and the output name these.
            ("triage /steps/0/id", UNUSABLE),
            ("triage /steps/1/dependsOn/0", UNUSABLE),
            ("triage /steps/2/itemVar", UNUSABLE),
            ("triage /output/required/0", UNUSABLE),
            // It has properties of its own.
            ("triage /output/properties/told/type", UNUSABLE),
            // There are settings for attempts that are not made then, and a default that is no number.
            ("triage /steps/0/onError/action", NOTED),
            ("triage /output/properties/title/type", NOTED),
        ],
    },
    left: &["annotations"],
    theirs: || json!({"annotations": {"title": "theirs"}}),
    edit: || json!({"spec": {"timeout": "3m"}}),
    change: || json!({"spec": {"timeout": "3m", "annotations": null}}),
    ..CONFIGURATION
};

/// What follows from another name of a provider that does not say who the user is.
const UNNAMED: &[&str] = &["status.configHash", "status.conditions[IdentitySynthesized].message"];

pub(crate) const MCP_GROUP: Case = Case {
    kind: "MCPGroup",
    example: include_str!("group.yaml"),
    name: "team",
    // What a group is for is for people to read.
    near: Effects::Alike { all: &[], but: &[] },
    left: &["description"],
    theirs: || json!({"description": "theirs"}),
    // It has no other field.
    edit: || json!({"metadata": {"labels": {"edited": "1"}}}),
    change: || json!({"spec": {"description": "something else"}}),
    ..CONFIGURATION
};
