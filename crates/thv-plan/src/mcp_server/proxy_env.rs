//! The environment of the proxy.

use thv_api::names::{annotations, env};
use thv_api::shared::EnvVar;

use crate::env::{Env, EnvValue};
use crate::overrides::{RESERVED, Refusals};

/// The field with the user's variables.
const FIELD: &str = "spec.resourceOverrides.proxyDeployment.env";

/// Variables that have a value unless the user gives them another.
const DEFAULTS: [(&str, &str); 4] = [
    (env::XDG_CONFIG_HOME, "/tmp"),
    (env::HOME, "/tmp"),
    (env::RUNTIME, "kubernetes"),
    (env::UNSTRUCTURED_LOGS, "false"),
];

/// The environment: what references cause, what the user adds, and what binds the pod to its revision, but for the
/// revision itself.
///
/// What we set ourselves stays as it is. The defaults and the attributes of telemetry are the user's to change.
pub(super) fn compose(wired: Vec<(String, EnvValue)>, wanted: &[EnvVar], refusals: &mut Refusals) -> Env {
    let mut all = Env::default();
    for (name, value) in wired {
        all.set(name, value);
    }
    all.set(env::MCP_SERVER_GENERATION, EnvValue::Annotation(annotations::MCP_SERVER_GENERATION));
    all.set(env::RUN_CONFIG_CHECKSUM, EnvValue::Annotation(annotations::RUN_CONFIG_CHECKSUM));
    for EnvVar { name, value } in wanted {
        let value = EnvValue::literal(value);
        let ours = all.get(name).filter(|_| name != env::OTEL_RESOURCE_ATTRIBUTES);
        if name == env::MCP_SERVER_REVISION || ours.is_some_and(|ours| *ours != value) {
            refusals.refuse(format!("{FIELD}[{name}]"), RESERVED);
        } else {
            all.set(name, value);
        }
    }
    for (name, value) in DEFAULTS {
        all.set_default(name, EnvValue::literal(value));
    }
    if all.names().any(|name| name.starts_with(env::SECRET_PREFIX)) {
        let provider = EnvValue::literal("environment");
        if all.get(env::SECRETS_PROVIDER).is_some_and(|wanted| *wanted != provider) {
            refusals.refuse(format!("{FIELD}[{}]", env::SECRETS_PROVIDER), RESERVED);
        }
        all.set(env::SECRETS_PROVIDER, provider);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted<const N: usize>(pairs: [(&str, &str); N]) -> Vec<EnvVar> {
        pairs.map(|(name, value)| EnvVar { name: name.to_owned(), value: value.to_owned() }).to_vec()
    }

    fn wired() -> Vec<(String, EnvValue)> {
        let secret = EnvValue::Secret { name: "s".to_owned(), key: "k".to_owned() };
        vec![
            (env::OTEL_RESOURCE_ATTRIBUTES.to_owned(), EnvValue::literal("service.name=web")),
            (env::OIDC_CLIENT_SECRET.to_owned(), secret),
        ]
    }

    #[test]
    fn what_binds_a_pod_and_what_is_secret_cannot_be_displaced() {
        let names = [
            env::MCP_SERVER_GENERATION,
            env::MCP_SERVER_REVISION,
            env::RUN_CONFIG_CHECKSUM,
            env::OIDC_CLIENT_SECRET,
        ];
        for name in names {
            let mut refusals = Refusals::default();
            let made = compose(wired(), &wanted([(name, "mine")]), &mut refusals);
            assert_ne!(made.get(name), Some(&EnvValue::literal("mine")), "{name}");
            let message = format!("ignored: {FIELD}[{name}]: set by the operator");
            assert_eq!(refusals.message(), message);
        }
    }

    #[test]
    fn defaults_are_the_users_to_change() {
        let mut refusals = Refusals::default();
        let changes = [(env::HOME, "/home"), (env::OTEL_RESOURCE_ATTRIBUTES, "a=b"), ("HTTPS_PROXY", "p")];
        let made = compose(wired(), &wanted(changes), &mut refusals);
        for (name, value) in changes {
            assert_eq!(made.get(name), Some(&EnvValue::literal(value)), "{name}");
        }
        assert_eq!(made.get(env::XDG_CONFIG_HOME), Some(&EnvValue::literal("/tmp")));
        assert!(refusals.is_empty());
    }

    #[test]
    fn secrets_in_variables_name_their_provider() {
        let mut refusals = Refusals::default();
        assert_eq!(compose(wired(), &[], &mut refusals).get(env::SECRETS_PROVIDER), None);
        let wanted = wanted([("TOOLHIVE_SECRET_x", "1"), (env::SECRETS_PROVIDER, "other")]);
        let made = compose(wired(), &wanted, &mut refusals);
        assert_eq!(made.get(env::SECRETS_PROVIDER), Some(&EnvValue::literal("environment")));
        assert!(!refusals.is_empty());
    }
}
