//! The configuration that a virtual server is given.

use serde_json::json;
use thv_plan::ChildKind;

use crate::support::{World, config_map, entry, header, object, secret, server};

#[test]
fn a_minimal_server_discovers_its_backends_and_has_the_usual_settings() {
    let world = World::new(json!({}), &[server("github", json!({}))]);
    let expected = json!({
        "name": "hub", "groupRef": "team", "incomingAuth": {"type": "anonymous"},
        "outgoingAuth": {"source": "discovered"},
        "aggregation": {
            "conflictResolution": "prefix", "conflictResolutionConfig": {"prefixFormat": "{workload}_"},
        },
        "operational": {
            "timeouts": {"default": "30s"},
            "failureHandling": {
                "healthCheckInterval": "30s", "unhealthyThreshold": 3, "statusReportingInterval": "30s",
                "partialFailureMode": "fail",
                "circuitBreaker": {"failureThreshold": 5, "timeout": "1m0s"},
            },
        },
    });
    assert_eq!(world.config(), expected);
}

#[test]
fn backends_that_are_fixed_are_written_with_what_their_users_say_and_not_with_how_they_do() {
    let members = [
        server("github", json!({"transport": "stdio", "externalAuthConfigRef": {"name": "hdr"}})),
        entry("ctx", json!({"caBundleRef": {"configMapRef": {"name": "ctx-ca", "key": "ca.crt"}}})),
        header("hdr"),
        secret("keys", &["hdr"]),
        config_map("ctx-ca", json!({"ca.crt": "-----BEGIN"})),
    ];
    let mut world = World::new(json!({"outgoingAuth": {"source": "inline"}}), &members);
    let expected = json!([
        {
            "name": "ctx", "url": "https://mcp.ctx.example/mcp", "transport": "streamable-http", "type": "entry",
            "caBundlePath": "/etc/toolhive/ca-bundles/ctx/ca.crt",
            "metadata": {
                "group": "team", "namespace": "prod", "remote_url": "https://mcp.ctx.example/mcp",
                "tool_type": "mcp", "workload_type": "server_entry",
            },
        },
        {
            "name": "github", "url": "http://mcp-github-proxy.prod.svc.cluster.local:8080/mcp",
            "transport": "streamable-http",
            "metadata": {
                "group": "team", "namespace": "prod", "tool_type": "mcp", "workload_type": "mcp_server",
            },
        },
    ]);
    assert_eq!(world.config()["backends"], expected);
    let variable = "TOOLHIVE_HEADER_INJECTION_VALUE_HDR";
    assert_eq!(
        world.config()["outgoingAuth"],
        json!({"source": "inline", "backends": {"github": {
            "type": "header_injection",
            "headerInjection": {"headerName": "X-Api-Key", "headerValueEnv": variable},
        }}})
    );
    assert_eq!(world.variable(variable)["valueFrom"]["secretKeyRef"], json!({"name": "keys", "key": "hdr"}));

    // A backend that fails is still a backend, and nothing is restarted for it.
    let before = world.children();
    let mut failed =
        server("github", json!({"transport": "stdio", "externalAuthConfigRef": {"name": "hdr"}}));
    failed["status"] = json!({"phase": "Failed"});
    failed["metadata"]["annotations"] = json!({"note": "x"});
    world.put(failed);
    assert_eq!(world.children(), before);
}

#[test]
fn what_is_said_of_a_tool_comes_before_what_a_shared_choice_says() {
    let shared = json!({
        "toolsFilter": ["a", "b"],
        "toolsOverride": {"a": {"name": "shared-a"}, "b": {"description": "shared"}},
    });
    let own = json!({"workload": "github", "toolConfigRef": {"name": "choice"}, "overrides": {"a": {"name": "mine"}}});
    let config =
        json!({"aggregation": {"conflictResolution": "prefix", "tools": [own], "excludeAllTools": true}});
    let world = World::new(json!({ "config": config }), &[object("MCPToolConfig", "choice", shared)]);
    let config = world.config();
    let aggregation = &config["aggregation"];
    let expected = json!([{
        "workload": "github", "filter": ["a", "b"],
        "overrides": {"a": {"name": "mine"}, "b": {"description": "shared"}},
    }]);
    assert_eq!((&aggregation["tools"], &aggregation["excludeAllTools"]), (&expected, &json!(true)));
}

#[test]
fn every_setting_of_the_behaviour_reaches_the_configuration() {
    let config = json!({
        "metadata": {"team": "platform"},
        "operational": {
            "logLevel": "debug",
            "timeouts": {"default": "20s", "perWorkload": {"ctx": "45s"}},
            "failureHandling": {
                "healthCheckInterval": "60s", "healthCheckTimeout": "9s", "unhealthyThreshold": 4,
                "statusReportingInterval": "25s", "partialFailureMode": "best_effort",
                "circuitBreaker": {"enabled": true, "failureThreshold": 6, "timeout": "90s"},
            },
        },
        "audit": {"enabled": true, "includeRequestData": true, "maxDataSize": 99},
        "codeMode": {"enabled": true, "stepLimit": 7, "toolCallTimeout": "3s"},
        "optimizer": {"embeddingService": "http://emb:80", "maxToolsToReturn": 9},
        "rateLimiting": {"shared": {"maxTokens": 3, "refillPeriod": "60s"}},
        "passthroughHeaders": ["X-Low"],
    });
    let fields = json!({
        "config": config, "passthroughHeaders": ["X-Tenant"],
        "sessionStorage": {"provider": "redis", "address": "redis:6379", "db": 2},
    });
    let written = World::new(fields, &[]).config();
    assert_eq!(written["metadata"], json!({"team": "platform"}));
    assert_eq!(
        written["operational"],
        json!({
            "logLevel": "debug", "timeouts": {"default": "20s", "perWorkload": {"ctx": "45s"}},
            "failureHandling": {
                "healthCheckInterval": "1m0s", "healthCheckTimeout": "9s", "unhealthyThreshold": 4,
                "statusReportingInterval": "25s", "partialFailureMode": "best_effort",
                "circuitBreaker": {"enabled": true, "failureThreshold": 6, "timeout": "1m30s"},
            },
        })
    );
    assert_eq!(written["audit"]["component"], "hub");
    assert_eq!(written["audit"]["maxDataSize"], 99);
    assert_eq!(
        (&written["codeMode"]["stepLimit"], &written["codeMode"]["toolCallTimeout"]),
        (&json!(7), &json!("3s"))
    );
    assert_eq!(written["optimizer"]["embeddingService"], "http://emb:80");
    assert_eq!(written["passthroughHeaders"], json!(["X-Tenant"]));
    let storage = json!({
        "provider": "redis", "address": "redis:6379", "db": 2, "keyPrefix": "thv:proxy:session:prod:hub:",
    });
    assert_eq!(written["sessionStorage"], storage);
    assert_eq!(written["rateLimiting"]["shared"]["maxTokens"], 3);
}

#[test]
fn the_configuration_that_is_written_can_be_read_by_those_who_run_by_it() {
    let world = World::new(json!({}), &[]);
    let map = world.child(ChildKind::ConfigMap);
    let text = map["data"]["config.yaml"].as_str().unwrap();
    let config = thv_config::vmcp::VmcpConfig::parse(text.as_bytes(), None).unwrap();
    assert_eq!((config.name.as_str(), config.group_ref.as_str()), ("hub", "team"));
}
