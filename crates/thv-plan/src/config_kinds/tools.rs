//! `MCPToolConfig`: which tools are offered.

use thv_api::conditions::config::validated::Valid;
use thv_api::kinds::MCPToolConfigSpec;
use thv_api::names::finalizers;

use super::ConfigKind;
use crate::invalid::InvalidList;
use crate::resolve::tools;

impl ConfigKind for MCPToolConfigSpec {
    type Valid = Valid;

    const FINALIZER: &'static str = finalizers::MCP_TOOL_CONFIG;
    const VALID: Valid = Valid::Succeeded;
    const INVALID: Valid = Valid::Failed;

    fn validate(&self) -> Result<Vec<String>, InvalidList> {
        tools::validate(self).map(|()| Vec::new())
    }
}
