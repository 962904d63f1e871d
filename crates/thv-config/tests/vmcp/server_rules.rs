//! Rules about who calls, how to sign in, and the authorization server.

use crate::support::{AUTH_SERVER, EVERY_KEY, MINIMAL, each_is_fine, each_is_refused, problems};

/// What is wrong with a strategy, without its place.
fn problems_of(strategy: &str) -> Vec<String> {
    let outgoing = format!("{{source: inline, default: {strategy}}}");
    let place = "outgoingAuth.default.";
    problems(&MINIMAL.replace("{source: inline}", &outgoing), None)
        .iter()
        .map(|problem| problem.strip_prefix(place).unwrap_or(problem).to_owned())
        .collect()
}

#[test]
fn an_identity_provider_is_named_and_reached_safely() {
    each_is_refused(&[
        (
            "caBundlePath: /config",
            "caBundlePath: config",
            "incomingAuth.oidc.caBundlePath: is not an absolute path: begin it with /",
        ),
        (
            "jwksAuthTokenPath: /var",
            "jwksAuthTokenPath: /../var",
            "incomingAuth.oidc.jwksAuthTokenPath: is not a plain path: write it without .. and without control \
             characters",
        ),
        ("        insecureAllowHttp: true\n", "", "incomingAuth.oidc.jwksUrl: is an http URL: use https"),
        (
            "introspectionUrl: https://",
            "introspectionUrl: ",
            "incomingAuth.oidc.introspectionUrl: is not a URL with a host: write it as https://host/path",
        ),
    ]);
    let oidc = "incomingAuth: {type: oidc, oidc: {issuer: 'http://localhost:8080'}}";
    assert_eq!(
        problems(&MINIMAL.replace("incomingAuth: {type: anonymous}", oidc), None),
        ["incomingAuth.oidc.audience: is empty: set it"]
    );
    let oidc = "incomingAuth: {type: oidc, oidc: {audience: a}}";
    assert_eq!(
        problems(&MINIMAL.replace("incomingAuth: {type: anonymous}", oidc), None),
        ["incomingAuth.oidc.issuer: is empty: set it"]
    );
}

#[test]
fn policies_are_there_if_and_only_if_they_count() {
    let with = |authz: &str| {
        problems(&MINIMAL.replace("type: anonymous", &format!("type: anonymous, authz: {authz}")), None)
    };
    assert_eq!(
        with("{type: cedar}"),
        [
            "incomingAuth.authz.policies: is empty: without a policy everything is denied; add one, or remove authz"
        ]
    );
    assert_eq!(
        with("{type: none, policies: [a]}"),
        [
            "incomingAuth.authz.policies: is there, and the type is none: write type: cedar, or remove the policies"
        ]
    );
    assert_eq!(with("{type: none}"), Vec::<String>::new());
}

#[test]
fn a_fixed_header_has_a_name_and_one_source_of_its_value() {
    for (settings, problem) in [
        ("{headerValueEnv: A}", "headerInjection.headerName: is not the name of a header: correct it"),
        ("{headerName: X-A}", "headerInjection.headerValueEnv: is empty: name the variable with the value"),
        (
            "{headerName: X-A, headerValueEnv: A, headerValue: b}",
            "headerInjection.headerValue: is there twice, itself and by environment variable: keep the variable",
        ),
        (
            "{headerName: X-A, headerValue: \"a\\nb\"}",
            "headerInjection.headerValue: has a line break: remove it",
        ),
    ] {
        assert_eq!(
            problems_of(&format!("{{type: header_injection, headerInjection: {settings}}}")),
            [problem]
        );
    }
    assert_eq!(
        problems_of("{type: header_injection, headerInjection: {headerName: X-A, headerValue: b}}"),
        Vec::<String>::new()
    );
}

#[test]
fn a_token_exchange_names_where_and_what() {
    for (settings, problem) in [
        ("{}", "tokenExchange.tokenUrl: is empty: set it"),
        (
            "{tokenUrl: idp}",
            "tokenExchange.tokenUrl: is not a URL with a host: write it as https://host/path",
        ),
        (
            "{tokenUrl: 'https://a', clientSecretEnv: A}",
            "tokenExchange.clientId: is empty, and there is a client secret: set both or neither",
        ),
        (
            "{tokenUrl: 'https://a', clientId: b, clientSecretEnv: A, clientSecret: c}",
            "tokenExchange.clientSecret: is there twice, itself and by environment variable: keep the variable",
        ),
        (
            "{tokenUrl: 'https://a', subjectTokenType: saml2}",
            "tokenExchange.subjectTokenType: is not known: use access_token, id_token or jwt",
        ),
    ] {
        assert_eq!(problems_of(&format!("{{type: token_exchange, tokenExchange: {settings}}}")), [problem]);
    }
    let fine = "{type: token_exchange, tokenExchange: {tokenUrl: 'https://a', subjectTokenType: jwt}}";
    assert_eq!(problems_of(fine), Vec::<String>::new());
}

#[test]
fn an_aws_role_can_be_chosen() {
    for (settings, problem) in [
        ("{fallbackRoleArn: a}", "awsSts.region: is empty: set it"),
        ("{region: a}", "awsSts.roleMappings: is empty, and so is fallbackRoleArn: name a role"),
        ("{region: a, roleMappings: [{claim: b}]}", "awsSts.roleMappings[0].roleArn: is empty: set it"),
        (
            "{region: a, roleMappings: [{roleArn: b}]}",
            "awsSts.roleMappings[0]: needs either claim or matcher: keep one of them",
        ),
        (
            "{region: a, roleMappings: [{roleArn: b, claim: c, matcher: d}]}",
            "awsSts.roleMappings[0]: needs either claim or matcher: keep one of them",
        ),
        (
            "{region: a, fallbackRoleArn: b, sessionDuration: 899}",
            "awsSts.sessionDuration: is not between 900 and 43200 seconds: change it, or leave it out",
        ),
    ] {
        assert_eq!(problems_of(&format!("{{type: aws_sts, awsSts: {settings}}}")), [problem]);
    }
}

#[test]
fn the_on_behalf_of_flow_has_a_client_and_a_skew_that_is_one() {
    for (settings, problem) in [
        ("{clientId: a}", "obo.tokenUrl: is empty: set it"),
        (
            "{tokenUrl: 'https://a', clientSecretEnv: A}",
            "obo.clientId: is empty, and there is a client secret: set both or neither",
        ),
        (
            "{tokenUrl: 'https://a', cacheSkewSeconds: -1}",
            "obo.cacheSkewSeconds: is negative: give a number of seconds, or leave it out",
        ),
    ] {
        assert_eq!(problems_of(&format!("{{type: obo, obo: {settings}}}")), [problem]);
    }
}

#[test]
fn cross_app_access_proves_who_calls_over_safe_ways_only() {
    each_is_refused(&[
        (
            "idpTokenUrl: https://",
            "idpTokenUrl: http://",
            "outgoingAuth.backends.f-xaa.xaa.idpTokenUrl: is an http URL: use https",
        ),
        (
            "                insecureTargetTokenUrl: true\n",
            "",
            "outgoingAuth.backends.f-xaa.xaa.targetTokenUrl: is an http URL: use https",
        ),
        (
            "idpTokenUrl: https://",
            "idpTokenUrl: https://user@",
            "outgoingAuth.backends.f-xaa.xaa.idpTokenUrl: has a user name or a fragment: remove it",
        ),
        (
            "                targetAudience: https://target.example.org\n",
            "",
            "outgoingAuth.backends.f-xaa.xaa.targetAudience: is empty: set it",
        ),
        (
            "                targetClientSecretEnv: TOOLHIVE_XAA_TARGET_CLIENT_SECRET_X\n",
            "",
            "outgoingAuth.backends.f-xaa.xaa.targetClientSecretEnv: is empty, and there is a client: name the \
             variable with its secret",
        ),
        (
            "                idpClientId: idp-client\n",
            "",
            "outgoingAuth.backends.f-xaa.xaa.idpClientId: is empty, and there is a client secret: set both or neither",
        ),
        (
            "token-type:id_token",
            "token-type:jwt",
            "outgoingAuth.backends.f-xaa.xaa.subjectTokenType: is not that of an identity token: leave it out",
        ),
        (
            "                subjectProviderName: okta\n                subjectTokenType: urn:ietf:params:oauth:token-type:id_token\n",
            "",
            "outgoingAuth.backends.f-xaa.xaa.subjectProviderName: is empty, and which upstream provider is meant \
             cannot be told: name one",
        ),
    ]);
    each_is_fine(&[("idpTokenUrl: https://idp.example.org", "idpTokenUrl: http://127.0.0.1:8080")]);
}

#[test]
fn tokens_of_upstream_providers_need_a_server_that_has_them() {
    let missing =
        "needs the token of an upstream provider, and there is no authorization server: configure one";
    assert_eq!(
        problems(EVERY_KEY, None),
        [
            format!("incomingAuth.authz.primaryUpstreamProvider: {missing}"),
            format!("outgoingAuth.backends.b-exchange.tokenExchange.subjectProviderName: {missing}"),
            format!("outgoingAuth.backends.c-upstream.upstreamInject.providerName: {missing}"),
            format!("outgoingAuth.backends.d-aws.awsSts.subjectProviderName: {missing}"),
            format!("outgoingAuth.backends.e-obo.obo.subjectTokenProviderName: {missing}"),
            format!("outgoingAuth.backends.f-xaa.xaa.subjectProviderName: {missing}"),
        ]
    );
    each_is_refused(&[
        (
            "primaryUpstreamProvider: okta",
            "primaryUpstreamProvider: octa",
            "incomingAuth.authz.primaryUpstreamProvider: is not an upstream provider of the authorization server: \
             name one of them",
        ),
        (
            "providerName: default",
            "providerName: ''",
            "outgoingAuth.backends.c-upstream.upstreamInject.providerName: is empty: set it",
        ),
        (
            "providerName: default",
            "providerName: github",
            "outgoingAuth.backends.c-upstream.upstreamInject.providerName: is not an upstream provider of the \
             authorization server: name one of them",
        ),
    ]);
}

#[test]
fn callers_bring_tokens_of_the_authorization_server() {
    each_is_refused(&[
        (
            "issuer: https://hub.example.org",
            "issuer: https://other.example.org",
            "incomingAuth.oidc.issuer: is not the issuer of the authorization server: write the same in both",
        ),
        (
            "audience: https://hub.example.org/mcp",
            "audience: hub",
            "incomingAuth.oidc.audience: is not an audience that the authorization server issues tokens for: write \
             the same in both",
        ),
    ]);
    assert_eq!(
        problems(MINIMAL, Some(AUTH_SERVER)),
        [
            "incomingAuth.type: is not oidc, and there is an authorization server: nobody would check its tokens; use \
             oidc with its issuer"
        ]
    );
    assert_eq!(
        problems(MINIMAL, Some("schema_version: v0.1.0\n"))[..3],
        [
            "authServerConfig.issuer: is empty: set it",
            "authServerConfig.upstreamProviders: is empty: nobody could sign in; name a provider",
            "authServerConfig.allowedAudiences: is empty: no token could be issued; name the resource of this server",
        ]
    );
}
