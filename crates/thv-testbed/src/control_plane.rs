//! etcd, kube-apiserver and kube-controller-manager: the part that both tiers share.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::assets::Assets;
use crate::pki::{self, Pki};
use crate::process::{Place, Process, free_port};

/// The first address of the Service range, which the API server gives to itself.
pub(crate) const KUBERNETES_SERVICE: &str = "10.96.0.1";
/// The range of Service addresses.
pub(crate) const SERVICES: &str = "10.96.0.0/16";

/// Where a control plane runs and is reached.
pub(crate) struct Site<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) place: Place,
    pub(crate) address: Ipv4Addr,
    pub(crate) assets: &'a Assets,
    pub(crate) pki: &'a Pki,
}

/// A running control plane.
pub(crate) struct ControlPlane {
    pub(crate) processes: Vec<Process>,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) admin_token: PathBuf,
    pub(crate) client: Client,
    pub(crate) server: String,
}

/// Starts it and waits until it is ready.
pub(crate) async fn start(site: Site<'_>) -> Result<ControlPlane> {
    let token = random_token()?;
    let admin_token = site.folder.join("admin-token");
    pki::write(&admin_token, &token)?;
    let tokens = site.folder.join("tokens.csv");
    pki::write(&tokens, &format!("{token},admin,admin,system:masters\n"))?;

    let api_port = free_port()?;
    let server = format!("https://{}:{api_port}", site.address);
    let kubeconfig = site.folder.join("kubeconfig");
    pki::write(&kubeconfig, &kubeconfig_for(&server, &site.pki.ca, &token)?)?;

    let (etcd, etcd_url) = start_etcd(&site)?;
    let mut processes = vec![etcd, start_api_server(&site, &etcd_url, &tokens, api_port)?];
    let client = client_for(&kubeconfig).await?;
    ready(&client, &mut processes).await?;
    processes.push(start_controller_manager(&site, &kubeconfig)?);
    Ok(ControlPlane { processes, kubeconfig, admin_token, client, server })
}

fn start_etcd(site: &Site) -> Result<(Process, String)> {
    let clients = format!("http://127.0.0.1:{}", free_port()?);
    let peers = format!("http://127.0.0.1:{}", free_port()?);
    let mut command = site.place.command("/usr/bin/etcd");
    command.arg("--data-dir").arg(site.folder.join("etcd"));
    // Nothing here outlives the machine, so nothing needs to reach its disk.
    command.args(["--unsafe-no-fsync", "--log-level", "warn"]);
    command.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
    command.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
    command.args(["--initial-cluster", &format!("default={peers}")]);
    Ok((Process::start("etcd", command, site.folder)?, clients))
}

fn start_api_server(site: &Site, etcd_url: &str, tokens: &Path, port: u16) -> Result<Process> {
    let pki = site.pki;
    let mut command = site.place.command(site.assets.path("kube-apiserver")?);
    command.args(["--etcd-servers", etcd_url, "--secure-port", &port.to_string()]);
    command.args([
        "--bind-address",
        &site.address.to_string(),
        "--advertise-address",
        &site.address.to_string(),
    ]);
    command.arg("--tls-cert-file").arg(&pki.server.certificate);
    command.arg("--tls-private-key-file").arg(&pki.server.key);
    command.arg("--client-ca-file").arg(&pki.ca);
    command.arg("--token-auth-file").arg(tokens);
    command.arg("--kubelet-client-certificate").arg(&pki.kubelet_client.certificate);
    command.arg("--kubelet-client-key").arg(&pki.kubelet_client.key);
    command.args(["--kubelet-preferred-address-types", "InternalIP"]);
    command.args(["--service-account-issuer", "https://kubernetes.default.svc"]);
    command.arg("--service-account-key-file").arg(&pki.token_public_key);
    command.arg("--service-account-signing-key-file").arg(&pki.token_key);
    command.args(["--service-cluster-ip-range", SERVICES, "--authorization-mode", "Node,RBAC"]);
    command.args(["--allow-privileged", "--profiling=false"]);
    if site.address.is_loopback() {
        // A loopback address is not a valid endpoint of the `kubernetes` Service, and no pod would use it.
        command.args(["--endpoint-reconciler-type", "none"]);
    }
    Process::start("kube-apiserver", command, site.folder)
}

fn start_controller_manager(site: &Site, kubeconfig: &Path) -> Result<Process> {
    let mut command = site.place.command(site.assets.path("kube-controller-manager")?);
    command.arg("--kubeconfig").arg(kubeconfig);
    command.arg("--root-ca-file").arg(&site.pki.ca);
    command.arg("--service-account-private-key-file").arg(&site.pki.token_key);
    command.args(["--leader-elect=false", "--secure-port", "0", "--profiling=false"]);
    // The default of 20 requests a second would make every test wait for the controllers.
    command.args(["--kube-api-qps", "500", "--kube-api-burst", "1000"]);
    Process::start("kube-controller-manager", command, site.folder)
}

/// Waits for `/readyz`, and stops waiting when a component has died.
async fn ready(client: &Client, processes: &mut [Process]) -> Result<()> {
    const TRIES: u32 = 600;
    for _ in 0..TRIES {
        for process in &mut *processes {
            process.check()?;
        }
        let request = http::Request::get("/readyz").body(Vec::new())?;
        if client.request_text(request).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("the API server was not ready after a minute; its log is kept in the cluster's folder")
}

/// A client with the rights that `kubeconfig` gives.
pub async fn client_for(kubeconfig: &Path) -> Result<Client> {
    let text = std::fs::read_to_string(kubeconfig)
        .with_context(|| format!("cannot read the kubeconfig {}", kubeconfig.display()))?;
    client_from(&text).await
}

/// A client with the rights that the text of a kubeconfig gives.
pub(crate) async fn client_from(kubeconfig: &str) -> Result<Client> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).context("not a kubeconfig")?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    // A test must see every failure, and the request log exactly what the test sent.
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

/// A kubeconfig with one user, who has a token.
pub(crate) fn kubeconfig_for(server: &str, ca: &Path, token: &str) -> Result<String> {
    let ca = std::fs::read(ca).with_context(|| format!("cannot read {}", ca.display()))?;
    let config = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "testbed", "cluster": {
            "server": server,
            "certificate-authority-data": k8s_openapi::ByteString(ca),
        }}],
        "users": [{"name": "user", "user": {"token": token}}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": "user"}}],
        "current-context": "testbed",
    });
    Ok(serde_json::to_string_pretty(&config)?)
}

fn random_token() -> Result<String> {
    let mut random = [0_u8; 24];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(random.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
}
