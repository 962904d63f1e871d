//! What can be wrong with a spec by itself, and what to do about it.
//!
//! The schema lets all of this pass, and the API server would refuse the objects that come of it.

use thv_api::kinds::{HostVolume, MCPServerSpec, Transport};
use thv_api::shared::{EnvVar, MetadataOverrides, ProxyDeploymentOverrides, ResourceList, ResourceOverrides};

use crate::metadata::Pairs;
use crate::quantity::is_amount;
use crate::syntax;

/// Longest name of a server with Services of its own: `mcp-<name>-headless` has to be a DNS label.
const MAX_NAME: usize = 50;
/// Longest name of a `stdio` server: its StatefulSet puts `<name>-<hash>` into a label.
const MAX_STDIO_NAME: usize = 52;

/// Everything that is wrong.
pub(super) fn flaws(name: &str, spec: &MCPServerSpec) -> Vec<String> {
    let mut flaws = Vec::new();
    check_name(name, spec.transport, &mut flaws);
    for (half, list) in
        spec.resources.iter().flat_map(|all| [("limits", &all.limits), ("requests", &all.requests)])
    {
        check_amounts(half, list.as_ref(), &mut flaws);
    }
    for volume in spec.volumes.iter().flatten() {
        check_volume(volume, &mut flaws);
    }
    if let Some(overrides) = &spec.resource_overrides {
        check_overrides(overrides, &mut flaws);
    }
    flaws
}

fn check_name(name: &str, transport: Transport, flaws: &mut Vec<String>) {
    let max = match transport {
        Transport::Stdio => MAX_STDIO_NAME,
        Transport::StreamableHttp | Transport::Sse => MAX_NAME,
    };
    if !syntax::is_dns_label(name, max) {
        flaws.push(format!(
            "metadata.name: Services are named after it, so it may have {max} characters at most, and only \
             lower-case letters, digits and hyphens: create the server under another name"
        ));
    }
}

fn check_amounts(half: &str, list: Option<&ResourceList>, flaws: &mut Vec<String>) {
    let Some(ResourceList { cpu, memory }) = list else { return };
    for (resource, amount) in [("cpu", cpu), ("memory", memory)] {
        let Some(amount) = amount.as_deref().filter(|text| !text.is_empty()) else { continue };
        if !is_amount(amount) {
            flaws.push(format!(
                "spec.resources.{half}.{resource}: {amount:?} is no amount: write it like 500m or 128Mi"
            ));
        }
    }
}

fn check_volume(volume: &HostVolume, flaws: &mut Vec<String>) {
    let HostVolume { name, host_path, mount_path, read_only: _ } = volume;
    if !syntax::is_dns_label(name, 63) {
        flaws.push(format!("spec.volumes[{name}]: use a name of lower-case letters, digits and hyphens"));
    }
    for (field, path) in [("hostPath", host_path), ("mountPath", mount_path)] {
        if path.is_empty() || path.contains(':') || path.split('/').any(|part| part == "..") {
            flaws.push(format!("spec.volumes[{name}].{field}: {path:?} is no path without `:` and `..`"));
        }
    }
}

fn check_overrides(overrides: &ResourceOverrides, flaws: &mut Vec<String>) {
    let ResourceOverrides { proxy_deployment, proxy_service } = overrides;
    if let Some(deployment) = proxy_deployment {
        let ProxyDeploymentOverrides {
            annotations,
            labels,
            pod_template_metadata_overrides,
            env,
            image_pull_secrets: _,
        } = deployment;
        let field = "spec.resourceOverrides.proxyDeployment";
        check_labels(field, labels.as_ref(), flaws);
        check_annotations(field, annotations.as_ref(), flaws);
        check_metadata(
            "spec.resourceOverrides.proxyDeployment.podTemplateMetadataOverrides",
            pod_template_metadata_overrides.as_ref(),
            flaws,
        );
        for EnvVar { name, value: _ } in env.iter().flatten() {
            if !syntax::is_variable(name) {
                flaws.push(format!("{field}.env: {name:?} cannot be the name of a variable: rename it"));
            }
        }
    }
    check_metadata("spec.resourceOverrides.proxyService", proxy_service.as_ref(), flaws);
}

fn check_metadata(field: &str, metadata: Option<&MetadataOverrides>, flaws: &mut Vec<String>) {
    let Some(MetadataOverrides { annotations, labels }) = metadata else { return };
    check_labels(field, labels.as_ref(), flaws);
    check_annotations(field, annotations.as_ref(), flaws);
}

fn check_labels(field: &str, labels: Option<&Pairs>, flaws: &mut Vec<String>) {
    for (key, value) in labels.into_iter().flatten() {
        if !syntax::is_label_key(key) || !syntax::is_label_value(value) {
            flaws.push(format!(
                "{field}.labels: {key:?}: {value:?} is no label: use letters, digits and `-_.`"
            ));
        }
    }
}

fn check_annotations(field: &str, annotations: Option<&Pairs>, flaws: &mut Vec<String>) {
    for key in annotations.into_iter().flat_map(Pairs::keys) {
        if !syntax::is_annotation_key(key) {
            flaws.push(format!("{field}.annotations: {key:?} cannot be the key of an annotation: rename it"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(more: serde_json::Value) -> MCPServerSpec {
        let mut value = json!({"image": "i"});
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_plain_spec_is_fine() {
        assert_eq!(flaws("web", &spec(json!({}))), Vec::<String>::new());
        let fine =
            json!({"resources": {"limits": {"cpu": "0.5", "memory": ""}, "requests": {"memory": "64Mi"}}});
        assert_eq!(flaws("web", &spec(fine)), Vec::<String>::new());
    }

    #[test]
    fn every_flaw_is_told_with_its_place() {
        let deployment = |more| json!({"resourceOverrides": {"proxyDeployment": more}});
        for (more, place) in [
            (json!({"resources": {"limits": {"cpu": "lots"}}}), "spec.resources.limits.cpu"),
            (json!({"resources": {"requests": {"memory": "1gb"}}}), "spec.resources.requests.memory"),
            (json!({"volumes": [{"name": "A", "hostPath": "/a", "mountPath": "/b"}]}), "spec.volumes[A]"),
            (
                json!({"volumes": [{"name": "a", "hostPath": "/a/..", "mountPath": "/b"}]}),
                "spec.volumes[a].hostPath",
            ),
            (
                json!({"volumes": [{"name": "a", "hostPath": "/a", "mountPath": ""}]}),
                "spec.volumes[a].mountPath",
            ),
            (deployment(json!({"labels": {"a": "b c"}})), "spec.resourceOverrides.proxyDeployment.labels"),
            (
                deployment(json!({"annotations": {"a b": "c"}})),
                "spec.resourceOverrides.proxyDeployment.annotations",
            ),
            (
                deployment(json!({"podTemplateMetadataOverrides": {"labels": {"-": "x"}}})),
                "spec.resourceOverrides.proxyDeployment.podTemplateMetadataOverrides.labels",
            ),
            (
                deployment(json!({"env": [{"name": "A=B", "value": "x"}]})),
                "spec.resourceOverrides.proxyDeployment.env",
            ),
            (
                json!({"resourceOverrides": {"proxyService": {"labels": {"": "x"}}}}),
                "spec.resourceOverrides.proxyService.labels",
            ),
        ] {
            let flaws = flaws("web", &spec(more));
            assert!(flaws.len() == 1 && flaws[0].starts_with(place), "{place}: {flaws:?}");
        }
    }

    #[test]
    fn names_fit_what_is_named_after_them() {
        let (fits, long) = ("a".repeat(50), "a".repeat(51));
        let http = spec(json!({"transport": "sse"}));
        assert!(flaws(&fits, &http).is_empty() && flaws(&long, &spec(json!({}))).is_empty());
        assert_eq!(flaws(&long, &http).len(), 1);
        assert_eq!(flaws("a.b", &spec(json!({}))).len(), 1);
    }
}
