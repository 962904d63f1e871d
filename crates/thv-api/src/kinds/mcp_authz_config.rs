//! `MCPAuthzConfig`: authorization rules to share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::object::{Column, Kind, Object};
use crate::shared::ConfigStatus;
use crate::value::RawObject;

/// Authorization rules that several servers share.
pub type MCPAuthzConfig = Object<MCPAuthzConfigSpec>;

impl Kind for MCPAuthzConfigSpec {
    type Status = ConfigStatus;

    const KIND: &'static str = "MCPAuthzConfig";
    const PLURAL: &'static str = "mcpauthzconfigs";
    const SINGULAR: &'static str = "mcpauthzconfig";
    const SHORT_NAMES: &'static [&'static str] = &["authzcfg"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Type", "string", ".spec.type"),
        Column::VALID,
        Column::REFERENCED,
        Column::REFERRERS,
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "Authorization rules that several servers share by authzConfigRef.";
}

/// Authorization rules and what evaluates them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MCPAuthzConfigSpec {
    /// What evaluates the rules: `cedarv1` for Cedar policies, `httpv1` for a policy service over HTTP.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    pub type_: String,

    /// The rules, in the form that the type prescribes. For `cedarv1`: `policies` and `entities_json`. For
    /// `httpv1`: `http.url` and `claim_mapping`.
    pub config: RawObject,
}
