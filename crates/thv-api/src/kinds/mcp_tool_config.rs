//! `MCPToolConfig`: a choice of tools to share.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object};
use crate::shared::{ConfigStatus, ToolOverride};

/// A choice of tools, and other faces for them.
pub type MCPToolConfig = Object<MCPToolConfigSpec>;

impl Kind for MCPToolConfigSpec {
    type Status = ConfigStatus;

    const KIND: &'static str = "MCPToolConfig";
    const PLURAL: &'static str = "mcptoolconfigs";
    const SINGULAR: &'static str = "mcptoolconfig";
    const SHORT_NAMES: &'static [&'static str] = &["tc", "toolconfig"];
    const COLUMNS: &'static [Column] = &[Column::VALID, Column::REFERENCED, Column::REFERRERS, Column::AGE];
    const DESCRIPTION: &'static str = "Which tools of a server to offer, and under which names. Servers \
         refer to it by toolConfigRef.";
}

/// Which tools to offer, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPToolConfigSpec {
    /// Names of the tools to offer, those of overridden tools as they are then. All of them when absent or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub tools_filter: Option<Vec<String>>,

    /// Other faces for tools, by the name that the server gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_override: Option<BTreeMap<String, ToolOverride>>,
}
