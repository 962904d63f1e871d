//! Who may call a virtual server, and how it signs in to its backends. What is asked for and cannot be had stops it.

use serde_json::{Value, json};
use thv_plan::Children;

use crate::support::{World, config_map, entry, header, object, secret, server};

fn provider() -> Value {
    object(
        "MCPOIDCConfig",
        "idp",
        json!({"type": "inline", "inline": {
            "issuer": "https://idp.example", "clientSecretRef": {"name": "idp", "key": "secret"},
        }}),
    )
}

fn oidc() -> Value {
    json!({"type": "oidc", "oidcConfigRef": {"name": "idp", "audience": "hub"}})
}

/// An authorization server that users sign in to with these upstream providers.
fn auth_server(providers: &[&str]) -> Value {
    let provider = |name: &&str| json!({"name": name, "type": "oidc", "oidcConfig": {"issuerUrl": "https://corp.example", "clientId": "c"}});
    json!({
        "issuer": "https://hub.example",
        "upstreamProviders": providers.iter().map(provider).collect::<Vec<_>>(),
        "signingKeySecretRefs": [{"name": "signing", "key": "pem"}],
    })
}

/// A virtual server with an authorization server, and what both need.
fn with_auth_server(fields: Value, providers: &[&str]) -> World {
    let url = "http://vmcp-hub.prod.svc.cluster.local:4483";
    let inline = json!({"issuer": "https://hub.example"});
    let mut spec = json!({
        "incomingAuth": {"type": "oidc", "oidcConfigRef": {"name": "own", "audience": url}},
        "authServerConfig": auth_server(providers),
    });
    for (field, value) in fields.as_object().unwrap() {
        spec[field] = value.clone();
    }
    let own = object("MCPOIDCConfig", "own", json!({"type": "inline", "inline": inline}));
    World::new(spec, &[own, secret("signing", &["pem"])])
}

fn is_stopped(world: &World) -> bool {
    let plan = world.plan();
    assert_eq!(
        plan.status.phase.map(thv_api::kinds::VirtualMCPServerPhase::as_str) == Some("Failed"),
        plan.children == Children::Keep
    );
    plan.children == Children::Keep
}

#[test]
fn tokens_of_the_identity_provider_are_asked_for() {
    let world = World::new(json!({"incomingAuth": oidc()}), &[provider(), secret("idp", &["secret"])]);
    let incoming = &world.config()["incomingAuth"];
    assert_eq!(incoming["type"], "oidc");
    assert_eq!(incoming["oidc"]["issuer"], "https://idp.example");
    assert_eq!(incoming["oidc"]["clientSecretEnv"], "VMCP_OIDC_CLIENT_SECRET");
    assert_eq!(incoming["oidc"]["resource"], "http://vmcp-hub.prod.svc.cluster.local:4483");
    let variable = world.variable("VMCP_OIDC_CLIENT_SECRET");
    assert_eq!(variable["valueFrom"]["secretKeyRef"], json!({"name": "idp", "key": "secret"}));
}

#[test]
fn without_its_identity_provider_a_server_is_not_opened_to_everybody() {
    for world in [
        World::new(json!({"incomingAuth": oidc()}), &[]),
        World::new(json!({"incomingAuth": oidc()}), &[provider()]),
        World::new(json!({"incomingAuth": {"type": "oidc"}}), &[]),
    ] {
        assert!(is_stopped(&world), "{:#?}", world.plan());
    }
}

#[test]
fn rules_that_a_gateway_cannot_decide_by_are_refused_and_not_dropped() {
    let document =
        json!({"version": "1.0", "type": "httpv1", "pdp": {"http": {"url": "https://pdp.example"}}});
    let rules = json!({"type": "configMap", "configMap": {"name": "rules"}});
    let incoming = json!({"type": "anonymous", "authzConfig": rules});
    let world = World::new(
        json!({ "incomingAuth": incoming }),
        &[config_map("rules", json!({"authz.json": document.to_string()}))],
    );
    assert!(is_stopped(&world), "{:#?}", world.plan());
    let (status, reason, _) = world.condition("AuthConfigured");
    assert_eq!((status.as_str(), reason.as_str()), ("False", "AuthzConfigMapInvalid"));
}

#[test]
fn rules_see_the_claims_of_the_provider_that_the_authorization_server_names() {
    let rules = json!({"type": "inline", "inline": {"policies": ["permit(principal, action, resource);"]}});
    let mut world = with_auth_server(json!({}), &["okta", "corp"]);
    world.edit(|spec| spec["incomingAuth"]["authzConfig"] = rules);
    assert_eq!(world.config()["incomingAuth"]["authz"]["primaryUpstreamProvider"], "okta");
    assert_eq!(world.condition("AuthzUpstreamSelectionWarning").0, "True");
    world.edit(|spec| spec["authServerConfig"]["primaryUpstreamProvider"] = "corp".into());
    assert_eq!(world.config()["incomingAuth"]["authz"]["primaryUpstreamProvider"], "corp");
    assert!(!world.has_condition("AuthzUpstreamSelectionWarning"));
    world.edit(|spec| spec["authServerConfig"]["primaryUpstreamProvider"] = "gone".into());
    assert!(is_stopped(&world));
    let (status, reason, _) = world.condition("AuthServerConfigValidated");
    assert_eq!((status.as_str(), reason.as_str()), ("False", "AuthzUpstreamUnknown"));
}

#[test]
fn the_authorization_server_is_configured_in_a_file_of_its_own_and_its_keys_are_mounted() {
    let mut world = with_auth_server(json!({}), &["okta"]);
    let map = world.child(thv_plan::ChildKind::ConfigMap);
    let text = map["data"]["authserver-config.yaml"].as_str().unwrap();
    let server: Value = serde_saphyr::from_str(text).unwrap();
    assert_eq!(
        (&server["issuer"], &server["upstreams"][0]["name"]),
        (&json!("https://hub.example"), &json!("okta"))
    );
    let volume = |world: &World| {
        let pod = world.pod();
        let all = pod["volumes"].as_array().unwrap();
        all.iter().find(|it| it["name"] == "authserver-signing-key-0").unwrap()["secret"]["secretName"]
            .clone()
    };
    assert_eq!(volume(&world), "signing");
    world.put(secret("keys-v2", &["pem"]));
    world.edit(|spec| spec["authServerConfig"]["signingKeySecretRefs"][0]["name"] = "keys-v2".into());
    assert_eq!(volume(&world), "keys-v2");
}

#[test]
fn settings_of_the_spec_that_cannot_be_used_stop_the_server_and_say_which() {
    let auth = json!({"source": "discovered", "default": {
        "type": "externalAuthConfigRef", "externalAuthConfigRef": {"name": "hdr"},
    }});
    let mut world = World::new(json!({ "outgoingAuth": auth }), &[header("hdr")]);
    assert!(is_stopped(&world));
    assert_eq!(world.condition("DefaultAuthConfig").0, "False");
    world.put(secret("keys", &["hdr"]));
    assert!(!is_stopped(&world));
    assert_eq!(world.condition("DefaultAuthConfig").0, "True");
    assert_eq!(world.config()["outgoingAuth"]["default"]["type"], "header_injection");
}

#[test]
fn a_member_whose_own_settings_cannot_be_used_is_left_out_and_never_gets_the_default() {
    let auth = json!({"source": "inline", "default": {
        "type": "externalAuthConfigRef", "externalAuthConfigRef": {"name": "hdr"},
    }});
    let members = [
        header("hdr"),
        header("own"),
        secret("keys", &["hdr"]),
        server("broken", json!({"externalAuthConfigRef": {"name": "own"}})),
        server("fine", json!({})),
    ];
    let world = World::new(json!({ "outgoingAuth": auth }), &members);
    let names: Vec<_> =
        world.config()["backends"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["fine"]);
    assert_eq!(world.condition("DiscoveredAuthConfig-broken").0, "False");
    let (status, _, message) = world.condition("MembersAccepted");
    assert!(status == "False" && message.contains("MCPServer broken"), "{message}");
}

#[test]
fn a_backend_that_is_to_sign_in_as_it_says_itself_and_says_nothing_does_not_get_the_default() {
    let auth = json!({
        "source": "inline",
        "default": {"type": "externalAuthConfigRef", "externalAuthConfigRef": {"name": "hdr"}},
        "backends": {"plain": {"type": "discovered"}},
    });
    let members = [header("hdr"), secret("keys", &["hdr"]), server("plain", json!({}))];
    let world = World::new(json!({ "outgoingAuth": auth }), &members);
    assert_eq!(world.config()["outgoingAuth"]["backends"]["plain"], json!({"type": "unauthenticated"}));
}

#[test]
fn a_member_whose_secret_would_be_in_the_variable_of_another_is_left_out() {
    let auth = |name: &str| json!({"externalAuthConfigRef": {"name": name}});
    let members = [
        header("a.b"),
        header("a-b"),
        secret("keys", &["a.b", "a-b"]),
        server("one", auth("a.b")),
        server("two", auth("a-b")),
    ];
    let mut world = World::new(json!({"outgoingAuth": {"source": "inline"}}), &members);
    let names: Vec<_> =
        world.config()["backends"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["one"]);
    let variable = "TOOLHIVE_HEADER_INJECTION_VALUE_A_B";
    assert!(world.condition("DiscoveredAuthConfig-two").2.contains(variable));
    assert_eq!(world.variable(variable)["valueFrom"]["secretKeyRef"]["key"], "a.b");

    // What the spec itself says is not left out.
    let default = json!({"type": "externalAuthConfigRef", "externalAuthConfigRef": {"name": "a.b"}});
    let backend = json!({"type": "externalAuthConfigRef", "externalAuthConfigRef": {"name": "a-b"}});
    world.edit(|spec| {
        spec["outgoingAuth"] = json!({"source": "inline", "default": default, "backends": {"two": backend}});
    });
    assert!(is_stopped(&world));
    assert_eq!(world.condition("BackendAuthConfig-two").0, "False");
}

#[test]
fn a_member_that_would_make_the_configuration_invalid_is_left_out_alone() {
    let token = object(
        "MCPExternalAuthConfig",
        "token",
        json!({
            "type": "upstreamInject", "upstreamInject": {"providerName": "okta"},
        }),
    );
    let members = [
        token,
        server("fine", json!({})),
        // There is no authorization server that would have the token.
        server("wants", json!({"externalAuthConfigRef": {"name": "token"}})),
    ];
    let world = World::new(json!({"outgoingAuth": {"source": "inline"}}), &members);
    let config = world.config();
    let names: Vec<_> = config["backends"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["fine"]);
    assert!(config["outgoingAuth"].get("backends").is_none(), "{config}");
    let (status, _, message) = world.condition("MembersAccepted");
    assert!(status == "False" && message.contains("MCPServer wants"), "{message}");
}

#[test]
fn headers_for_an_entry_come_in_variables_and_what_looks_like_one_in_them_is_none() {
    let headers = json!({
        "addPlaintextHeaders": {"X-Plain": "$(HOME)"},
        "addHeadersFromSecret": [{"headerName": "X-Key", "valueSecretRef": {"name": "keys", "key": "k"}}],
    });
    let members = [entry("ctx", json!({ "headerForward": headers })), secret("keys", &["k"])];
    let world = World::new(json!({"outgoingAuth": {"source": "inline"}}), &members);
    let text = world.variable("TOOLHIVE_HEADER_FORWARD_CTX")["value"].as_str().unwrap().to_owned();
    let expected = r#"{"addHeadersFromSecret":{"X-Key":"HEADER_FORWARD_X_KEY_CTX"},"addPlaintextHeaders":{"X-Plain":"$$(HOME)"}}"#;
    assert_eq!(text, expected);
    let secret = world.variable("TOOLHIVE_SECRET_HEADER_FORWARD_X_KEY_CTX");
    assert_eq!(secret["valueFrom"]["secretKeyRef"], json!({"name": "keys", "key": "k"}));
}

#[test]
fn of_members_that_are_discovered_those_are_left_out_whose_settings_cannot_be_used() {
    let members =
        [server("broken", json!({"externalAuthConfigRef": {"name": "gone"}})), server("fine", json!({}))];
    let mut world = World::new(json!({}), &members);
    assert_eq!(world.condition("DiscoveredAuthConfig-broken").0, "False");
    let (status, _, message) = world.condition("MembersAccepted");
    assert!(status == "False" && message.contains("MCPServer broken"), "{message}");
    world.put(object("MCPExternalAuthConfig", "gone", json!({"type": "unauthenticated"})));
    let (status, _, message) = world.condition("MembersAccepted");
    assert!(status == "True" && message.ends_with(": 2"), "{message}");
}
