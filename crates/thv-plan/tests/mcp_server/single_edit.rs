//! Every leaf of a full spec, changed alone: exactly which fields follow.
//!
//! The file `golden/single-edit.txt` says so for each; `THV_BLESS=1` writes it anew. A leaf without effect has to be
//! on the list below, with a reason.

use std::fmt::Write as _;

use thv_plan::{Read, Reference, Referent, Referred};

use crate::difference::differences;
use crate::edits::{another, leaves};
use crate::support::{Scene, assert_on_file, folder};

/// Leaves that change nothing, and why.
const IDLE: &[(&str, &str)] = &[
    ("/proxyMode", "only a stdio server has a mode of its own; others offer the transport that they speak"),
    ("/oidcConfigRef/name", "the object of the other name says the same"),
    ("/toolConfigRef/name", "the object of the other name says the same"),
    ("/telemetryConfigRef/name", "the object of the other name says the same"),
    ("/externalAuthConfigRef/name", "the object of the other name says the same"),
    ("/webhookConfigRef/name", "the object of the other name says the same"),
    ("/groupRef/name", "nothing that runs depends on the group, and the other one is fine as well"),
];

/// The full example, with a twin of everything that it refers to and of every key in that.
pub(crate) fn scene() -> Scene {
    let mut scene = Scene::example("full.yaml", "web");
    let known = &mut scene.snapshot.references;
    let twins = [
        (Referred::OidcConfig, "corp-oidc"),
        (Referred::ToolConfig, "few-tools"),
        (Referred::TelemetryConfig, "otel"),
        (Referred::ExternalAuthConfig, "exchange"),
        (Referred::WebhookConfig, "hooks"),
        (Referred::Group, "tools"),
    ];
    for (kind, name) in twins {
        let referent = match kind {
            Referred::OidcConfig => {
                known.oidc_config(name).found().cloned().map(|it| Referent::OidcConfig(it.into()))
            }
            Referred::ToolConfig => {
                known.tool_config(name).found().cloned().map(|it| Referent::ToolConfig(it.into()))
            }
            Referred::TelemetryConfig => {
                known.telemetry_config(name).found().cloned().map(|it| Referent::TelemetryConfig(it.into()))
            }
            Referred::ExternalAuthConfig => known
                .external_auth_config(name)
                .found()
                .cloned()
                .map(|it| Referent::ExternalAuthConfig(it.into())),
            Referred::WebhookConfig => {
                known.webhook_config(name).found().cloned().map(|it| Referent::WebhookConfig(it.into()))
            }
            _ => known.group(name).found().cloned().map(|it| Referent::Group(it.into())),
        };
        known.insert(Reference::new(kind, &format!("{name}-2")), Read::Found(referent.unwrap()));
    }
    for name in ["keys", "redis-auth"] {
        let mut keys = known.secret(name).found().cloned().unwrap();
        keys.extend(keys.clone().into_iter().map(|key| format!("{key}-2")));
        for name in [name.to_owned(), format!("{name}-2")] {
            let referent = Referent::Secret(keys.clone().into());
            known.insert(Reference::new(Referred::Secret, &name), Read::Found(referent));
        }
    }
    for name in ["profiles", "corp-ca"] {
        let mut data = known.config_map(name).found().cloned().unwrap();
        data.extend(data.clone().into_iter().map(|(key, value)| (format!("{key}-2"), value)));
        for name in [name.to_owned(), format!("{name}-2")] {
            let referent = Referent::ConfigMap(data.clone().into());
            known.insert(Reference::new(Referred::ConfigMap, &name), Read::Found(referent));
        }
    }
    scene
}

#[test]
fn every_leaf_has_exactly_its_effects() {
    let mut converged = scene();
    let before = converged.settle();
    let mut all = Vec::new();
    leaves(&serde_json::to_value(&converged.snapshot.owner.spec).unwrap(), "", &mut all);
    let mut lines = String::new();
    for leaf in &all {
        let mut scene = converged.clone();
        scene.edit(|spec| {
            let value = spec.pointer_mut(leaf).unwrap();
            *value = another(leaf, value);
        });
        let found = differences(&before, &scene.plan());
        let reason = IDLE.iter().find(|(idle, _)| idle == leaf).map(|(_, reason)| *reason);
        assert_eq!(found.is_empty(), reason.is_some(), "{leaf}: {found:?}");
        writeln!(lines, "{leaf}").unwrap();
        for line in reason.map(|reason| format!("nothing: {reason}")).into_iter().chain(found) {
            writeln!(lines, "    {line}").unwrap();
        }
    }
    assert_on_file(&folder("golden").join("single-edit.txt"), &lines);
    for (idle, _) in IDLE {
        assert!(all.iter().any(|leaf| leaf == idle), "{idle} is not a leaf any more");
    }
}

#[test]
fn the_example_has_every_field() {
    let schema = serde_json::to_value(thv_api::crd::<thv_api::kinds::MCPServerSpec>()).unwrap();
    let versions = schema["spec"]["versions"].as_array().unwrap();
    let fields = &versions.last().unwrap()["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    let spec = serde_json::to_value(&scene().snapshot.owner.spec).unwrap();
    let missing: Vec<_> =
        fields.as_object().unwrap().keys().filter(|field| spec.get(field).is_none()).collect();
    // These exclude others that the example has; tests of their own cover them.
    assert_eq!(missing, ["authServerRef", "authzConfigRef", "serviceAccount"]);
}
