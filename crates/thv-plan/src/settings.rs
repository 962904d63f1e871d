//! What the operator was started with, as far as plans depend on it.

/// The flavour of Kubernetes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Any Kubernetes.
    #[default]
    Kubernetes,
    /// OpenShift, which chooses user ids itself.
    OpenShift,
}

impl Platform {
    /// What only OpenShift serves: a version of a group, and a resource in it.
    pub const ROUTES: (&str, &str) = ("route.openshift.io/v1", "routes");

    /// What the variable `OPERATOR_OPENSHIFT` says: `true`, in any case, is OpenShift, and anything else is not.
    pub fn said(variable: &str) -> Self {
        if variable.eq_ignore_ascii_case("true") { Self::OpenShift } else { Self::Kubernetes }
    }
}

/// A Redis for servers that do not name one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultRedis {
    /// `host:port`.
    pub address: String,
    /// The Secret with the password, and the key in it.
    pub password: Option<(String, String)>,
}

/// Settings of the operator that are the same for every object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The image of proxies.
    pub runner_image: String,
    /// The image of virtual servers.
    pub vmcp_image: String,
    /// The image of registries.
    pub registry_api_image: String,
    /// The address that proxies listen on.
    pub proxy_host: String,
    /// Pull secrets that every pod of ours gets.
    pub image_pull_secrets: Vec<String>,
    /// The Redis of servers that do not name one.
    pub default_redis: Option<DefaultRedis>,
    /// The flavour of Kubernetes.
    pub platform: Platform,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            runner_image: "ghcr.io/stacklok/toolhive/proxyrunner:latest".to_owned(),
            vmcp_image: "ghcr.io/stacklok/toolhive/vmcp:latest".to_owned(),
            registry_api_image: "ghcr.io/stacklok/thv-registry-api:latest".to_owned(),
            proxy_host: "0.0.0.0".to_owned(),
            image_pull_secrets: Vec::new(),
            default_redis: None,
            platform: Platform::Kubernetes,
        }
    }
}
