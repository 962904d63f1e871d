//! What can be wrong with the spec of a virtual server by itself, and what to do about it.

use thv_api::kinds::{
    Aggregation, ConflictResolution, ConflictResolutionConfig, IncomingAuth, VirtualMCPServerSpec, VmcpConfig,
};

use crate::invalid::InvalidList;
use crate::syntax;

/// Longest name of a virtual server: `vmcp-<name>` has to be a DNS label.
const MAX_NAME: usize = 58;

/// Everything that is wrong.
pub(super) fn validate(name: &str, spec: &VirtualMCPServerSpec) -> InvalidList {
    let mut invalid = InvalidList::default();
    let message = format!(
        "a Service is named after it, so it may have {MAX_NAME} characters at most, and only lower-case letters, digits \
         and hyphens: create the virtual server under another name"
    );
    invalid.unless(syntax::is_dns_label(name, MAX_NAME), "metadata.name", message);
    invalid.required(&spec.group_ref.name, "spec.groupRef.name");
    let IncomingAuth { type_: _, oidc_config_ref: _, authz_config, authz_config_ref } = &spec.incoming_auth;
    let both = authz_config.is_some() && authz_config_ref.is_some();
    invalid.unless(
        !both,
        "spec.incomingAuth.authzConfig",
        "and spec.incomingAuth.authzConfigRef are both set: remove one of them",
    );
    for name in
        spec.outgoing_auth.iter().flat_map(|auth| auth.backends.iter().flatten()).map(|(name, _)| name)
    {
        let is_name = name.len() <= 253 && name.split('.').all(|label| syntax::is_dns_label(label, 253));
        let path = format!("spec.outgoingAuth.backends[{name:?}]");
        invalid.unless(is_name, path, "is not the name of an object: use that of a member");
    }
    if let Some(config) = &spec.config {
        invalid.below("spec.config", configured(config, spec.embedding_server_ref.is_some()));
    }
    invalid
}

fn configured(config: &VmcpConfig, has_embedding_server: bool) -> Result<(), InvalidList> {
    let mut invalid = InvalidList::default();
    if let Some(aggregation) = &config.aggregation {
        invalid.below("aggregation", aggregated(aggregation));
    }
    let service = config.optimizer.as_ref().map(|it| it.embedding_service.as_deref().unwrap_or_default());
    invalid.unless(
        has_embedding_server || service.is_none_or(|url| !url.is_empty()),
        "optimizer.embeddingService",
        "is missing: set it, or spec.embeddingServerRef",
    );
    invalid.finish()
}

fn aggregated(aggregation: &Aggregation) -> Result<(), InvalidList> {
    let Aggregation {
        conflict_resolution,
        conflict_resolution_config,
        tools,
        exclude_all_tools: _,
        default_tool_visibility: _,
    } = aggregation;
    let mut invalid = InvalidList::default();
    if let (ConflictResolution::Priority, Some(config)) = (conflict_resolution, conflict_resolution_config) {
        let ConflictResolutionConfig { prefix_format: _, priority_order } = config;
        invalid.unless(
            priority_order.as_ref().is_some_and(|order| !order.is_empty()),
            "conflictResolutionConfig.priorityOrder",
            "is empty: name the servers, most important first",
        );
    }
    for (index, tools) in tools.iter().flatten().enumerate() {
        invalid.required(&tools.workload, format!("tools[{index}].workload"));
        let named = tools.tool_config_ref.as_ref().is_none_or(|it| !it.name.is_empty());
        invalid.unless(named, format!("tools[{index}].toolConfigRef.name"), "is empty: set it");
    }
    invalid.finish()
}
