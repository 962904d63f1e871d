//! Which servers and tools are offered.

use super::super::aggregation::{
    Aggregation, ConflictResolution, ConflictResolutionConfig, ToolAnnotations, ToolOverride, ToolVisibility,
    WorkloadTools,
};
use super::super::composite::{CompositeTool, Step};
use super::super::document::{Backend, BackendType, CompositeToolRef};
use super::super::free_form::FreeForm;
use super::super::outgoing::AuthSource;
use super::super::problem::Report;
use super::path_error;
use crate::header;
use crate::json::Json;
use crate::url::web_url_error;

pub(super) fn check_backends(backends: &[Backend], source: AuthSource, report: &mut Report) {
    // The list would be frozen while the cluster is watched, and the watch be in vain.
    report.unless(
        backends.is_empty() || source == AuthSource::Inline,
        "backends",
        "is there, and outgoingAuth.source is discovered: write source: inline, or remove the backends",
    );
    let paths = (0..).map(|index: usize| format!("backends[{index}].name"));
    report.names(paths.zip(backends.iter().map(|backend| backend.name.as_str())));
    for (index, backend) in backends.iter().enumerate() {
        let Backend { name: _, url, transport: _, type_, ca_bundle_path, metadata: _ } = backend;
        if let Some(error) = web_url_error(url, true) {
            report.add(format!("backends[{index}].url"), error);
        }
        if ca_bundle_path.is_empty() {
            continue;
        }
        let path = format!("backends[{index}].caBundlePath");
        if let Some(error) = path_error(ca_bundle_path) {
            report.add(&path, error);
        }
        report.unless(
            *type_ == Some(BackendType::Entry),
            path,
            "is there, and the backend is no entry: write type: entry, or remove the path",
        );
    }
}

pub(super) fn check_aggregation(aggregation: &Aggregation, report: &mut Report) {
    let Aggregation {
        conflict_resolution,
        conflict_resolution_config: ConflictResolutionConfig { prefix_format: _, priority_order },
        tools,
        exclude_all_tools: _,
        default_tool_visibility,
    } = aggregation;
    let order = "aggregation.conflictResolutionConfig.priorityOrder";
    let by_priority = *conflict_resolution == ConflictResolution::Priority;
    report.unless(
        !by_priority || !priority_order.is_empty(),
        order,
        "is empty, and conflictResolution is priority: name the servers, most important first",
    );
    let paths = (0..).map(|index: usize| format!("{order}[{index}]"));
    report.names(paths.zip(priority_order.iter().map(String::as_str)));
    let hides_others = *default_tool_visibility == Some(ToolVisibility::Deny);
    for (index, server) in priority_order.iter().enumerate().filter(|_| by_priority && hides_others) {
        // It would win the name of a tool, and nobody could see that tool.
        report.unless(
            tools.iter().any(|entry| entry.workload == *server),
            format!("{order}[{index}]"),
            "is not in aggregation.tools, and defaultToolVisibility is deny: add it there, or remove it here",
        );
    }
    let paths = (0..).map(|index: usize| format!("aggregation.tools[{index}].workload"));
    report.names(paths.zip(tools.iter().map(|entry| entry.workload.as_str())));
    for (index, entry) in tools.iter().enumerate() {
        check_workload_tools(&format!("aggregation.tools[{index}]"), entry, report);
    }
}

fn check_workload_tools(path: &str, entry: &WorkloadTools, report: &mut Report) {
    let WorkloadTools { workload: _, filter, overrides, exclude_all: _ } = entry;
    for (index, tool) in filter.iter().enumerate() {
        report.required(tool, format!("{path}.filter[{index}]"));
    }
    for (tool, ToolOverride { name, description, annotations }) in overrides {
        let path = format!("{path}.overrides.{}", tool.escape_debug());
        report.unless(!tool.is_empty(), &path, "the name of a tool is empty: name the tool");
        let has_hints = annotations.as_ref().is_some_and(|hints| *hints != ToolAnnotations::default());
        report.unless(
            !name.is_empty() || !description.is_empty() || has_hints,
            path,
            "overrides nothing: give a name, a description or annotations, or remove it",
        );
    }
}

pub(super) fn check_composites(tools: &[CompositeTool], refs: &[CompositeToolRef], report: &mut Report) {
    let paths = (0..).map(|index: usize| format!("compositeTools[{index}].name"));
    report.names(paths.zip(tools.iter().map(|tool| tool.name.as_str())));
    let paths = (0..).map(|index: usize| format!("compositeToolRefs[{index}].name"));
    report.names(paths.zip(refs.iter().map(|reference| reference.name.as_str())));
    for (index, tool) in tools.iter().enumerate() {
        check_object(format!("compositeTools[{index}].parameters"), &tool.parameters, report);
        for (step_index, step) in tool.steps.iter().enumerate() {
            check_step(format!("compositeTools[{index}].steps[{step_index}]"), step, report);
        }
    }
}

/// A step and those within it.
fn check_step(path: String, step: &Step, report: &mut Report) {
    let mut current = Some((path, step));
    while let Some((path, step)) = current {
        check_object(format!("{path}.arguments"), &step.arguments, report);
        check_object(format!("{path}.schema"), &step.schema, report);
        check_object(format!("{path}.defaultResults"), &step.default_results, report);
        current = step.step.as_deref().map(|inner| (format!("{path}.step"), inner));
    }
}

fn check_object(path: String, value: &FreeForm, report: &mut Report) {
    let is_object = value.is_empty() || matches!(value.as_json(), Json::Object(_));
    report.unless(is_object, path, "is not an object: write keys and values");
}

pub(super) fn check_passthrough(headers: &[String], report: &mut Report) {
    for (index, name) in headers.iter().enumerate() {
        let path = format!("passthroughHeaders[{index}]");
        report.unless(header::is_name(name), &path, "is not the name of a header: correct it");
        // Credentials of the caller are not for the servers: strategies say how to sign in there.
        let is_credential = ["authorization", "cookie"].iter().any(|it| it.eq_ignore_ascii_case(name));
        report.unless(
            !header::is_restricted(name) && !is_credential,
            path,
            "must not be handed on: remove it; outgoingAuth says how to sign in",
        );
    }
}
