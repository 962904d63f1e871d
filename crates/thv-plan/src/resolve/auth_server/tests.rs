use serde_json::{Value, json};

use super::*;

fn server(changes: Value) -> EmbeddedAuthServer {
    let upstream =
        json!({"name": "corp", "type": "oidc", "oidcConfig": {"issuerUrl": "https://i", "clientId": "c"}});
    let mut server = json!({"issuer": "https://as.example", "upstreamProviders": [upstream]});
    for (key, value) in changes.as_object().unwrap() {
        server[key] = value.clone();
    }
    serde_json::from_value(server).unwrap()
}

fn errors(changes: Value) -> String {
    validate(&server(changes)).map_or_else(|invalid| invalid.to_string(), |()| String::new())
}

fn oauth2(changes: Value) -> Value {
    let mut config = json!({"authorizationEndpoint": "https://a", "tokenEndpoint": "https://t"});
    for (key, value) in changes.as_object().unwrap() {
        config[key] = value.clone();
    }
    json!({"upstreamProviders": [{"name": "git", "type": "oauth2", "oauth2Config": config}]})
}

fn secret() -> Value {
    json!({"name": "s", "key": "k"})
}

#[test]
fn sound_servers_are_valid() {
    for changes in [
        json!({}),
        json!({"issuer": "http://localhost:8080"}),
        json!({"issuer": "http://as", "insecureAllowHTTP": true}),
        json!({"issuer": "http://127.0.0.1", "allowConfidentialClientRegistration": true,
            "insecureAllowConfidentialOverLoopbackHTTP": true}),
        json!({"allowConfidentialClientRegistration": true, "forceConfidentialRedirectUris": ["https://c.example/cb"]}),
        json!({"storage": {"type": "memory"}}),
        oauth2(json!({"clientId": "c", "clientSecretRef": secret()})),
        oauth2(json!({"dcrConfig": {"discoveryUrl": "https://d"}})),
    ] {
        assert_eq!(errors(changes.clone()), "", "{changes}");
    }
}

#[test]
fn nonsense_is_told_with_its_place() {
    let redis = |config: Value| json!({"storage": {"type": "redis", "redis": config}});
    let user = json!({"passwordSecretRef": secret()});
    for (changes, part) in [
        (json!({"issuer": "http://as"}), "issuer: is an http URL"),
        (json!({"upstreamProviders": []}), "upstreamProviders: is empty"),
        (
            json!({"allowConfidentialClientRegistration": true, "insecureAllowHTTP": true}),
            "insecureAllowHTTP: would send",
        ),
        (
            json!({"issuer": "http://localhost", "allowConfidentialClientRegistration": true}),
            "issuer: is plain http",
        ),
        (
            json!({"forceConfidentialRedirectUris": ["https://c"]}),
            "needs allowConfidentialClientRegistration",
        ),
        (
            json!({"allowConfidentialClientRegistration": true, "forceConfidentialRedirectUris": ["https://localhost"]}),
            "the machine itself",
        ),
        (
            json!({"allowConfidentialClientRegistration": true, "forceConfidentialRedirectUris": ["https://c/#f"]}),
            "forceConfidentialRedirectUris[0]: is not a redirect URI",
        ),
        (json!({"storage": {"type": "redis"}}), "storage.redis: is missing"),
        (redis(json!({"aclUserConfig": user})), "storage.redis.addr"),
        (
            redis(json!({"addr": "r:1", "sentinelConfig": {"masterName": "m"}, "aclUserConfig": user})),
            "storage.redis.addr",
        ),
        (
            redis(json!({"sentinelConfig": {"masterName": "m"}, "aclUserConfig": user})),
            "sentinelAddrs or sentinelService",
        ),
        (oauth2(json!({})), "oauth2Config.clientId: or dcrConfig"),
        (
            oauth2(json!({"clientId": "c", "dcrConfig": {"discoveryUrl": "https://d"}})),
            "clientId: or dcrConfig",
        ),
        (oauth2(json!({"dcrConfig": {}})), "discoveryUrl: or registrationEndpoint"),
        (
            oauth2(json!({"dcrConfig": {"discoveryUrl": "https://d"}, "clientSecretRef": secret()})),
            "clientSecretRef",
        ),
        (
            oauth2(json!({"clientId": "c", "additionalAuthorizationParams": {"state": "x"}})),
            "upstreamProviders[0].oauth2Config.additionalAuthorizationParams[\"state\"]",
        ),
        (json!({"upstreamProviders": [{"name": "a", "type": "oidc"}]}), "upstreamProviders[0]: has settings"),
    ] {
        let errors = errors(changes);
        assert!(errors.contains(part), "{part}: {errors}");
    }
}

#[test]
fn issuers_are_trusted_with_care() {
    let base = json!({"issuerUrl": "https://ci", "expectedAudience": "a", "allowedDelegateClients": ["c"]});
    let with = |changes: Value| {
        let mut issuer = base.clone();
        for (key, value) in changes.as_object().unwrap() {
            issuer[key] = value.clone();
        }
        errors(json!({"trustedIssuers": [issuer]}))
    };
    assert_eq!(with(json!({})), "");
    let binding = json!({"subject": "s", "allowedResources": ["https://r"]});
    let grant = json!({"maxAssertionAge": "5m", "subjectBindings": [binding]});
    let only_grant =
        json!({"expectedAudience": null, "allowedDelegateClients": null, "jwtBearerGrant": grant});
    assert_eq!(with(only_grant), "");
    for (changes, part) in [
        (json!({"issuerUrl": "https://as.example"}), "is the issuer itself"),
        (json!({"issuerUrl": "http://ci"}), "issuerUrl: is an http URL"),
        (json!({"allowPrivateIPs": true}), "needs a jwksUrl"),
        (json!({"actorClaim": "sub"}), "reserved claim"),
        (json!({"allowedDelegateClients": ["*", "c"]}), "has * and others"),
        (json!({"allowedDelegateClients": ["*"], "allowMayAct": true}), "one by one"),
        (json!({"expectedAudience": null}), "expectedAudience: is missing"),
        (json!({"allowedDelegateClients": null}), "allowedDelegateClients: is empty"),
        (
            json!({"jwtBearerGrant": {"maxAssertionAge": "0s", "subjectBindings": [binding]}}),
            "maxAssertionAge",
        ),
        (
            json!({"jwtBearerGrant": {"maxAssertionAge": "1m", "subjectBindings": [binding, binding]}}),
            "subject twice",
        ),
    ] {
        let errors = with(changes);
        assert!(errors.contains(part), "{part}: {errors}");
    }
    let twice = errors(json!({"trustedIssuers": [base, base]}));
    assert!(twice.contains("trustedIssuers[1].issuerUrl: is there twice"), "{twice}");
}

#[test]
fn clients_and_issuers_fit_the_scopes_and_the_audience() {
    let client = |scope: &str, audience: &str| json!({"clientId": "c", "clientSecretRef": secret(), "scopes": [scope], "audiences": [audience]});
    let fit = |changes: Value| {
        let result = validate_fit(&server(changes), &scopes(None), "https://r");
        result.map_or_else(|invalid| invalid.to_string(), |()| String::new())
    };
    assert_eq!(fit(json!({"delegateClients": [client("openid", "https://r")]})), "");
    let binding = json!({"subject": "s", "allowedResources": ["https://r"]});
    let grant =
        json!({"maxAssertionAge": "5m", "subjectBindings": [binding], "acceptedAudiences": ["https://r"]});
    for (changes, part) in [
        (json!({"delegateClients": [client("admin", "https://r")]}), "has \"admin\""),
        (json!({"delegateClients": [client("openid", "https://x")]}), "has \"https://x\""),
        (
            json!({"delegateClients": [client("openid", "https://r"), client("openid", "https://r")]}),
            "delegateClients[1].clientId: is there twice",
        ),
        (
            json!({"trustedIssuers": [{"issuerUrl": "https://ci", "jwtBearerGrant": grant}]}),
            "acceptedAudiences",
        ),
    ] {
        let errors = fit(changes);
        assert!(errors.contains(part), "{part}: {errors}");
    }
}

#[test]
fn every_secret_is_needed() {
    let key = |name: &str| json!({"name": name, "key": "k"});
    let redis = json!({
        "addr": "r:1", "aclUserConfig": {"usernameSecretRef": key("user"), "passwordSecretRef": key("password")},
        "tls": {"caCertSecretRef": key("ca")}, "sentinelTls": {"caCertSecretRef": key("sentinel-ca")},
    });
    let mut changes = oauth2(
        json!({"clientSecretRef": key("client"), "dcrConfig": {"initialAccessTokenRef": key("token")}}),
    );
    changes["signingKeySecretRefs"] = json!([key("sign-0"), key("sign-1")]);
    changes["hmacSecretRefs"] = json!([key("hmac")]);
    changes["storage"] = json!({"type": "redis", "redis": redis});
    changes["delegateClients"] =
        json!([{"clientId": "c", "clientSecretRef": key("delegate"), "scopes": ["s"], "audiences": ["a"]}]);
    let names: Vec<_> =
        needs(&server(changes)).iter().map(|need| need.reference().name().to_owned()).collect();
    let expected =
        ["sign-0", "sign-1", "hmac", "client", "token", "delegate", "user", "password", "ca", "sentinel-ca"];
    assert_eq!(names, expected);
}
