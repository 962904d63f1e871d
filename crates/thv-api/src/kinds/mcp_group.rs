//! `MCPGroup`: servers that belong together.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object};
use crate::schema::Conditions;
use crate::value::string_enum;

/// A group of servers.
pub type MCPGroup = Object<MCPGroupSpec>;

impl Kind for MCPGroupSpec {
    type Status = MCPGroupStatus;

    const KIND: &'static str = "MCPGroup";
    const PLURAL: &'static str = "mcpgroups";
    const SINGULAR: &'static str = "mcpgroup";
    const SHORT_NAMES: &'static [&'static str] = &["mcpg", "mcpgroup"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Servers", "integer", ".status.serverCount"),
        Column::new("Proxies", "integer", ".status.remoteProxyCount"),
        Column::new("Entries", "integer", ".status.entryCount"),
        Column::new("Phase", "string", ".status.phase"),
        Column::new("Checked", "string", ".status.conditions[?(@.type=='MCPServersChecked')].status"),
        Column::REFERENCED,
        Column::REFERRERS,
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "A group of servers. Servers, remote proxies and entries join it by \
         groupRef; a VirtualMCPServer offers all of them as one.";
}

/// What a group is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPGroupSpec {
    /// What the group is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Who belongs to a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPGroupStatus {
    /// What has been found out about the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Conditions>")]
    pub conditions: Option<Vec<Condition>>,

    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Where the group stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Pending"))]
    pub phase: Option<MCPGroupPhase>,

    /// Names of the `MCPServer`s in the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub servers: Option<Vec<String>>,

    /// How many `MCPServer`s there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_count: Option<i32>,

    /// Names of the `MCPRemoteProxy`s in the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub remote_proxies: Option<Vec<String>>,

    /// How many `MCPRemoteProxy`s there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_proxy_count: Option<i32>,

    /// Names of the `MCPServerEntry`s in the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub entries: Option<Vec<String>>,

    /// How many `MCPServerEntry`s there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_count: Option<i32>,
}

string_enum! {
    /// Where a group stands.
    pub enum MCPGroupPhase {
        /// The members are known.
        Ready = "Ready",
        /// The members have not been looked up yet.
        Pending = "Pending",
        /// The members could not be looked up.
        Failed = "Failed",
    }
    default Pending
}
