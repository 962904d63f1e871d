//! `MCPServerEntry`: a remote server that needs no proxy.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object};
use crate::pattern::HTTP_URL;
use crate::schema::Conditions;
use crate::shared::{CABundleSource, ExternalAuthConfigRef, GroupRef, HeaderForward, HttpTransport};
use crate::value::string_enum;

/// A remote MCP server as a member of a group.
pub type MCPServerEntry = Object<MCPServerEntrySpec>;

impl Kind for MCPServerEntrySpec {
    type Status = MCPServerEntryStatus;

    const KIND: &'static str = "MCPServerEntry";
    const PLURAL: &'static str = "mcpserverentries";
    const SINGULAR: &'static str = "mcpserverentry";
    const SHORT_NAMES: &'static [&'static str] = &["mcpentry"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Phase", "string", ".status.phase"),
        Column::new("Transport", "string", ".spec.transport"),
        Column::new("Remote URL", "string", ".spec.remoteUrl"),
        Column::new("Group", "string", ".spec.groupRef.name"),
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "A remote MCP server as a member of a group. Nothing is deployed for \
         it; a VirtualMCPServer calls it directly.";
}

/// How to reach a remote server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPServerEntrySpec {
    /// URL of the remote server.
    #[schemars(regex(pattern = HTTP_URL))]
    pub remote_url: String,

    /// Whether the URL may have a private address. Link-local and loopback addresses are never allowed.
    #[serde(default)]
    pub allow_private_endpoint: bool,

    /// Transport that the remote server speaks.
    pub transport: HttpTransport,

    /// Group that the server belongs to.
    pub group_ref: GroupRef,

    /// How to sign in to the remote server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_auth_config_ref: Option<ExternalAuthConfigRef>,

    /// Headers to add to every request to the remote server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_forward: Option<HeaderForward>,

    /// Certificate authorities to trust when talking to the remote server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_bundle_ref: Option<CABundleSource>,
}

/// What is known about an entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPServerEntryStatus {
    /// What has been found out about the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,

    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Whether the entry can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Pending"))]
    pub phase: Option<MCPServerEntryPhase>,
}

string_enum! {
    /// Whether an entry can be used.
    pub enum MCPServerEntryPhase {
        /// All that it refers to is there.
        Valid = "Valid",
        /// It has not been checked yet.
        Pending = "Pending",
        /// It cannot be used; see the conditions.
        Failed = "Failed",
    }
    default Pending
}
