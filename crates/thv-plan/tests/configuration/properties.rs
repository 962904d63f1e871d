//! What holds for every server.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPOIDCConfigSpec, MCPServerSpec, MCPTelemetryConfigSpec,
    MCPToolConfigSpec, MCPWebhookConfigSpec,
};
use thv_config::RunConfig;
use thv_plan::InvalidList;
use thv_plan::mcp_server::{resolve, run_config as build, wiring};

use crate::arbitrary::objects;
use crate::golden::manifests;
use crate::support::Manifests;

fn run(manifests: &Manifests, server: &str) -> Result<RunConfig, InvalidList> {
    let snapshot = manifests.snapshot(server);
    build(&snapshot, &resolve(&snapshot), 1)
}

/// Servers and configuration of every kind, as the schemas allow them and users would not write them. All refer to each
/// other, and what they name of Secrets and ConfigMaps is there.
fn worlds() -> impl Strategy<Value = Manifests> {
    let configs = (
        objects::<MCPAuthzConfigSpec>(),
        objects::<MCPExternalAuthConfigSpec>(),
        objects::<MCPOIDCConfigSpec>(),
        objects::<MCPTelemetryConfigSpec>(),
        objects::<MCPToolConfigSpec>(),
        objects::<MCPWebhookConfigSpec>(),
    );
    (objects::<MCPServerSpec>(), configs, any::<[bool; 6]>()).prop_map(|(mut server, configs, keep)| {
        let (authz, external, oidc, telemetry, tools, webhooks) = configs;
        let fields = [
            "authzConfigRef",
            "externalAuthConfigRef",
            "oidcConfigRef",
            "telemetryConfigRef",
            "toolConfigRef",
            "webhookConfigRef",
        ];
        for (field, keep) in fields.into_iter().zip(keep) {
            match server["spec"].get_mut(field).filter(|_| keep) {
                Some(reference) => reference["name"] = json!("config"),
                None => drop(server["spec"].as_object_mut().map(|spec| spec.remove(field))),
            }
        }
        let mut manifests = Manifests::default();
        for mut object in [authz, external, oidc, telemetry, tools, webhooks] {
            object["metadata"]["name"] = json!("config");
            provide(&object, &mut manifests);
            manifests.add(object);
        }
        server["metadata"]["name"] = json!("web");
        provide(&server, &mut manifests);
        manifests.add(server);
        manifests
    })
}

/// Adds a Secret and a ConfigMap for everything that has a name and a key.
fn provide(value: &Value, manifests: &mut Manifests) {
    match value {
        Value::Object(fields) => {
            if let (Some(Value::String(name)), Some(Value::String(key))) =
                (fields.get("name"), fields.get("key"))
            {
                for kind in ["Secret", "ConfigMap"] {
                    manifests.add(json!({"kind": kind, "metadata": {"name": name}, "data": {key: "{}"}}));
                }
            }
            fields.values().for_each(|field| provide(field, manifests));
        }
        Value::Array(items) => items.iter().for_each(|item| provide(item, manifests)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Servers that are mostly sound, with a few strange values.
fn specs() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![8 => "[a-z]{1,6}", 1 => "\\PC{0,12}", 1 => "[\r\n:=,$`]{1,3}"];
    let reference =
        |name: &'static str| proptest::option::of(prop_oneof![9 => Just(name), 1 => Just("gone")]);
    let basics = (
        text(),
        proptest::sample::select(&["stdio", "sse", "streamable-http"][..]),
        proptest::collection::btree_map(text(), text(), 0..3),
        proptest::collection::vec((text(), text(), any::<bool>()), 0..3),
    );
    let references =
        (reference("cluster"), reference("exchange"), reference("few-tools"), reference("hooks"));
    let rest = (proptest::option::of(0..5_i32), any::<bool>(), proptest::option::of(text()));
    (basics, references, rest).prop_map(|(basics, references, rest)| {
        let (image, transport, env, volumes) = basics;
        let (oidc, external, tools, webhooks) = references;
        let (replicas, audit, policy) = rest;
        let env: Vec<_> = env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        let volume = |(index, (host, mount, ro)): (usize, &(String, String, bool))| {
            json!({"name": format!("v{index}"), "hostPath": host, "mountPath": mount, "readOnly": ro})
        };
        let volumes: Vec<_> = volumes.iter().enumerate().map(volume).collect();
        let reference = |name: Option<&str>| name.map(|name| json!({"name": name}));
        json!({
            "image": image, "transport": transport, "env": env, "volumes": volumes,
            "oidcConfigRef": oidc.map(|name| json!({"name": name, "audience": "web"})),
            "externalAuthConfigRef": reference(external), "toolConfigRef": reference(tools),
            "webhookConfigRef": reference(webhooks), "backendReplicas": replicas, "audit": {"enabled": audit},
            "authzConfig": policy.map(|policy| json!({"type": "inline", "inline": {"policies": [policy]}})),
        })
    })
}

/// What holds for every server: the same comes out twice, and it can be used.
fn holds(manifests: &Manifests) -> Result<(), TestCaseError> {
    let result = run(manifests, "web");
    prop_assert_eq!(&result, &run(manifests, "web"), "not deterministic");
    match &result {
        Ok(config) => {
            let bytes = config.to_bytes().unwrap();
            prop_assert_eq!(&RunConfig::parse(&bytes).unwrap().value, config);
        }
        Err(problems) => {
            prop_assert!(!problems.is_empty());
            prop_assert!(
                problems.iter().all(|problem| !problem.path.is_empty() && !problem.message.is_empty())
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_schemas_allow_is_configured_or_refused(manifests in worlds()) {
        let resolved = manifests.resolved("web");
        let wiring = wiring(&resolved);
        let names: BTreeSet<_> = wiring.volumes.iter().map(|volume| &volume.name).collect();
        prop_assert_eq!(names.len(), wiring.volumes.len(), "a volume is there twice");
        holds(&manifests)?;
    }

    #[test]
    fn what_is_mostly_sound_is_configured_or_refused(spec in specs()) {
        let mut manifests = manifests("everything");
        manifests.edit("MCPServer", "web", |server| server["spec"] = spec);
        holds(&manifests)?;
    }

    #[test]
    fn the_order_of_what_has_no_order_does_not_matter(seed: u64) {
        let mut shuffled = manifests("everything");
        let turn = |list: &mut Value, by: u64| {
            let list = list.as_array_mut().unwrap();
            let by = usize::try_from(by).unwrap() % list.len();
            list.rotate_left(by);
        };
        shuffled.edit("MCPServer", "web", |server| {
            turn(&mut server["spec"]["env"], seed % 3);
            turn(&mut server["spec"]["volumes"], seed / 3 % 2);
            turn(&mut server["spec"]["rateLimiting"]["tools"], seed / 6 % 2);
        });
        shuffled.edit("MCPToolConfig", "few-tools", |config| turn(&mut config["spec"]["toolsFilter"], seed / 12 % 2));
        let (one, other) = (manifests("everything"), shuffled);
        prop_assert_eq!(run(&one, "web").unwrap().to_bytes().unwrap(), run(&other, "web").unwrap().to_bytes().unwrap());
        prop_assert_eq!(wiring(&one.resolved("web")), wiring(&other.resolved("web")));
    }
}

#[test]
fn the_order_of_arguments_and_scopes_matters() {
    let before = run(&manifests("everything"), "web").unwrap();
    for field in ["/spec/args", "/spec/oidcConfigRef/scopes"] {
        let mut manifests = manifests("everything");
        manifests.edit("MCPServer", "web", |server| {
            server.pointer_mut(field).unwrap().as_array_mut().unwrap().reverse();
        });
        assert_ne!(run(&manifests, "web").unwrap(), before, "{field}");
    }
}
