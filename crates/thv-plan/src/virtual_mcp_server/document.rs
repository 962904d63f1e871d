//! The configuration of a virtual server: what its spec says, and what it refers to.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thv_api::kinds::{
    Aggregation, BackendAuth, BackendAuthType, ConflictResolutionConfig, MCPToolConfigSpec,
    OutgoingAuthSource, VirtualMCPServerSpec, VmcpConfig, WorkloadTools,
};
use thv_api::shared::{HttpTransport, ToolOverride};
use thv_config::vmcp::{self, BackendTransport, BackendType, SessionProvider};

use super::incoming::{self, Provider};
use super::refs::source;
use super::resolved::Resolved;
use crate::backends::{Backend, Member};
use crate::invalid::{Invalid, InvalidList};
use crate::run_config::{auth_server_config, entry_ca_file, telemetry_config};
use crate::snapshot::Snapshot;

/// The configuration, unless it would not be valid: the program that reads it checks it with the same function.
///
/// A member that would make it invalid is left out: nobody stops a gateway by joining its group.
pub(super) fn document(
    snapshot: &Snapshot<VirtualMCPServerSpec>,
    resolved: &mut Resolved<'_>,
    provider: &Provider,
) -> Result<vmcp::VmcpConfig, InvalidList> {
    // Every turn but the last one leaves out a member.
    loop {
        let mut config = assemble(snapshot, resolved, provider)?;
        config.normalise();
        let Err(vmcp::Invalid(problems)) = config.validate() else { return Ok(config) };
        let blamed: Vec<_> =
            problems.iter().filter_map(|it| Some((blamed(it, &config, snapshot)?, it.to_string()))).collect();
        if blamed.is_empty() {
            return Err(told(&problems));
        }
        let mut is_over = true;
        for (name, why) in blamed {
            is_over &= !resolved.leave_out(&name, &why);
        }
        if is_over {
            return Err(told(&problems));
        }
    }
}

/// What is wrong, with the fields that it comes from.
fn told(problems: &[vmcp::Problem]) -> InvalidList {
    problems.iter().map(|it| Invalid::new(field(&it.path), it.message.as_ref())).collect()
}

/// The member that causes a problem, if one does: its address, or how it wants to be called.
fn blamed(
    problem: &vmcp::Problem,
    config: &vmcp::VmcpConfig,
    snapshot: &Snapshot<VirtualMCPServerSpec>,
) -> Option<String> {
    let named = snapshot.owner.spec.outgoing_auth.as_ref().and_then(|auth| auth.backends.as_ref());
    if let Some(rest) = problem.path.strip_prefix("backends[") {
        let index: usize = rest.split_once(']')?.0.parse().ok()?;
        return config.backends.get(index).map(|backend| backend.name.clone());
    }
    let below = problem.path.strip_prefix("outgoingAuth.backends.")?;
    let is_below = |name: &str| below.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let by_name = config.outgoing_auth.backends.keys().filter(|name| {
        let is_its_own = |auth: &BackendAuth| auth.type_ == BackendAuthType::Discovered;
        let is_own = named.and_then(|named| named.get(*name)).is_none_or(is_its_own);
        is_own && is_below(name)
    });
    // Names may have dots in them, so one may be the beginning of another.
    by_name.max_by_key(|name| name.len()).cloned()
}

/// Puts the configuration together. Every field of `spec.config` is here, so that a new one cannot be forgotten.
fn assemble(
    snapshot: &Snapshot<VirtualMCPServerSpec>,
    resolved: &Resolved<'_>,
    provider: &Provider,
) -> Result<vmcp::VmcpConfig, InvalidList> {
    let (spec, name) = (&snapshot.owner.spec, snapshot.name());
    let config = spec.config.clone().unwrap_or_default();
    let VmcpConfig {
        // These come from elsewhere in the spec, or from the group. A note tells that they have no effect here.
        name: _,
        group_ref: _,
        backends: _,
        incoming_auth: _,
        outgoing_auth: _,
        telemetry: _,
        session_storage: _,
        unknown: _,
        aggregation,
        // Those that are referred to have been read, and are in the same list.
        composite_tools: _,
        composite_tool_refs,
        operational,
        metadata,
        audit,
        optimizer,
        code_mode,
        rate_limiting,
        passthrough_headers,
    } = config;
    let mut audit: Option<thv_config::audit::AuditConfig> = convert("audit", audit.as_ref())?;
    if let Some(audit) = audit.as_mut().filter(|audit| audit.component.is_empty()) {
        name.clone_into(&mut audit.component);
    }
    let headers = spec.passthrough_headers.clone().filter(|headers| !headers.is_empty());
    let referenced = resolved.referenced();
    Ok(vmcp::VmcpConfig {
        name: name.to_owned(),
        group_ref: spec.group_ref.name.clone(),
        backends: backends(snapshot, resolved),
        incoming_auth: incoming::document(spec, resolved, provider)?,
        outgoing_auth: resolved.outgoing.document(spec.outgoing_auth.as_ref()),
        aggregation: aggregation.map(|it| tools(it, resolved)).transpose()?.unwrap_or_default(),
        composite_tools: required("compositeTools", &resolved.composite_tools.all)?,
        composite_tool_refs: convert("compositeToolRefs", composite_tool_refs.as_ref())?.unwrap_or_default(),
        operational: convert("operational", operational.as_ref())?.unwrap_or_default(),
        metadata: metadata.unwrap_or_default(),
        telemetry: referenced.telemetry.map(telemetry_config),
        audit,
        optimizer: search(convert("optimizer", optimizer.as_ref())?, resolved),
        code_mode: convert("codeMode", code_mode.as_ref())?,
        session_storage: resolved.session_redis.usable().map(|redis| vmcp::SessionStorage {
            provider: SessionProvider::Redis,
            address: redis.address.clone(),
            db: redis.db,
            key_prefix: redis.key_prefix.clone(),
        }),
        rate_limiting: convert("rateLimiting", rate_limiting.as_ref())?,
        passthrough_headers: headers.or(passthrough_headers).unwrap_or_default(),
        auth_server: auth_server_config(snapshot.namespace(), name, &referenced),
    })
}

/// A part of the spec that the configuration has in the same form.
fn convert<T: Serialize, U: DeserializeOwned>(part: &str, value: Option<&T>) -> Result<Option<U>, Invalid> {
    value.map(|value| required(part, value)).transpose()
}

fn required<T: Serialize, U: DeserializeOwned>(part: &str, value: &T) -> Result<U, Invalid> {
    let invalid = |error: serde_json::Error| Invalid::new(format!("spec.config.{part}"), error.to_string());
    serde_json::to_value(value).and_then(serde_json::from_value).map_err(invalid)
}

/// The backends, where they are fixed. How they do at the moment is not among what is said of them: it would restart the
/// pods with every change.
fn backends(snapshot: &Snapshot<VirtualMCPServerSpec>, resolved: &Resolved<'_>) -> Vec<vmcp::Backend> {
    let spec = &snapshot.owner.spec;
    match source(spec.outgoing_auth.as_ref()) {
        OutgoingAuthSource::Discovered => Vec::new(),
        OutgoingAuthSource::Inline => {
            let usable = resolved.backends.usable.iter();
            usable.map(|backend| fixed(backend, snapshot.namespace(), &spec.group_ref.name)).collect()
        }
    }
}

fn fixed(backend: &Backend<'_>, namespace: &str, group: &str) -> vmcp::Backend {
    let Backend { name, member, url, transport, ca_bundle } = backend;
    let (type_, workload_type, remote_url) = match member {
        Member::Server(_) => (None, "mcp_server", None),
        Member::RemoteProxy(proxy) => (None, "remote_proxy", Some(&proxy.remote_url)),
        Member::Entry(entry) => (Some(BackendType::Entry), "server_entry", Some(&entry.remote_url)),
    };
    let known =
        [("group", group), ("namespace", namespace), ("tool_type", "mcp"), ("workload_type", workload_type)];
    let remote = remote_url.map(|url| ("remote_url", url.as_str()));
    vmcp::Backend {
        name: (*name).to_owned(),
        url: url.clone().into(),
        transport: match transport {
            HttpTransport::Sse => BackendTransport::Sse,
            HttpTransport::StreamableHttp => BackendTransport::StreamableHttp,
        },
        type_,
        ca_bundle_path: ca_bundle
            .as_ref()
            .map(|bundle| entry_ca_file(name, bundle).path())
            .unwrap_or_default(),
        metadata: known
            .into_iter()
            .chain(remote)
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
    }
}

/// How the tools become one list. What the spec says of a tool comes before what a shared choice says.
fn tools(aggregation: Aggregation, resolved: &Resolved<'_>) -> Result<vmcp::Aggregation, Invalid> {
    let Aggregation {
        conflict_resolution,
        conflict_resolution_config,
        tools,
        exclude_all_tools,
        default_tool_visibility,
    } = aggregation;
    let shared = resolved.tools.iter().map(|outcome| outcome.usable().map(|config| &config.spec));
    let tools: Vec<_> =
        tools.into_iter().flatten().zip(shared).map(|(own, shared)| with_shared(own, shared)).collect();
    let config = conflict_resolution_config.map(|it| {
        let ConflictResolutionConfig { prefix_format, priority_order } = it;
        vmcp::ConflictResolutionConfig { prefix_format, priority_order: priority_order.unwrap_or_default() }
    });
    Ok(vmcp::Aggregation {
        conflict_resolution: required("aggregation.conflictResolution", &conflict_resolution)?,
        conflict_resolution_config: config.unwrap_or_default(),
        tools: required("aggregation.tools", &tools)?,
        exclude_all_tools: exclude_all_tools.unwrap_or_default(),
        default_tool_visibility: convert(
            "aggregation.defaultToolVisibility",
            default_tool_visibility.as_ref(),
        )?,
    })
}

fn with_shared(own: WorkloadTools, shared: Option<&MCPToolConfigSpec>) -> WorkloadTools {
    let WorkloadTools { workload, tool_config_ref: _, filter, overrides, exclude_all } = own;
    let filter = filter.filter(|names| !names.is_empty());
    let common: BTreeMap<String, ToolOverride> =
        shared.and_then(|shared| shared.tools_override.clone()).unwrap_or_default();
    let overrides: BTreeMap<_, _> = common.into_iter().chain(overrides.unwrap_or_default()).collect();
    WorkloadTools {
        workload,
        tool_config_ref: None,
        filter: filter.or_else(|| shared.and_then(|shared| shared.tools_filter.clone())),
        overrides: (!overrides.is_empty()).then_some(overrides),
        exclude_all,
    }
}

/// Tool search. A reference to an embedding server switches it on.
fn search(named: Option<vmcp::Optimizer>, resolved: &Resolved<'_>) -> Option<vmcp::Optimizer> {
    match resolved.embedding_server.usable() {
        Some(url) => {
            Some(vmcp::Optimizer { embedding_service: url.clone().into(), ..named.unwrap_or_default() })
        }
        None => named,
    }
}

/// The field of the spec that a place in the configuration comes from.
fn field(path: &str) -> String {
    const FIELDS: [(&str, &str); 6] = [
        ("incomingAuth", "spec.incomingAuth"),
        ("outgoingAuth", "spec.outgoingAuth"),
        ("backends", "spec.groupRef"),
        ("authServerConfig", "spec.authServerConfig"),
        ("sessionStorage", "spec.sessionStorage"),
        ("telemetry", "spec.telemetryConfigRef"),
    ];
    let known =
        FIELDS.iter().find_map(|(place, field)| Some(format!("{field}{}", path.strip_prefix(place)?)));
    known.unwrap_or_else(|| format!("spec.config.{path}"))
}
