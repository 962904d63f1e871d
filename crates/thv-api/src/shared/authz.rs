//! Authorization rules written into a workload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::DNS_LABEL;
use crate::schema::cel;
use crate::value::string_enum;

/// Rules about who may call what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("required" = ["type"]))]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "self.type == 'configMap' ? has(self.configMap) : !has(self.configMap)",
        "type configMap and the field configMap go together: set both or neither",
    ),
    (
        "self.type == 'inline' ? has(self.inline) : !has(self.inline)",
        "type inline and the field inline go together: set both or neither",
    ),
])))]
pub struct AuthzConfig {
    /// Where the rules are.
    #[serde(rename = "type", default)]
    pub type_: AuthzSource,

    /// ConfigMap with the rules. For type `configMap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<AuthzConfigMap>,

    /// The rules themselves. For type `inline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<InlineAuthz>,

    /// Claim of the token that lists the groups of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub group_claim_name: Option<String>,

    /// Claim of the token that lists the roles of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub role_claim_name: Option<String>,

    /// Cedar entity type that groups become. `THVGroup` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63), regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub group_entity_type: Option<String>,
}

string_enum! {
    /// Where authorization rules come from.
    pub enum AuthzSource {
        /// From a ConfigMap.
        ConfigMap = "configMap",
        /// From the object itself.
        Inline = "inline",
    }
    default ConfigMap
}

/// Authorization rules in a ConfigMap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthzConfigMap {
    /// Name of the ConfigMap.
    pub name: String,

    /// Key within the ConfigMap.
    #[serde(default = "default_key")]
    pub key: String,
}

/// Authorization rules in Cedar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineAuthz {
    /// Cedar policies. What none of them permits is denied.
    #[schemars(length(min = 1), extend("x-kubernetes-list-type" = "atomic"))]
    pub policies: Vec<String>,

    /// Cedar entities, as JSON text.
    #[serde(default = "default_entities_json")]
    pub entities_json: String,

    /// Deprecated; use `primaryUpstreamProvider` of the authorization server. The upstream provider whose
    /// claims the rules see. Only a `VirtualMCPServer` heeds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = DNS_LABEL))]
    pub primary_upstream_provider: Option<String>,
}

fn default_key() -> String {
    "authz.json".to_owned()
}

fn default_entities_json() -> String {
    "[]".to_owned()
}
