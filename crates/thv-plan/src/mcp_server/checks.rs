//! What can be wrong with a spec by itself, and what to do about it.
//!
//! The schema lets all of this pass, and the API server would refuse the objects that come of it.

use thv_api::kinds::{HostVolume, MCPServerSpec, Transport};

use crate::invalid::InvalidList;
use crate::proxy;
use crate::syntax;

/// Longest name of a server with Services of its own: `mcp-<name>-headless` has to be a DNS label.
const MAX_NAME: usize = 50;
/// Longest name of a `stdio` server: its StatefulSet puts `<name>-<hash>` into a label.
const MAX_STDIO_NAME: usize = 52;
/// What a shell would take for something else, and `:`, which ends a path in the configuration.
const NOT_IN_PATHS: [char; 6] = [':', '$', '&', ';', '|', '`'];

/// Everything that is wrong.
pub(super) fn validate(name: &str, spec: &MCPServerSpec) -> InvalidList {
    let mut invalid = InvalidList::default();
    check_name(name, spec.transport, &mut invalid);
    if let Some(resources) = &spec.resources {
        proxy::validate::resources(resources, &mut invalid);
    }
    invalid.merge(volumes(spec));
    if let Some(overrides) = &spec.resource_overrides {
        proxy::validate::overrides(overrides, &mut invalid);
    }
    invalid
}

fn check_name(name: &str, transport: Transport, invalid: &mut InvalidList) {
    let max = match transport {
        Transport::Stdio => MAX_STDIO_NAME,
        Transport::StreamableHttp | Transport::Sse => MAX_NAME,
    };
    let message = format!(
        "Services are named after it, so it may have {max} characters at most, and only lower-case letters, digits \
         and hyphens: create the server under another name"
    );
    invalid.unless(syntax::is_dns_label(name, max), "metadata.name", message);
}

/// What is wrong with the volumes. Paths reach the proxy and the backend, so both of their rules hold.
pub(super) fn volumes(spec: &MCPServerSpec) -> InvalidList {
    let mut invalid = InvalidList::default();
    for HostVolume { name, host_path, mount_path, read_only: _ } in spec.volumes.iter().flatten() {
        let place = format!("spec.volumes[{name}]");
        let message = "use a name of lower-case letters, digits and hyphens";
        invalid.unless(syntax::is_dns_label(name, 63), &place, message);
        for (field, path) in [("hostPath", host_path), ("mountPath", mount_path)] {
            let plain = !path.contains(NOT_IN_PATHS) && path.split('/').all(|part| part != "..");
            let message =
                format!("{path:?} is no path without `:`, `..` and any of $ & ; | `: use another path");
            invalid.unless(plain && !path.is_empty(), format!("{place}.{field}"), message);
        }
    }
    invalid
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
        assert_eq!(validate("web", &spec(json!({}))), InvalidList::default());
        let fine =
            json!({"resources": {"limits": {"cpu": "0.5", "memory": ""}, "requests": {"memory": "64Mi"}}});
        assert_eq!(validate("web", &spec(fine)), InvalidList::default());
    }

    #[test]
    fn everything_invalid_is_told_with_its_place() {
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
                json!({"volumes": [{"name": "a", "hostPath": "/a:/c", "mountPath": "/b"}]}),
                "spec.volumes[a].hostPath",
            ),
            (
                json!({"volumes": [{"name": "a", "hostPath": "/a", "mountPath": ""}]}),
                "spec.volumes[a].mountPath",
            ),
            (
                json!({"volumes": [{"name": "a", "hostPath": "/a", "mountPath": "/$(rm)"}]}),
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
            let invalid = validate("web", &spec(more));
            assert!(invalid.len() == 1 && invalid[0].path == place, "{place}: {invalid:?}");
        }
    }

    #[test]
    fn names_fit_what_is_named_after_them() {
        let (fits, long) = ("a".repeat(50), "a".repeat(51));
        let http = spec(json!({"transport": "sse"}));
        assert!(validate(&fits, &http).is_empty() && validate(&long, &spec(json!({}))).is_empty());
        assert_eq!(validate(&long, &http).len(), 1);
        assert_eq!(validate("a.b", &spec(json!({}))).len(), 1);
    }
}
