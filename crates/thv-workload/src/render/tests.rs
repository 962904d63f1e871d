use proptest::prelude::*;
use thv_config::scaling::ScalingConfig;
use thv_plan::{Identity, Token};

use super::*;

fn config(transport: Transport) -> RunConfig {
    RunConfig {
        image: "registry/stale:0".to_owned(),
        name: "web".to_owned(),
        container_name: "web".to_owned(),
        transport,
        port: 8080,
        target_port: 3000,
        mcpserver_generation: 4,
        cmd_args: vec!["--verbose".to_owned()].into(),
        env_vars: BTreeMap::from([("LOG_LEVEL".to_owned(), "debug".to_owned())]).into(),
        container_labels: BTreeMap::from([("toolhive-name".to_owned(), "web".to_owned())]),
        ..RunConfig::default()
    }
}

fn birth(pod_patch: Option<Value>) -> Birth {
    Birth {
        image: "registry/web:2".to_owned(),
        pod_patch: pod_patch.map(|patch| patch.to_string()),
        token: Some(Token { uid: "u".to_owned(), number: 7 }),
        checksum: None,
    }
}

fn drawn(config: &RunConfig, patch: Option<Value>) -> Blueprint {
    Blueprint::new(config, &birth(patch)).unwrap()
}

fn template(config: &RunConfig, patch: Option<Value>, platform: Platform) -> Value {
    drawn(config, patch).stateful_set(platform).body()["spec"]["template"].clone()
}

/// The container of the server, under a patch for it.
fn server(config: &RunConfig, patch: Value) -> Value {
    let mut named = patch;
    named["name"] = json!("mcp");
    let template = template(config, Some(json!({"spec": {"containers": [named]}})), Platform::Kubernetes);
    template["spec"]["containers"][0].clone()
}

#[test]
fn a_stateful_set_is_that_of_the_go_proxy() {
    let mut config = config(Transport::StreamableHttp);
    config.scaling_config = Some(ScalingConfig { backend_replicas: Some(2), ..ScalingConfig::default() });
    let secret =
        json!({"name": "API_TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}});
    let patch = json!({"spec": {
        "serviceAccountName": "web-sa", "nodeSelector": {"os": "linux"},
        "containers": [{"name": "mcp", "env": [secret]}],
    }});
    let draft = drawn(&config, Some(patch)).stateful_set(Platform::Kubernetes);
    let labels = json!({"app": "web", "toolhive": "true", "toolhive-name": "web"});
    let context = json!({
        "runAsNonRoot": true, "runAsUser": 1000, "runAsGroup": 1000, "seccompProfile": {"type": "RuntimeDefault"},
    });
    let mut pod_context = context.clone();
    pod_context["fsGroup"] = json!(1000);
    let mut container_context = context;
    container_context["privileged"] = json!(false);
    container_context["allowPrivilegeEscalation"] = json!(false);
    container_context["readOnlyRootFilesystem"] = json!(true);
    container_context["capabilities"] = json!({"drop": ["ALL"]});
    let owner = json!({
        "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPServer", "name": "web", "controller": true,
    });
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "web", "labels": labels, "ownerReferences": [owner]},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "serviceName": "web",
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "serviceAccountName": "web-sa", "nodeSelector": {"os": "linux"},
                    "restartPolicy": "Always",
                    "securityContext": pod_context,
                    "containers": [{
                        "name": "mcp", "image": "registry/web:2", "imagePullPolicy": "IfNotPresent",
                        "args": ["--verbose"], "stdin": false, "tty": false,
                        "env": [
                            secret,
                            {"name": "FASTMCP_PORT", "value": "3000"},
                            {"name": "LOG_LEVEL", "value": "debug"},
                            {"name": "MCP_HOST", "value": ""},
                            {"name": "MCP_PORT", "value": "3000"},
                            {"name": "MCP_TRANSPORT", "value": "streamable-http"},
                        ],
                        "securityContext": container_context,
                    }],
                },
            },
        },
    });
    assert_eq!(Value::Object(draft.body().clone()), expected);
}

#[test]
fn services_are_those_of_the_go_proxy() {
    for transport in [Transport::Sse, Transport::StreamableHttp] {
        let services = drawn(&config(transport), None).services();
        let names: Vec<_> = services.iter().map(Draft::name).collect();
        assert_eq!(names, ["mcp-web-headless", "mcp-web"]);
        let ports = json!([{"name": "port-3000", "port": 3000, "targetPort": 3000, "protocol": "TCP"}]);
        let headless =
            json!({"type": "ClusterIP", "clusterIP": "None", "selector": {"app": "web"}, "ports": ports});
        assert_eq!(services[0].body()["spec"], headless);
        let affine = json!({
            "type": "ClusterIP", "selector": {"app": "web"}, "ports": ports,
            "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 1800}},
        });
        assert_eq!(services[1].body()["spec"], affine);
        let owner =
            json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "controller": true}]);
        assert_eq!(services[1].body()["metadata"]["ownerReferences"], owner);
    }
    assert!(drawn(&config(Transport::Stdio), None).services().is_empty());
}

#[test]
fn only_what_is_published_on_a_node_is_opened_there() {
    let mut config = config(Transport::StreamableHttp);
    config.target_port = 30080;
    let services = drawn(&config, None).services();
    assert_eq!(services[1].body()["spec"]["type"], "ClusterIP");
    config.publish = vec!["31000:9000".to_owned()];
    let services = drawn(&config, None).services();
    assert_eq!(services[0].body()["spec"]["type"], "ClusterIP");
    assert_eq!(services[1].body()["spec"]["type"], "NodePort");
    assert_eq!(services[1].body()["spec"]["ports"][0]["nodePort"], 31000);
    assert_eq!(services[1].body()["spec"]["ports"][1].get("nodePort"), None);
    assert!(!services[0].body()["spec"]["ports"].to_string().contains("nodePort"));
}

#[test]
fn s0_17_what_a_proxy_was_born_with_beats_the_file() {
    let mut config = config(Transport::Stdio);
    config.k8s_pod_template_patch = json!({"spec": {"nodeSelector": {"from": "file"}}}).to_string().into();
    let born =
        template(&config, Some(json!({"spec": {"nodeSelector": {"from": "birth"}}})), Platform::Kubernetes);
    assert_eq!(born["spec"]["containers"][0]["image"], "registry/web:2");
    assert_eq!(born["spec"]["nodeSelector"], json!({"from": "birth"}));
    let without = template(&config, None, Platform::Kubernetes);
    assert_eq!(without["spec"]["nodeSelector"], json!({"from": "file"}));
    assert_eq!(without["spec"]["containers"][0]["image"], "registry/web:2");
}

#[test]
fn what_is_not_the_users_to_change_is_put_right() {
    let patch = json!({
        "metadata": {
            "labels": {"app": "mine", "team": "a"},
            "annotations": {
                "toolhive.stacklok.dev/mcpserver-generation": "99", "kubectl.kubernetes.io/restartedAt": "x", "a": "b",
            },
        },
        "spec": {"containers": [{
            "name": "mcp", "image": "evil", "stdin": false, "tty": true, "args": ["first"],
            "env": [
                {"name": "MCP_TRANSPORT", "value": "x"}, {"name": "LOG_LEVEL", "value": "x"},
                {"name": "TWICE", "value": "1"}, {"name": "TWICE", "value": "2"},
            ],
        }]},
    });
    let template = template(&config(Transport::Stdio), Some(patch), Platform::Kubernetes);
    let labels = json!({"app": "web", "toolhive": "true", "toolhive-name": "web", "team": "a"});
    assert_eq!(template["metadata"], json!({"labels": labels, "annotations": {"a": "b"}}));
    let server = &template["spec"]["containers"][0];
    assert_eq!(server["image"], "registry/web:2");
    assert_eq!((&server["stdin"], &server["tty"]), (&json!(true), &json!(false)));
    assert_eq!(server["args"], json!(["first", "--verbose"]));
    let env = json!([
        {"name": "LOG_LEVEL", "value": "debug"}, {"name": "MCP_TRANSPORT", "value": "stdio"},
        {"name": "TWICE", "value": "2"},
    ]);
    assert_eq!(server["env"], env);
}

#[test]
fn s0_12_the_order_of_variables_means_nothing() {
    let config = config(Transport::Stdio);
    let [one, other] = [json!({"name": "Z", "value": "$(A)"}), json!({"name": "A", "value": "1"})];
    let first = server(&config, json!({"env": [one, other]}));
    assert_eq!(first, server(&config, json!({"env": [other, one]})));
}

#[test]
fn containers_stay_in_the_users_order() {
    let names = |patch: Value| -> Vec<Value> {
        let template = template(&config(Transport::Stdio), Some(patch), Platform::Kubernetes);
        template["spec"]["containers"].as_array().unwrap().iter().map(|c| c["name"].clone()).collect()
    };
    let containers = |names: &[&str]| {
        let all: Vec<_> = names.iter().map(|name| json!({"name": name, "resources": null})).collect();
        json!({"spec": {"containers": all}})
    };
    assert_eq!(names(containers(&["a", "b"])), ["a", "b", "mcp"]);
    assert_eq!(names(containers(&["mcp", "b"])), ["mcp", "b"]);
    assert_eq!(names(json!({"spec": {"containers": [{"$patch": "replace"}, {"name": "a"}]}})), ["a", "mcp"]);
    assert_eq!(names(json!({"spec": {"containers": [{"name": "mcp", "$patch": "delete"}]}})), ["mcp"]);
    assert_eq!(names(json!({"spec": null})), ["mcp"]);
}

#[test]
fn what_says_nothing_is_left_out() {
    let patch = json!({"spec": {"containers": [{"name": "side", "resources": null, "env": [{"name": "A", "value": null}]}]}});
    let template = template(&config(Transport::Stdio), Some(patch), Platform::Kubernetes);
    assert_eq!(template["spec"]["containers"][0], json!({"name": "side", "env": [{"name": "A"}]}));
}

#[test]
fn security_is_filled_in_and_not_forced() {
    let own =
        json!({"securityContext": {"runAsUser": 7, "capabilities": {"add": ["CHOWN"]}, "runAsGroup": null}});
    let context = server(&config(Transport::Stdio), own.clone())["securityContext"].clone();
    assert_eq!(context["runAsUser"], 7);
    assert_eq!(context["runAsGroup"], 1000);
    assert_eq!(
        context["capabilities"],
        json!({"add": ["CHOWN"]}),
        "a field that the user sets is the user's whole"
    );
    assert_eq!(context["readOnlyRootFilesystem"], true);

    let mut named = own;
    named["name"] = json!("mcp");
    let patch = json!({"spec": {"securityContext": {"fsGroup": 7, "runAsUser": 7}, "containers": [named]}});
    let template = template(&config(Transport::Stdio), Some(patch), Platform::OpenShift);
    for context in
        [&template["spec"]["securityContext"], &template["spec"]["containers"][0]["securityContext"]]
    {
        for id in ["runAsUser", "runAsGroup", "fsGroup"] {
            assert_eq!(context.get(id), None, "{id}");
        }
        assert_eq!(context["runAsNonRoot"], true);
    }
}

#[test]
fn container_ports_are_declared_for_sse_only() {
    assert_eq!(server(&config(Transport::StreamableHttp), json!({})).get("ports"), None);
    let own =
        json!({"ports": [{"containerPort": 3000, "name": "x"}, {"containerPort": 1, "protocol": "UDP"}]});
    let mut config = config(Transport::Sse);
    config.publish = vec!["1".to_owned()];
    let mut expected = own["ports"].clone();
    expected.as_array_mut().unwrap().push(json!({"containerPort": 1, "protocol": "TCP"}));
    assert_eq!(server(&config, own)["ports"], expected);
}

#[test]
fn the_digest_is_of_the_content_alone() {
    let config = config(Transport::Sse);
    let draft = drawn(&config, None).stateful_set(Platform::Kubernetes);
    let mut later = config.clone();
    later.mcpserver_generation = 9;
    assert_eq!(draft.digest(), drawn(&later, None).stateful_set(Platform::Kubernetes).digest());
    later.cmd_args.push("more".to_owned());
    assert_ne!(draft.digest(), drawn(&later, None).stateful_set(Platform::Kubernetes).digest());

    let token = Token { uid: "u".to_owned(), number: 7 };
    let live = Identity { uid: "o".to_owned(), resource_version: "9".to_owned() };
    let whole = Completion {
        owner: Some("u"),
        token: Some(&token),
        stamp: Some("4"),
        live: Some(&live),
        leaves_replicas: false,
    };
    let body = draft.complete(whole);
    let metadata = &body["metadata"];
    assert_eq!((&metadata["uid"], &metadata["resourceVersion"]), (&json!("o"), &json!("9")));
    assert_eq!(metadata["ownerReferences"][0]["uid"], "u");
    assert_eq!(metadata["ownerReferences"][0].get("blockOwnerDeletion"), None);
    let mark = format!("u/7/{}", draft.digest());
    assert_eq!(metadata["annotations"]["toolhive.stacklok.dev/applied-revision"], mark);
    let stamp = "/spec/template/metadata/annotations/toolhive.stacklok.dev~1mcpserver-generation";
    assert_eq!(body.pointer(stamp), Some(&json!("4")));

    let bare = draft.complete(Completion::default());
    assert_eq!(
        bare["metadata"],
        json!({
            "name": "web", "labels": draft.body()["metadata"]["labels"], "resourceVersion": "1",
        })
    );
    assert_eq!(bare["spec"], draft.body()["spec"]);
}

#[test]
fn replicas_are_said_only_when_they_are_known() {
    let mut config = config(Transport::Stdio);
    assert!(!drawn(&config, None).stateful_set(Platform::Kubernetes).has_replicas());
    config.scaling_config = Some(ScalingConfig { backend_replicas: Some(0), ..ScalingConfig::default() });
    let draft = drawn(&config, None).stateful_set(Platform::Kubernetes);
    assert_eq!(draft.body()["spec"]["replicas"], 0);
    let left = draft.complete(Completion { leaves_replicas: true, ..Completion::default() });
    assert_eq!(left["spec"].get("replicas"), None);
}

#[test]
fn what_cannot_be_used_is_refused_without_showing_it() {
    let made = |patch: &str| {
        let birth = Birth { pod_patch: Some(patch.to_owned()), ..birth(None) };
        Blueprint::new(&config(Transport::Stdio), &birth).unwrap_err()
    };
    for bad in ["hush", "[]", "{\"hush\": ", "7"] {
        let error = made(bad).to_string();
        assert!(error.contains("no JSON object") && !error.contains("hush"), "{error}");
    }
    assert!(matches!(made(r#"{"spec": {"containers": [{"image": "x"}]}}"#), RenderError::Patch(_)));
    let nameless =
        RunConfig { name: String::new(), container_name: String::new(), ..config(Transport::Stdio) };
    assert_eq!(Blueprint::new(&nameless, &birth(None)).unwrap_err(), RenderError::Nameless);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z$]{0,8}".prop_map(Value::from),
    ];
    let names = "(spec|metadata|labels|annotations|containers|initContainers|env|name|mcp|args|ports|securityContext|\
                 \\$patch|\\$setElementOrder/containers|value|image)";
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(names, inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_the_patch_the_server_is_ours_or_there_is_none(patch in any_json(), text in "\\PC{0,30}") {
        let config = config(Transport::StreamableHttp);
        for patch in [patch.to_string(), text] {
            let birth = Birth { pod_patch: Some(patch), ..birth(None) };
            let Ok(blueprint) = Blueprint::new(&config, &birth) else { continue };
            for platform in [Platform::Kubernetes, Platform::OpenShift] {
                let draft = blueprint.stateful_set(platform);
                prop_assert_eq!(&draft, &blueprint.stateful_set(platform));
                let template = &draft.body()["spec"]["template"];
                prop_assert_eq!(&template["metadata"]["labels"]["app"], "web");
                let all = template["spec"]["containers"].as_array().unwrap();
                let servers: Vec<_> = all.iter().filter(|container| container["name"] == "mcp").collect();
                prop_assert!(!servers.is_empty());
                prop_assert_eq!(&servers[0]["image"], "registry/web:2");
                prop_assert_eq!(&servers[0]["tty"], false);
            }
        }
    }

    #[test]
    fn the_same_input_in_another_order_is_the_same_backend(
        pairs in proptest::collection::btree_map("[A-Z]{1,3}", "[a-z]{0,3}", 0..6), turn in 0_usize..6,
    ) {
        let config = config(Transport::StreamableHttp);
        let entry = |(name, value): (&String, &String)| json!({"name": name, "value": value});
        let mut entries: Vec<Value> = pairs.iter().map(entry).collect();
        let first = server(&config, json!({"env": entries}));
        let turn = turn % entries.len().max(1);
        entries.rotate_left(turn);
        prop_assert_eq!(first, server(&config, json!({"env": entries})));
    }
}
