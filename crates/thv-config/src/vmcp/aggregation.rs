//! How the tools of all servers become one list.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use crate::value::{empty_is_none, is_zero};

/// How the tools of all servers become one list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Aggregation {
    /// What to do about tools of the same name.
    pub conflict_resolution: ConflictResolution,

    /// Settings for that. Always written, because Go insists on it.
    pub conflict_resolution_config: ConflictResolutionConfig,

    /// Which tools of single servers to offer, and how.
    #[serde(skip_serializing_if = "is_zero")]
    pub tools: Vec<WorkloadTools>,

    /// Whether all tools are hidden. Composite tools can still use them.
    #[serde(skip_serializing_if = "is_zero")]
    pub exclude_all_tools: bool,

    /// Whether the tools of servers are offered that `tools` does not name. Yes when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub default_tool_visibility: Option<ToolVisibility>,
}

impl Aggregation {
    /// What is put before the name of a tool when the user does not say.
    pub const PREFIX_FORMAT: &str = "{workload}_";

    /// Fills in what may be left out.
    pub(super) fn fill_in(&mut self) {
        let ConflictResolutionConfig { prefix_format, priority_order: _ } =
            &mut self.conflict_resolution_config;
        if self.conflict_resolution == ConflictResolution::Prefix && prefix_format.is_empty() {
            Self::PREFIX_FORMAT.clone_into(prefix_format);
        }
    }
}

string_enum! {
    /// What to do about tools of the same name.
    #[derive(Default)]
    pub enum ConflictResolution {
        /// Put the name of the server before the name of every tool.
        #[default]
        Prefix = "prefix",
        /// The server that comes first in `priorityOrder` has the tool.
        Priority = "priority",
        /// The user gives every tool its own name.
        Manual = "manual",
    }
}

/// Settings for the resolution of conflicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConflictResolutionConfig {
    /// What to put before the name of a tool; `{workload}` stands for the name of the server. For `prefix`.
    #[serde(skip_serializing_if = "is_zero")]
    pub prefix_format: String,

    /// Names of servers, most important first. For `priority`.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority_order: Vec<String>,
}

/// Which tools of a server to offer, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WorkloadTools {
    /// Name of the server.
    pub workload: String,

    /// Names of the tools to offer, as clients see them but without a prefix. All when empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub filter: Vec<String>,

    /// Other faces for tools, by the name that the server gives them.
    #[serde(skip_serializing_if = "is_zero")]
    pub overrides: BTreeMap<String, ToolOverride>,

    /// Whether all tools of the server are hidden.
    #[serde(skip_serializing_if = "is_zero")]
    pub exclude_all: bool,
}

/// Another face for a tool. What is empty stays as the server has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ToolOverride {
    /// Name that clients see.
    #[serde(skip_serializing_if = "is_zero")]
    pub name: String,

    /// Description that clients see.
    #[serde(skip_serializing_if = "is_zero")]
    pub description: String,

    /// Hints that replace those of the server.
    #[serde(skip_serializing_if = "is_zero")]
    pub annotations: Option<ToolAnnotations>,
}

/// What a tool says of itself. Hints only: nothing enforces them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// Title for people.
    #[serde(skip_serializing_if = "is_zero")]
    pub title: Option<String>,

    /// Whether the tool leaves its environment as it is.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_only_hint: Option<bool>,

    /// Whether the tool may destroy something.
    #[serde(skip_serializing_if = "is_zero")]
    pub destructive_hint: Option<bool>,

    /// Whether a second call with the same arguments changes nothing more.
    #[serde(skip_serializing_if = "is_zero")]
    pub idempotent_hint: Option<bool>,

    /// Whether the tool deals with the world outside.
    #[serde(skip_serializing_if = "is_zero")]
    pub open_world_hint: Option<bool>,
}

string_enum! {
    /// Whether tools are offered.
    pub enum ToolVisibility {
        /// They are.
        Allow = "allow",
        /// They are not.
        Deny = "deny",
    }
}
