//! What the operator is started with: flags and environment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use thv_api::names::children::keys;
use thv_api::names::env;
use thv_plan::{DefaultRedis, Platform, Settings};
use thv_value::GoDuration;

use crate::bind::Bind;
use crate::operator::Tuning;

/// Runs MCP servers on Kubernetes.
///
/// Images, defaults and namespaces come from the environment: `TOOLHIVE_RUNNER_IMAGE`, `VMCP_IMAGE`,
/// `TOOLHIVE_REGISTRY_API_IMAGE`, `TOOLHIVE_PROXY_HOST`, `TOOLHIVE_DEFAULT_IMAGE_PULL_SECRETS`,
/// `TOOLHIVE_DEFAULT_REDIS_ADDR`, `WATCH_NAMESPACE`, `POD_NAMESPACE`, `POD_NAME` and `OPERATOR_OPENSHIFT`.
/// `TOOLHIVE_ENABLE_STORAGE_VERSION_MIGRATOR=true` has stored objects migrated.
///
/// Addresses are written `:8080` (every address of the machine, IPv4 and IPv6), `127.0.0.1:8080` or `[::1]:8080` (just
/// that one), or `0` (none: nothing is served).
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "thv-operator", version)]
pub struct Options {
    /// The address at which to serve Prometheus metrics
    #[arg(long, value_name = "ADDRESS", default_value = ":8080")]
    pub metrics_bind_address: Bind,

    /// The address at which to answer /healthz and /readyz
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub health_probe_bind_address: Bind,

    /// Work only while holding a Lease, so that several replicas do not work at once
    #[arg(long)]
    pub leader_elect: bool,

    /// How often every object is looked at again although nothing has changed, such as 30m; nothing is written if all is
    /// well
    #[arg(long, default_value = "30m", value_parser = period)]
    pub resync_period: Duration,

    /// How many rollouts may start in a second that nobody asked for: after an upgrade of the operator, or an edit of
    /// something that many objects refer to
    #[arg(long, default_value_t = 5.0, value_parser = rate)]
    pub max_rollouts_per_second: f64,

    /// How long a status in which only lists of other objects have changed waits after the last one, such as 10s: who
    /// refers to an object, and who belongs to a group
    #[arg(long, default_value = "10s", value_parser = duration)]
    pub status_interval: Duration,

    /// How long API servers may still store objects in a former version after the storage version of their kind has
    /// changed: as long as a request takes at most, and as API servers may lag behind. Only then are stored objects
    /// migrated
    #[arg(long, value_name = "DURATION", default_value = "90s", value_parser = period)]
    pub storage_migration_grace_period: Duration,

    /// A kubeconfig, for running outside of a cluster
    #[arg(long)]
    pub kubeconfig: Option<PathBuf>,
}

impl Options {
    /// How the operator is to work.
    pub fn tuning(&self, environment: &Environment) -> Tuning {
        Tuning {
            resync: self.resync_period,
            rollouts_per_second: self.max_rollouts_per_second,
            status_interval: self.status_interval,
            storage_migration: environment
                .migrates_storage_versions
                .then_some(self.storage_migration_grace_period),
        }
    }
}

/// Reads `30m`, `1h30m` or `0s`.
fn duration(text: &str) -> Result<Duration, String> {
    let duration: GoDuration = text.parse().map_err(|error| format!("{error}"))?;
    let nanoseconds = u64::try_from(duration.as_nanos());
    nanoseconds.map(Duration::from_nanos).map_err(|_| "write a time that is not negative".to_owned())
}

/// The same, but for no time at all.
fn period(text: &str) -> Result<Duration, String> {
    let period = duration(text)?;
    if period < Duration::from_secs(1) {
        Err("write a second or more, such as 30m".to_owned())
    } else {
        Ok(period)
    }
}

/// Reads a number above zero.
fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("write a number above zero, such as 5 or 0.5".to_owned()),
    }
}

/// What the environment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// What goes into plans. The platform is still to be found out if the environment does not say.
    pub settings: Settings,
    /// The platform, if the environment says.
    pub platform: Option<Platform>,
    /// The namespaces to look after; a single nothing means all of them.
    pub scopes: Vec<Option<String>>,
    /// The namespace that the operator itself runs in.
    pub namespace: Option<String>,
    /// What tells people which pod this is: its name, else that of its host.
    pub host: String,
    /// Whether stored objects are to be migrated to the storage version of their kind.
    pub migrates_storage_versions: bool,
}

/// A variable whose value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {name} is {value:?}: set it to true or false, or unset it")]
pub struct InvalidVariable {
    name: &'static str,
    value: String,
}

impl Environment {
    /// Reads it. What is set and empty counts as not set.
    pub fn read(variables: &BTreeMap<String, String>) -> Result<Self, InvalidVariable> {
        let get =
            |name: &str| variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
        let list = |name: &str| -> Vec<String> {
            let items = get(name).into_iter().flat_map(|text| text.split(','));
            items.map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
        };
        let defaults = Settings::default();
        let own = |name: &str, default: String| get(name).map_or(default, str::to_owned);
        let password = get(env::DEFAULT_REDIS_SECRET_NAME).map(|name| {
            (name.to_owned(), own(env::DEFAULT_REDIS_SECRET_KEY, keys::REDIS_PASSWORD.to_owned()))
        });
        let settings = Settings {
            runner_image: own(env::RUNNER_IMAGE, defaults.runner_image),
            vmcp_image: own(env::VMCP_IMAGE, defaults.vmcp_image),
            registry_api_image: own(env::REGISTRY_API_IMAGE, defaults.registry_api_image),
            proxy_host: own(env::PROXY_HOST, defaults.proxy_host),
            image_pull_secrets: list(env::DEFAULT_IMAGE_PULL_SECRETS),
            default_redis: get(env::DEFAULT_REDIS_ADDR)
                .map(|address| DefaultRedis { address: address.to_owned(), password }),
            platform: Platform::Kubernetes,
        };
        let platform = variables.get(env::OPERATOR_OPENSHIFT).map(|value| Platform::said(value));
        let namespaces = list(env::WATCH_NAMESPACE);
        let scopes =
            if namespaces.is_empty() { vec![None] } else { namespaces.into_iter().map(Some).collect() };
        let migrates_storage_versions = match get(env::ENABLE_STORAGE_VERSION_MIGRATOR) {
            None => false,
            Some(text) => env::boolean(text).ok_or_else(|| InvalidVariable {
                name: env::ENABLE_STORAGE_VERSION_MIGRATOR,
                value: text.to_owned(),
            })?,
        };
        let host = get(env::POD_NAME).or_else(|| get(env::HOSTNAME)).unwrap_or(env!("CARGO_PKG_NAME"));
        Ok(Self {
            settings,
            platform,
            scopes,
            namespace: get(env::POD_NAMESPACE).map(str::to_owned),
            host: host.to_owned(),
            migrates_storage_versions,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn try_read(pairs: &[(&str, &str)]) -> Result<Environment, InvalidVariable> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Environment::read(&pairs.iter().map(owned).collect())
    }

    fn read(pairs: &[(&str, &str)]) -> Environment {
        try_read(pairs).unwrap()
    }

    #[test]
    fn an_empty_environment_gives_the_defaults() {
        let environment = read(&[("WATCH_NAMESPACE", ""), ("TOOLHIVE_DEFAULT_REDIS_ADDR", "")]);
        assert_eq!(environment.settings, Settings::default());
        assert_eq!((environment.scopes, environment.platform), (vec![None], None));
    }

    #[test]
    fn every_image_can_be_chosen() {
        let Settings { runner_image, vmcp_image, registry_api_image, .. } = read(&[
            ("TOOLHIVE_RUNNER_IMAGE", "localhost/runner:1"),
            ("VMCP_IMAGE", "localhost/vmcp:1"),
            ("TOOLHIVE_REGISTRY_API_IMAGE", "localhost/registry:1"),
        ])
        .settings;
        let images = [runner_image, vmcp_image, registry_api_image];
        assert_eq!(images, ["localhost/runner:1", "localhost/vmcp:1", "localhost/registry:1"]);
    }

    #[test]
    fn lists_are_trimmed_and_blanks_skipped() {
        let environment =
            read(&[("WATCH_NAMESPACE", "a, b"), ("TOOLHIVE_DEFAULT_IMAGE_PULL_SECRETS", "one,, two ,")]);
        assert_eq!(environment.scopes, [Some("a".to_owned()), Some("b".to_owned())]);
        assert_eq!(environment.settings.image_pull_secrets, ["one", "two"]);
    }

    #[test]
    fn the_default_redis_comes_with_its_password() {
        let environment = read(&[
            ("TOOLHIVE_DEFAULT_REDIS_ADDR", "redis:6379"),
            ("TOOLHIVE_DEFAULT_REDIS_SECRET_NAME", "s"),
        ]);
        let password = Some(("s".to_owned(), "redis-password".to_owned()));
        assert_eq!(
            environment.settings.default_redis,
            Some(DefaultRedis { address: "redis:6379".to_owned(), password })
        );
    }

    #[test]
    fn openshift_is_said_in_any_case() {
        assert_eq!(read(&[("OPERATOR_OPENSHIFT", "TRUE")]).platform, Some(Platform::OpenShift));
        assert_eq!(read(&[("OPERATOR_OPENSHIFT", "no")]).platform, Some(Platform::Kubernetes));
    }

    #[test]
    fn stored_objects_are_migrated_only_where_the_environment_says_so() {
        const VARIABLE: &str = "TOOLHIVE_ENABLE_STORAGE_VERSION_MIGRATOR";
        let options = Options::parse_from(["x"]);
        let migrates = |pairs: &[(&str, &str)]| options.tuning(&read(pairs)).storage_migration;
        assert_eq!(migrates(&[]), None);
        assert_eq!((migrates(&[(VARIABLE, "")]), migrates(&[(VARIABLE, "F")])), (None, None));
        assert_eq!(migrates(&[(VARIABLE, "1")]), Some(Duration::from_secs(90)));
        let error = try_read(&[(VARIABLE, "yes")]).unwrap_err().to_string();
        assert!(error.contains(VARIABLE) && error.contains("\"yes\": set it to true or false"), "{error}");
    }

    #[test]
    fn endpoints_can_be_switched_off() {
        let options =
            Options::parse_from(["x", "--metrics-bind-address", "0", "--health-probe-bind-address", ":1"]);
        assert_eq!(options.metrics_bind_address, Bind::Nowhere);
        assert_eq!(options.health_probe_bind_address, Bind::Everywhere(1));
    }

    #[test]
    fn an_address_that_cannot_be_read_is_refused_with_what_to_write_instead() {
        let refused = Options::try_parse_from(["x", "--metrics-bind-address", "nonsense"]).unwrap_err();
        assert!(refused.to_string().contains("write :PORT"), "{refused}");
    }

    #[test]
    fn a_pod_is_known_by_its_name_and_else_by_its_host() {
        assert_eq!(read(&[("POD_NAME", "operator-1"), ("HOSTNAME", "node")]).host, "operator-1");
        assert_eq!(read(&[("POD_NAME", ""), ("HOSTNAME", "node")]).host, "node");
        assert_eq!(read(&[]).host, "thv-operator");
    }
}
