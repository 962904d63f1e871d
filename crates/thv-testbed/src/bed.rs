//! What a test sees of the cluster that it runs against.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::PostParams;
use kube::{Api, Client};

use crate::assets::Tier;
use crate::cluster::Description;
use crate::control_plane::{client_for, kubeconfig_for};
use crate::image::{Image, import};

/// The environment variable that names the file with the [`Description`].
pub const ENVIRONMENT: &str = "THV_TESTBED";

/// A running cluster of at least the tier that was asked for.
#[derive(Clone)]
pub struct Bed {
    description: Arc<Description>,
    client: Client,
}

impl Bed {
    /// The cluster that `cargo xtask test` has started for this run.
    pub async fn open(tier: Tier) -> Result<Self> {
        let command = match tier {
            Tier::Api => "cargo xtask test api",
            Tier::Full => "cargo xtask test cluster",
        };
        let Some(file) = env::var_os(ENVIRONMENT) else {
            bail!("this test needs a Kubernetes to run against: run it with `{command} <part of its name>`");
        };
        let bed = Self::at(Path::new(&file)).await?;
        if bed.description.tier < tier {
            bail!(
                "this test needs pods, and the cluster in ${ENVIRONMENT} has none: run it with `{command}`"
            );
        }
        Ok(bed)
    }

    /// The cluster that `file` describes.
    pub async fn at(file: &Path) -> Result<Self> {
        let description = Description::read(file)?;
        let client = client_for(&description.kubeconfig).await?;
        Ok(Self { description: Arc::new(description), client })
    }

    /// A client that may do everything.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Where things are.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The path of a program of Kubernetes, such as `kubectl`.
    pub fn program(&self, name: &str) -> Result<PathBuf> {
        self.description.assets.path(name).map(ToOwned::to_owned)
    }

    /// Makes `image` available to the node, and returns its full name.
    pub async fn load(&self, image: &Image) -> Result<String> {
        let socket = self.description.containerd.as_deref().context("this cluster has no node")?;
        import(socket, image).await?;
        Ok(image.name().to_owned())
    }

    /// A token with which a program acts as a ServiceAccount.
    pub async fn token_of(&self, namespace: &str, account: &str) -> Result<String> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client(), namespace);
        let request = TokenRequest { spec: Some(TokenRequestSpec::default()), ..TokenRequest::default() };
        let answer = accounts.create_token_request(account, &PostParams::default(), &request).await;
        let answer = answer.with_context(|| format!("no token for the ServiceAccount {account}"))?;
        answer.status.and_then(|status| status.token).context("the API server sent no token")
    }

    /// The text of a kubeconfig with which a program acts as a ServiceAccount.
    pub async fn kubeconfig_of(&self, namespace: &str, account: &str) -> Result<String> {
        let token = self.token_of(namespace, account).await?;
        kubeconfig_for(&self.description.server, &self.description.ca, &token)
    }

    pub(crate) fn admin_token(&self) -> Result<String> {
        let file = &self.description.admin_token;
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
    }
}
