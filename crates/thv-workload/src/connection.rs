//! The way to the API server.

use http::HeaderValue;
use http::header::USER_AGENT;
use kube::config::KubeConfigOptions;
use kube::{Client, Config};

/// A client, and the namespace that the proxy lives in.
#[derive(Clone)]
pub struct Connection {
    /// The client.
    pub client: Client,
    /// The namespace.
    pub namespace: String,
}

/// Why there is no way to an API server.
#[derive(Debug, thiserror::Error)]
pub enum NoCluster {
    /// Neither this pod nor a file says where one is.
    #[error("no cluster: {pod}, and {file}; run in a pod, or set KUBECONFIG")]
    Unknown {
        /// Why the pod does not say.
        pod: kube::config::InClusterError,
        /// Why no file says.
        file: kube::config::KubeconfigError,
    },
    /// There is one, and it cannot be spoken to.
    #[error("cannot speak to the cluster: {0}")]
    Client(#[from] kube::Error),
}

impl Connection {
    /// As a pod; else as the user's kubeconfig says. Outside of a pod, `namespace` counts before that of the
    /// kubeconfig. `agent` is what requests say of who sends them.
    pub async fn open(namespace: Option<&str>, agent: &'static str) -> Result<Self, NoCluster> {
        let mut config = match Config::incluster() {
            Ok(config) => config,
            Err(pod) => {
                let mut config = Config::from_kubeconfig(&KubeConfigOptions::default())
                    .await
                    .map_err(|file| NoCluster::Unknown { pod, file })?;
                if let Some(namespace) = namespace {
                    namespace.clone_into(&mut config.default_namespace);
                }
                config
            }
        };
        config.headers.push((USER_AGENT, HeaderValue::from_static(agent)));
        let namespace = config.default_namespace.clone();
        Ok(Self { client: Client::try_from(config)?, namespace })
    }
}
