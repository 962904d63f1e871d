//! Every leaf of what a full spec refers to, changed alone: exactly which fields follow.

use std::fmt::Write as _;

use serde_json::Value;
use thv_api::{Kind, Object};
use thv_plan::{Read, Reference, Referent, Referred};

use crate::difference::differences;
use crate::edits::{far_another, leaves};
use crate::single_edit::scene;
use crate::support::{Scene, assert_on_file, folder};

/// The objects, and how to put them back.
type Far = (&'static str, Referred, &'static str, fn(&Scene, &str) -> Value, fn(Value) -> Referent);

fn text<S: Kind>(read: Read<&Object<S>>) -> Value {
    serde_json::to_value(read.found().unwrap()).unwrap()
}

fn object<S: Kind>(value: Value) -> std::sync::Arc<Object<S>> {
    std::sync::Arc::new(serde_json::from_value(value).unwrap())
}

const FAR: &[Far] = &[
    (
        "MCPOIDCConfig",
        Referred::OidcConfig,
        "corp-oidc",
        |scene, name| text(scene.snapshot.references.oidc_config(name)),
        |value| Referent::OidcConfig(object(value)),
    ),
    (
        "MCPTelemetryConfig",
        Referred::TelemetryConfig,
        "otel",
        |scene, name| text(scene.snapshot.references.telemetry_config(name)),
        |value| Referent::TelemetryConfig(object(value)),
    ),
    (
        "MCPToolConfig",
        Referred::ToolConfig,
        "few-tools",
        |scene, name| text(scene.snapshot.references.tool_config(name)),
        |value| Referent::ToolConfig(object(value)),
    ),
    (
        "MCPExternalAuthConfig",
        Referred::ExternalAuthConfig,
        "exchange",
        |scene, name| text(scene.snapshot.references.external_auth_config(name)),
        |value| Referent::ExternalAuthConfig(object(value)),
    ),
    (
        "MCPWebhookConfig",
        Referred::WebhookConfig,
        "hooks",
        |scene, name| text(scene.snapshot.references.webhook_config(name)),
        |value| Referent::WebhookConfig(object(value)),
    ),
];

#[test]
fn every_leaf_of_what_is_referred_to_has_exactly_its_effects() {
    let mut converged = scene();
    let before = converged.settle();
    let mut lines = String::new();
    for (kind, referred, name, read, referent) in FAR {
        let original = read(&converged, name);
        let mut all = Vec::new();
        leaves(&original["spec"], "/spec", &mut all);
        // Which type of settings there are is not a leaf that can be changed alone.
        all.retain(|leaf| !(leaf == "/spec/type" && *kind == "MCPExternalAuthConfig"));
        for leaf in all {
            let mut changed = original.clone();
            let value = changed.pointer_mut(&leaf).unwrap();
            *value = far_another(&leaf, value);
            let mut scene = converged.clone();
            let reference = Reference::new(*referred, name);
            scene.snapshot.references.insert(reference, Read::Found(referent(changed)));
            let found = differences(&before, &scene.plan());
            assert!(!found.is_empty(), "{kind} {leaf}");
            writeln!(lines, "{kind} {leaf}").unwrap();
            for line in found {
                writeln!(lines, "    {line}").unwrap();
            }
        }
    }
    assert_on_file(&folder("golden").join("far-edit.txt"), &lines);
}
