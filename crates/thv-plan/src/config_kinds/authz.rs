//! `MCPAuthzConfig`: who may call what.

use thv_api::conditions::config::checked::Valid;
use thv_api::kinds::MCPAuthzConfigSpec;
use thv_api::names::finalizers;

use super::ConfigKind;
use crate::invalid::InvalidList;
use crate::resolve::authz;

impl ConfigKind for MCPAuthzConfigSpec {
    type Valid = Valid;

    const FINALIZER: &'static str = finalizers::MCP_AUTHZ_CONFIG;
    const VALID: Valid = Valid::Valid;
    const INVALID: Valid = Valid::Invalid;

    fn validate(&self) -> Result<Vec<String>, InvalidList> {
        authz::validate(self)
    }
}
