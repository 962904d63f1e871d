//! `MCPOIDCConfig`: whose tokens are accepted.

use thv_api::conditions::config::checked::Valid;
use thv_api::kinds::MCPOIDCConfigSpec;
use thv_api::names::finalizers;

use super::ConfigKind;
use crate::invalid::InvalidList;
use crate::resolve::oidc;

impl ConfigKind for MCPOIDCConfigSpec {
    type Valid = Valid;

    const FINALIZER: &'static str = finalizers::MCP_OIDC_CONFIG;
    const VALID: Valid = Valid::Valid;
    const INVALID: Valid = Valid::Invalid;

    fn validate(&self) -> Result<Vec<String>, InvalidList> {
        oidc::validate(self).map(|()| oidc::notes(self))
    }
}
