//! `MCPTelemetryConfig`: where traces and metrics go.

use thv_api::conditions::config::validated::Valid;
use thv_api::kinds::MCPTelemetryConfigSpec;
use thv_api::names::finalizers;

use super::ConfigKind;
use crate::invalid::InvalidList;
use crate::resolve::telemetry;

impl ConfigKind for MCPTelemetryConfigSpec {
    type Valid = Valid;

    const FINALIZER: &'static str = finalizers::MCP_TELEMETRY_CONFIG;
    const VALID: Valid = Valid::Succeeded;
    const INVALID: Valid = Valid::Failed;

    fn validate(&self) -> Result<Vec<String>, InvalidList> {
        telemetry::validate(self).map(|()| Vec::new())
    }
}
