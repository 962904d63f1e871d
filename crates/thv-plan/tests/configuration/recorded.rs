//! Configurations that the Go operator wrote, compared with ours. Deliberate differences are listed.

use serde_json::{Value, json};
use thv_plan::mcp_server::{resolve, run_config as build, wiring};
use thv_plan::run_config::VolumeWiring;
use thv_plan::{EnvValue, VolumeSource};

use crate::recordings::recorded;
use crate::support::Manifests;

/// A difference that we want: the place, what was recorded there, and what we write.
struct Difference {
    server: &'static str,
    place: &'static str,
    ours: Option<&'static str>,
}

const fn differs(server: &'static str, place: &'static str, ours: Option<&'static str>) -> Difference {
    Difference { server, place, ours }
}

/// Nothing phones home; URLs are those of Services that exist; sessions belong to one server; sets are sorted.
const DELIBERATE: &[Difference] = &[
    differs("web", "/oidc_config/ResourceURL", Some("\"http://mcp-web-proxy.fleet.svc.cluster.local:8080\"")),
    differs(
        "web",
        "/middleware_configs/auth/oidc_config/ResourceURL",
        Some("\"http://mcp-web-proxy.fleet.svc.cluster.local:8080\""),
    ),
    differs("web", "/scaling_config/session_redis/key_prefix", Some("\"thv:proxy:session:fleet:web:\"")),
    differs("web", "/tools_filter", Some(r#"["add","echo"]"#)),
    differs("web", "/middleware_configs/tool-filter/filter_tools", Some(r#"["add","echo"]"#)),
    differs("web", "/middleware_configs/tool-call-filter/filter_tools", Some(r#"["add","echo"]"#)),
    differs("web", "/middleware_configs/usagemetrics", None),
    differs("plain-stdio", "/middleware_configs/usagemetrics", None),
];

/// What was applied, with the servers as the API server made them: with defaults and generations.
fn applied() -> Manifests {
    let mut manifests = Manifests::default();
    for object in recorded("input").into_iter().chain(recorded("mcpservers")) {
        manifests.add(object);
    }
    manifests
}

#[test]
fn differ_from_ours_only_where_we_want_it() {
    let manifests = applied();
    let recorded = recorded("configmaps");
    for server in ["plain-stdio", "web"] {
        let map =
            recorded.iter().find(|map| map["metadata"]["name"] == format!("{server}-runconfig")).unwrap();
        let theirs: Value = serde_json::from_str(map["data"]["runconfig.json"].as_str().unwrap()).unwrap();
        let snapshot = manifests.snapshot(server);
        let config = build(&snapshot, &resolve(&snapshot), snapshot.generation()).unwrap();
        let ours: Value = serde_json::from_slice(&config.to_bytes().unwrap()).unwrap();
        let mut found = Vec::new();
        compare("", &by_type(theirs), &by_type(ours), &mut found);
        let mut expected: Vec<_> = DELIBERATE
            .iter()
            .filter(|it| it.server == server)
            .map(|it| (it.place.to_owned(), it.ours.map(str::to_owned)))
            .collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{server}");
    }
}

#[test]
fn pods_have_the_variables_and_volumes_that_ours_have() {
    let manifests = applied();
    let deployments = recorded("deployments");
    let web = deployments.iter().find(|it| it["metadata"]["name"] == "web").unwrap();
    let pod = &web["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let find = |list: &Value, name: &str| {
        let found = list.as_array().unwrap().iter().find(|entry| entry["name"] == name);
        found.unwrap_or_else(|| panic!("nobody recorded {name}")).clone()
    };
    let wiring = wiring(&manifests.resolved("web"));
    assert_eq!(wiring.env.len(), 4);
    for (name, value) in &wiring.env {
        let theirs = find(&container["env"], name);
        match value {
            EnvValue::Literal(text) => assert_eq!(theirs["value"], *text),
            EnvValue::Secret { name, key } => {
                let source = &theirs["valueFrom"]["secretKeyRef"];
                assert_eq!((&source["name"], &source["key"]), (&json!(name), &json!(key)));
            }
            EnvValue::Annotation(_) | EnvValue::Field(_) | EnvValue::Entry(_) => panic!("{name} is not ours"),
        }
    }
    assert_eq!(wiring.volumes.len(), 2);
    for VolumeWiring { name, source, mount } in &wiring.volumes {
        let VolumeSource::ConfigMap { name: map, items } = source else {
            panic!("{name} has another source")
        };
        let theirs = find(&pod["volumes"], name);
        let items: Vec<_> = items.iter().map(|(key, path)| json!({"key": key, "path": path})).collect();
        assert_eq!(
            (&theirs["configMap"]["name"], &theirs["configMap"]["items"]),
            (&json!(map), &json!(items))
        );
        let theirs = find(&container["volumeMounts"], name);
        assert_eq!(
            (&theirs["mountPath"], &theirs["readOnly"]),
            (&json!(mount.path), &json!(mount.read_only))
        );
    }
}

/// The same document with middlewares by type, after checking that what both have is in the same order.
fn by_type(mut document: Value) -> Value {
    let chain = document["middleware_configs"].take();
    let entries = chain.as_array().unwrap().iter();
    let entries =
        entries.map(|entry| (entry["type"].as_str().unwrap().to_owned(), entry["parameters"].clone()));
    let order: Vec<Value> = entries
        .clone()
        .map(|(type_, _)| type_)
        .filter(|type_| type_ != "usagemetrics")
        .map(Value::from)
        .collect();
    document["middleware_configs"] = entries.collect::<serde_json::Map<_, _>>().into();
    document["order of middlewares"] = order.into();
    document
}

/// Where two values differ, and what stands there in ours.
fn compare(place: &str, theirs: &Value, ours: &Value, found: &mut Vec<(String, Option<String>)>) {
    let (Value::Object(theirs), Value::Object(ours)) = (theirs, ours) else {
        if theirs != ours {
            found.push((place.to_owned(), Some(ours.to_string())));
        }
        return;
    };
    for (key, value) in theirs {
        let place = format!("{place}/{key}");
        match ours.get(key) {
            Some(other) => compare(&place, value, other, found),
            None => found.push((place, None)),
        }
    }
    for (key, value) in ours.iter().filter(|(key, _)| !theirs.contains_key(*key)) {
        found.push((format!("{place}/{key}"), Some(value.to_string())));
    }
}
