use thv_api::kinds::VirtualMCPCompositeToolDefinitionSpec;

use crate::invalid::InvalidList;

pub(crate) fn validate(_: &VirtualMCPCompositeToolDefinitionSpec) -> Result<(), InvalidList> {
    Ok(())
}
