//! What the environment says.

use std::collections::BTreeMap;

use thv_api::names::env;
use thv_config::Secret;

/// What the environment says. Whatever is set and empty counts as not set.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Whether to log more.
    pub debug: bool,
    /// Whether backends run on Kubernetes.
    pub runtime: Option<String>,
    /// What the cluster is, if it does not have to be asked.
    pub platform: Option<String>,
    /// The namespace of this pod.
    pub namespace: Option<String>,
    /// The generation that this pod was made for, as it was handed down.
    pub generation: Option<String>,
    /// The revision that this pod was made for, as it was handed down.
    pub revision: Option<String>,
    /// Digest of the configuration that this pod was made for.
    pub checksum: Option<String>,
    /// Password of the Redis that keeps sessions.
    pub redis_password: Option<Secret>,
    /// Where secrets come from.
    secrets_provider: Option<String>,
    /// The secrets themselves, by the name of their variable.
    secrets: BTreeMap<String, Secret>,
}

/// Why a secret cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSecret {
    /// It is not there.
    #[error("the environment variable {0} is not set or empty")]
    Missing(String),
    /// It is somewhere else.
    #[error("secrets come from {0:?}, and a proxy can read them from its environment only: set {provider}=environment", provider = env::SECRETS_PROVIDER)]
    Provider(String),
}

/// The only place that a proxy in a cluster has secrets from.
const PROVIDER: &str = "environment";

impl Environment {
    /// Reads it.
    pub fn read(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let variables: BTreeMap<String, String> = variables.into_iter().collect();
        let get = |name: &str| variables.get(name).filter(|value| !value.trim().is_empty());
        let text = |name: &str| get(name).map(|value| value.trim().to_owned());
        let is_secret = |name: &String| name.starts_with(env::SECRET_PREFIX);
        Self {
            debug: text(env::DEBUG).and_then(|value| env::boolean(&value)) == Some(true),
            runtime: text(env::RUNTIME)
                .or_else(|| get(env::KUBERNETES_SERVICE_HOST).map(|_| "kubernetes".to_owned())),
            platform: variables.get(env::OPERATOR_OPENSHIFT).cloned(),
            namespace: text(env::POD_NAMESPACE),
            generation: variables.get(env::MCP_SERVER_GENERATION).cloned(),
            revision: text(env::MCP_SERVER_REVISION),
            checksum: text(env::RUN_CONFIG_CHECKSUM),
            redis_password: get(env::SESSION_REDIS_PASSWORD).map(|value| Secret::new(value.as_str())),
            secrets_provider: text(env::SECRETS_PROVIDER),
            secrets: variables
                .iter()
                .filter(|(name, value)| is_secret(name) && !value.is_empty())
                .map(|(name, value)| (name.clone(), Secret::new(value.as_str())))
                .collect(),
        }
    }

    /// The secret with this name.
    pub fn secret(&self, name: &str) -> Result<&Secret, NoSecret> {
        if let Some(other) = self.secrets_provider.as_ref().filter(|provider| *provider != PROVIDER) {
            return Err(NoSecret::Provider(other.clone()));
        }
        let variable = env::secret(name);
        self.secrets.get(&variable).ok_or(NoSecret::Missing(variable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Environment {
        Environment::read(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn what_is_empty_is_not_set() {
        let environment = read(&[("TOOLHIVE_RUNTIME", " "), ("THV_MCPSERVER_REVISION", "")]);
        assert_eq!((environment.runtime, environment.revision, environment.debug), (None, None, false));
    }

    #[test]
    fn a_cluster_is_recognised_by_either_variable() {
        assert_eq!(read(&[("TOOLHIVE_RUNTIME", "kubernetes")]).runtime.as_deref(), Some("kubernetes"));
        assert_eq!(read(&[("KUBERNETES_SERVICE_HOST", "10.0.0.1")]).runtime.as_deref(), Some("kubernetes"));
    }

    #[test]
    fn secrets_are_found_by_name_and_never_shown() {
        let environment =
            read(&[("TOOLHIVE_SECRET_token", "hush"), ("TOOLHIVE_SECRETS_PROVIDER", "environment")]);
        assert_eq!(environment.secret("token").unwrap().expose(), "hush");
        let missing = NoSecret::Missing("TOOLHIVE_SECRET_other".to_owned());
        assert_eq!(environment.secret("other").unwrap_err(), missing);
        assert!(!format!("{environment:?}").contains("hush"));
        let elsewhere =
            read(&[("TOOLHIVE_SECRET_token", "hush"), ("TOOLHIVE_SECRETS_PROVIDER", "1password")]);
        assert!(matches!(elsewhere.secret("token"), Err(NoSecret::Provider(_))));
    }

    #[test]
    fn s2_16_the_password_of_redis_comes_from_the_environment_and_is_never_shown() {
        let environment = read(&[("THV_SESSION_REDIS_PASSWORD", "hush")]);
        assert_eq!(environment.redis_password.as_ref().unwrap().expose(), "hush");
        assert!(!format!("{environment:?}").contains("hush"));
    }
}
