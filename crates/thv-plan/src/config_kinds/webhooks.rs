//! `MCPWebhookConfig`: webhooks that see every call.

use thv_api::conditions::config::validated::Valid;
use thv_api::kinds::MCPWebhookConfigSpec;
use thv_api::names::finalizers;

use super::ConfigKind;
use crate::invalid::InvalidList;
use crate::resolve::webhooks;

impl ConfigKind for MCPWebhookConfigSpec {
    type Valid = Valid;

    const FINALIZER: &'static str = finalizers::MCP_WEBHOOK_CONFIG;
    const VALID: Valid = Valid::Succeeded;
    const INVALID: Valid = Valid::Failed;

    fn validate(&self) -> Result<Vec<String>, InvalidList> {
        webhooks::validate(self).map(|()| Vec::new())
    }
}
