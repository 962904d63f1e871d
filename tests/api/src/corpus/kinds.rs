//! The corpus against the API server, kind by kind, in every version of the kind.

use anyhow::{Result, ensure};
use thv_testbed::{Space, in_namespace};

use crate::corpus::judge::{Endpoint, complaint, wrong_additions};
use crate::corpus::{Case, Corpus};
use crate::crds;

async fn check(space: Space, kind: &str) -> Result<()> {
    let corpus = Corpus::load()?;
    let cases: Vec<&Case> = corpus.of(kind).collect();
    ensure!(!cases.is_empty(), "there are no cases of {kind}");
    // In a group of the test's own nobody else changes or uses it. Nothing in a schema depends on the group.
    let mut definition = crds::definition(kind)?;
    definition.spec.group = format!("{}.toolhive.test", space.namespace());
    definition.metadata.name = Some(format!("{}.{}", definition.spec.names.plural, definition.spec.group));
    crds::install_own(&space, &definition).await?;
    let definition = definition.spec;
    let mut wrong = Vec::new();
    for version in definition.versions.iter().map(|version| &version.name) {
        let endpoint = Endpoint::new(&space, &definition.group, version, &definition.names.plural);
        for (case, verdict) in endpoint.judge(cases.iter().copied()).await? {
            let complaint = complaint(case, &verdict);
            wrong.extend(complaint.map(|complaint| format!("{version} {:?}: {complaint}", case.name)));
        }
        for defaulting in corpus.defaults.iter().filter(|defaulting| defaulting.case.kind == kind) {
            for (case, verdict) in endpoint.judge([&defaulting.case]).await? {
                let additions = wrong_additions(defaulting, &verdict).into_iter();
                wrong.extend(additions.map(|text| format!("{version} {:?}, defaults: {text}", case.name)));
            }
        }
    }
    wrong.sort();
    let (count, all) = (wrong.len(), cases.len());
    ensure!(wrong.is_empty(), "{kind}: {count} complaints about {all} cases:\n  {}", wrong.join("\n  "));
    Ok(())
}

/// One test for each kind, so that a failure names it.
macro_rules! kinds {
    ($($test:ident $kind:literal,)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                in_namespace(async |space| check(space, $kind).await).await;
            }
        )*

        #[test]
        fn every_kind_has_a_test() -> Result<()> {
            let mut kinds: Vec<String> =
                crds::definitions()?.into_iter().map(|definition| definition.spec.names.kind).collect();
            kinds.sort();
            assert_eq!(kinds, [$($kind),*]);
            Ok(())
        }
    };
}

kinds! {
    embedding_server "EmbeddingServer",
    mcp_authz_config "MCPAuthzConfig",
    mcp_external_auth_config "MCPExternalAuthConfig",
    mcp_group "MCPGroup",
    mcp_oidc_config "MCPOIDCConfig",
    mcp_registry "MCPRegistry",
    mcp_remote_proxy "MCPRemoteProxy",
    mcp_server "MCPServer",
    mcp_server_entry "MCPServerEntry",
    mcp_telemetry_config "MCPTelemetryConfig",
    mcp_tool_config "MCPToolConfig",
    mcp_webhook_config "MCPWebhookConfig",
    virtual_mcp_composite_tool_definition "VirtualMCPCompositeToolDefinition",
    virtual_mcp_server "VirtualMCPServer",
}
