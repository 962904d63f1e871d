//! What the operator orders for a server: how a pod with its proxy is to be started.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, EnvVar};
use kube::Api;
use tests_fixture::{apply, manifest};
use thv_api::kinds::MCPServer;
use thv_api::names::children::{keys, mcp_server};
use thv_api::names::env;
use thv_testbed::{Redis, free_port, wait};

use crate::bench::idle::{NAME, spec};
use crate::bench::{NAMESPACE, Site};

/// Arguments, environment and configuration of a proxy, and the account that it acts as.
pub(super) struct Order {
    pub(super) arguments: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) config: String,
    pub(super) account: String,
}

impl Order {
    /// Has the operator see to a server, and takes what it wants for one that listens on `port` of this machine.
    pub(super) async fn place(site: &Site, redis: &Redis, port: u16) -> Result<Self> {
        // In a cluster, Redis has a name that is looked up.
        let redis = redis.address().replacen("127.0.0.1", "localhost", 1);
        let spec = spec(&site.api(), "idle:1", &redis, port).await?;
        apply::<MCPServer>(&site.api(), &manifest(NAME, &spec)).await?;
        let operator = site.operator(free_port()?)?.env(env::PROXY_HOST, "127.0.0.1");
        let mut operator = operator.start()?;
        let deployments: Api<Deployment> = site.api();
        let deployment = wait::until(&deployments, NAME, "the operator has made it", |_| true).await;
        let deployment = deployment.with_context(|| format!("the operator wrote:\n{}", operator.output()))?;
        operator.kill().await?;

        let template = deployment.spec.context("a Deployment has no spec")?.template;
        let annotations = template.metadata.and_then(|metadata| metadata.annotations).unwrap_or_default();
        let pod = template.spec.context("a pod has no spec")?;
        let container = pod.containers.into_iter().next().context("a pod has no container")?;
        let value = |variable: EnvVar| Some((variable.name.clone(), value(variable, &annotations)?));
        let maps: Api<ConfigMap> = site.api();
        let map = maps.get(&mcp_server::run_config(NAME)).await?;
        let config =
            map.data.unwrap_or_default().remove(keys::RUN_CONFIG).context("there is no configuration")?;
        Ok(Self {
            arguments: container.args.unwrap_or_default(),
            environment: container.env.unwrap_or_default().into_iter().filter_map(value).collect(),
            config,
            account: pod.service_account_name.context("a pod has no account")?,
        })
    }
}

/// What a variable is in the pod.
fn value(variable: EnvVar, annotations: &BTreeMap<String, String>) -> Option<String> {
    if let Some(value) = variable.value {
        return Some(value);
    }
    match variable.value_from?.field_ref?.field_path.as_str() {
        "metadata.namespace" => Some(NAMESPACE.to_owned()),
        path => {
            let key = path.strip_prefix("metadata.annotations['")?.strip_suffix("']")?;
            annotations.get(key).cloned()
        }
    }
}
