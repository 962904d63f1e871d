//! Remote proxies in tests.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde_json::{Value, json};
use thv_api::kinds::{MCPRemoteProxySpec, MCPRemoteProxyStatus};
use thv_plan::LiveWorkload;

use crate::scene::Subject;
pub(crate) use crate::scene::{
    assert_on_file, children, controller, deployment, example, failing, folder, template, variable,
};

/// A remote proxy and all that bears on it.
pub(crate) type Scene = crate::scene::Scene<MCPRemoteProxySpec>;

impl Subject for MCPRemoteProxySpec {
    fn minimal() -> Value {
        json!({"remoteUrl": "https://mcp.example.com/mcp"})
    }

    fn workload(live: &mut LiveWorkload) -> &mut LiveWorkload {
        live
    }
}

/// A condition of a status: status and reason.
pub(crate) fn condition<'a>(status: &'a MCPRemoteProxyStatus, type_: &str) -> Option<(&'a str, &'a str)> {
    whole_condition(status, type_).map(|found| (found.status.as_str(), found.reason.as_str()))
}

pub(crate) fn whole_condition<'a>(status: &'a MCPRemoteProxyStatus, type_: &str) -> Option<&'a Condition> {
    status.conditions.as_ref().unwrap().iter().find(|condition| condition.type_ == type_)
}
