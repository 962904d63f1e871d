//! The environment of the proxy.

use thv_api::names::env;
use thv_api::shared::EnvVar;

use super::overrides::ENV;
use crate::env::{Env, EnvValue};
use crate::overrides::{IgnoredOverrides, RESERVED};

/// Variables that have a value unless the user gives them another.
const DEFAULTS: [(&str, &str); 4] = [
    (env::XDG_CONFIG_HOME, "/tmp"),
    (env::HOME, "/tmp"),
    (env::RUNTIME, "kubernetes"),
    (env::UNSTRUCTURED_LOGS, "false"),
];

/// The environment: what is `ours`, what the user adds, and the defaults. Variables that are `reserved` get their values
/// later.
///
/// What we set ourselves stays as it is. The defaults and the attributes of telemetry are the user's to change.
pub(crate) fn compose(
    ours: impl IntoIterator<Item = (String, EnvValue)>,
    reserved: &[&str],
    wanted: &[EnvVar],
    ignored: &mut IgnoredOverrides,
) -> Env {
    let mut all = Env::default();
    for (name, value) in ours {
        all.set(name, value);
    }
    for EnvVar { name, value } in wanted {
        let value = EnvValue::literal(value);
        let ours = all.get(name).filter(|_| name != env::OTEL_RESOURCE_ATTRIBUTES);
        if reserved.contains(&name.as_str()) || ours.is_some_and(|ours| *ours != value) {
            ignored.ignore(format!("{ENV}[{name}]"), RESERVED);
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
            ignored.ignore(format!("{ENV}[{}]", env::SECRETS_PROVIDER), RESERVED);
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

    fn ours() -> Vec<(String, EnvValue)> {
        let secret = EnvValue::Secret { name: "s".to_owned(), key: "k".to_owned() };
        vec![
            (env::OTEL_RESOURCE_ATTRIBUTES.to_owned(), EnvValue::literal("service.name=web")),
            (env::OIDC_CLIENT_SECRET.to_owned(), secret),
        ]
    }

    #[test]
    fn reserved_variables_and_those_of_ours_cannot_be_overridden() {
        for name in [env::MCP_SERVER_REVISION, env::OIDC_CLIENT_SECRET] {
            let mut ignored = IgnoredOverrides::default();
            let reserved = [env::MCP_SERVER_REVISION];
            let made = compose(ours(), &reserved, &wanted([(name, "mine")]), &mut ignored);
            assert_ne!(made.get(name), Some(&EnvValue::literal("mine")), "{name}");
            let message = format!("ignored: {ENV}[{name}]: set by the operator");
            assert_eq!(ignored.message(), message);
        }
    }

    #[test]
    fn defaults_are_the_users_to_change() {
        let mut ignored = IgnoredOverrides::default();
        let changes = [(env::HOME, "/home"), (env::OTEL_RESOURCE_ATTRIBUTES, "a=b"), ("HTTPS_PROXY", "p")];
        let made = compose(ours(), &[], &wanted(changes), &mut ignored);
        for (name, value) in changes {
            assert_eq!(made.get(name), Some(&EnvValue::literal(value)), "{name}");
        }
        assert_eq!(made.get(env::XDG_CONFIG_HOME), Some(&EnvValue::literal("/tmp")));
        assert!(ignored.is_empty());
    }

    #[test]
    fn secrets_in_variables_name_their_provider() {
        let mut ignored = IgnoredOverrides::default();
        assert_eq!(compose(ours(), &[], &[], &mut ignored).get(env::SECRETS_PROVIDER), None);
        let wanted = wanted([("TOOLHIVE_SECRET_x", "1"), (env::SECRETS_PROVIDER, "other")]);
        let made = compose(ours(), &[], &wanted, &mut ignored);
        assert_eq!(made.get(env::SECRETS_PROVIDER), Some(&EnvValue::literal("environment")));
        assert!(!ignored.is_empty());
    }
}
