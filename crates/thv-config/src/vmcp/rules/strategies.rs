//! How to sign in to a server.

use super::super::outgoing::AuthStrategy;
use super::super::problem::Report;
use super::super::strategy::{
    AwsSts, CrossAppAccess, HeaderInjection, OnBehalfOf, RoleMapping, TokenExchange, UpstreamInject,
};
use crate::header;
use crate::secret::Secret;
use crate::url::{Url, web_url_error};

/// The types of tokens that can be exchanged, by their short names and by their full ones.
const TOKEN_TYPES: [&str; 6] = [
    "access_token",
    "id_token",
    "jwt",
    "urn:ietf:params:oauth:token-type:access_token",
    ID_TOKEN,
    "urn:ietf:params:oauth:token-type:jwt",
];

const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

const BOTH_SOURCES: &str = "is there twice, itself and by environment variable: keep the variable";

pub(super) fn check(path: &str, strategy: &AuthStrategy, report: &mut Report) {
    match strategy {
        AuthStrategy::Unauthenticated => {}
        AuthStrategy::HeaderInjection(settings) => {
            check_header(&format!("{path}.headerInjection"), settings, report);
        }
        AuthStrategy::TokenExchange(settings) => {
            check_exchange(&format!("{path}.tokenExchange"), settings, report);
        }
        AuthStrategy::UpstreamInject(UpstreamInject { provider_name }) => {
            report.required(provider_name, format!("{path}.upstreamInject.providerName"));
        }
        AuthStrategy::AwsSts(settings) => check_aws(&format!("{path}.awsSts"), settings, report),
        AuthStrategy::OnBehalfOf(settings) => {
            check_on_behalf_of(&format!("{path}.obo"), settings, report);
        }
        AuthStrategy::CrossAppAccess(settings) => {
            check_cross_app(&format!("{path}.xaa"), settings, report);
        }
    }
}

fn check_header(path: &str, settings: &HeaderInjection, report: &mut Report) {
    let HeaderInjection { header_name, header_value, header_value_env } = settings;
    report.unless(
        header::is_name(header_name),
        format!("{path}.headerName"),
        "is not the name of a header: correct it",
    );
    let value = format!("{path}.headerValue");
    match (header_value.is_empty(), header_value_env.is_empty()) {
        (true, true) => {
            report.add(format!("{path}.headerValueEnv"), "is empty: name the variable with the value");
        }
        (false, false) => report.add(value, BOTH_SOURCES),
        (false, true) => {
            report.unless(header::is_value(header_value.expose()), value, "has a line break: remove it");
        }
        (true, false) => {}
    }
}

fn check_exchange(path: &str, settings: &TokenExchange, report: &mut Report) {
    let TokenExchange {
        token_url,
        client_id,
        client_secret,
        client_secret_env,
        audience: _,
        scopes: _,
        subject_token_type,
        subject_provider_name: _,
    } = settings;
    check_url(format!("{path}.tokenUrl"), token_url, report);
    let client =
        Client { path, prefix: "client", id: client_id, secret: client_secret, env: client_secret_env };
    client.check(report);
    report.unless(
        subject_token_type.is_empty() || TOKEN_TYPES.contains(&subject_token_type.as_str()),
        format!("{path}.subjectTokenType"),
        "is not known: use access_token, id_token or jwt",
    );
}

fn check_aws(path: &str, settings: &AwsSts, report: &mut Report) {
    let AwsSts {
        region,
        service: _,
        fallback_role_arn,
        role_mappings,
        role_claim: _,
        session_duration,
        session_name_claim: _,
        subject_provider_name: _,
    } = settings;
    report.required(region, format!("{path}.region"));
    report.unless(
        !fallback_role_arn.is_empty() || !role_mappings.is_empty(),
        format!("{path}.roleMappings"),
        "is empty, and so is fallbackRoleArn: name a role",
    );
    for (index, RoleMapping { claim, matcher, role_arn, priority: _ }) in role_mappings.iter().enumerate() {
        let path = format!("{path}.roleMappings[{index}]");
        report.required(role_arn, format!("{path}.roleArn"));
        report.unless(
            claim.is_empty() != matcher.is_empty(),
            path,
            "needs either claim or matcher: keep one of them",
        );
    }
    report.unless(
        *session_duration == 0 || (900..=43_200).contains(session_duration),
        format!("{path}.sessionDuration"),
        "is not between 900 and 43200 seconds: change it, or leave it out",
    );
}

fn check_on_behalf_of(path: &str, settings: &OnBehalfOf, report: &mut Report) {
    let OnBehalfOf {
        token_url,
        client_id,
        client_secret,
        client_secret_env,
        audience: _,
        scopes: _,
        subject_token_provider_name: _,
        cache_skew_seconds,
    } = settings;
    check_url(format!("{path}.tokenUrl"), token_url, report);
    let client =
        Client { path, prefix: "client", id: client_id, secret: client_secret, env: client_secret_env };
    client.check(report);
    report.unless(
        cache_skew_seconds.is_none_or(|seconds| seconds >= 0),
        format!("{path}.cacheSkewSeconds"),
        "is negative: give a number of seconds, or leave it out",
    );
}

fn check_cross_app(path: &str, settings: &CrossAppAccess, report: &mut Report) {
    let CrossAppAccess {
        idp_token_url,
        idp_client_id,
        idp_client_secret,
        idp_client_secret_env,
        target_token_url,
        insecure_target_token_url,
        target_client_id,
        target_client_secret,
        target_client_secret_env,
        target_audience,
        target_resource: _,
        scopes: _,
        subject_provider_name: _,
        subject_token_type,
    } = settings;
    check_secure_url(format!("{path}.idpTokenUrl"), idp_token_url, false, report);
    check_secure_url(format!("{path}.targetTokenUrl"), target_token_url, *insecure_target_token_url, report);
    report.required(target_audience, format!("{path}.targetAudience"));
    for client in [
        Client {
            path,
            prefix: "idpClient",
            id: idp_client_id,
            secret: idp_client_secret,
            env: idp_client_secret_env,
        },
        Client {
            path,
            prefix: "targetClient",
            id: target_client_id,
            secret: target_client_secret,
            env: target_client_secret_env,
        },
    ] {
        client.check(report);
        report.unless(
            client.id.is_empty() || client.has_secret(),
            format!("{path}.{}SecretEnv", client.prefix),
            "is empty, and there is a client: name the variable with its secret",
        );
    }
    report.unless(
        subject_token_type.is_empty() || subject_token_type == ID_TOKEN,
        format!("{path}.subjectTokenType"),
        "is not that of an identity token: leave it out",
    );
}

/// A client and where its secret comes from.
struct Client<'a> {
    path: &'a str,
    /// What its keys begin with.
    prefix: &'a str,
    id: &'a str,
    secret: &'a Secret,
    env: &'a str,
}

impl Client<'_> {
    fn has_secret(&self) -> bool {
        !self.secret.is_empty() || !self.env.is_empty()
    }

    fn check(&self, report: &mut Report) {
        let Self { path, prefix, id, secret, env } = self;
        report.unless(secret.is_empty() || env.is_empty(), format!("{path}.{prefix}Secret"), BOTH_SOURCES);
        report.unless(
            !self.has_secret() || !id.is_empty(),
            format!("{path}.{prefix}Id"),
            "is empty, and there is a client secret: set both or neither",
        );
    }
}

fn check_url(path: String, url: &str, report: &mut Report) {
    if url.is_empty() {
        report.required(url, path);
    } else if let Some(error) = web_url_error(url, true) {
        report.add(path, error);
    }
}

/// The URL of a token endpoint that a proof of the user's identity is sent to.
fn check_secure_url(path: String, url: &str, may_be_http: bool, report: &mut Report) {
    let Some(parsed) = Url::parse(url) else { return check_url(path, url, report) };
    if let Some(error) = web_url_error(url, may_be_http || parsed.is_loopback()) {
        report.add(path, error);
    } else if parsed.has_user || parsed.has_fragment {
        report.add(path, "has a user name or a fragment: remove it");
    }
}
