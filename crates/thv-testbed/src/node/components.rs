//! containerd, kubelet, kube-proxy and kube-scheduler.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Node as KubeNode, ServiceAccount};
use kube::{Api, Client};
use serde_json::json;

use super::{ADDRESS, Node, PODS, cgroup, ctr, dns, until};
use crate::assets::Assets;
use crate::image::{Image, import};
use crate::pki::Pki;
use crate::process::Process;
use crate::wait;

/// The image that holds a pod's namespaces.
const PAUSE: &str = "localhost/pause:1";
const NODE: &str = "node";

/// Starts them. containerd answers when this returns; the others may still be waiting for the API server.
pub(super) async fn start(
    node: &Node,
    assets: &Assets,
    pki: &Pki,
    kubeconfig: &Path,
) -> Result<Vec<Process>> {
    let folder = node.folder.as_path();
    let containerd = start_containerd(node).await?;
    import(&node.containerd_socket(), &pause_image()?).await?;

    write_json(&folder.join("kubelet.json"), &kubelet_configuration(node, pki))?;
    fs::write(folder.join("resolv.conf"), "")?;
    let mut kubelet = node.place().command(assets.path("kubelet")?);
    kubelet.arg("--config").arg(folder.join("kubelet.json")).arg("--kubeconfig").arg(kubeconfig);
    kubelet.arg("--root-dir").arg(folder.join("kubelet")).arg("--cert-dir").arg(folder.join("kubelet-certs"));
    kubelet.args(["--node-ip", &ADDRESS.to_string(), "--hostname-override", NODE]);

    let mut proxy = node.place().command(assets.path("kube-proxy")?);
    proxy.arg("--kubeconfig").arg(kubeconfig).args(["--hostname-override", NODE, "--cluster-cidr", PODS]);
    proxy.args(["--proxy-mode", "iptables", "--conntrack-max-per-core", "0"]);

    let mut scheduler = node.place().command(assets.path("kube-scheduler")?);
    scheduler.arg("--kubeconfig").arg(kubeconfig).args(["--leader-elect=false", "--secure-port", "0"]);

    Ok(vec![
        containerd,
        Process::start("kubelet", kubelet, folder)?,
        Process::start("kube-proxy", proxy, folder)?,
        Process::start("kube-scheduler", scheduler, folder)?,
    ])
}

/// Waits until pods can be made, and stops waiting when a component has died.
pub(super) async fn ready(client: &Client, ours: &mut [Process], theirs: &mut [Process]) -> Result<()> {
    let nodes: Api<KubeNode> = Api::all(client.clone());
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
    let deadline = Duration::from_secs(90);
    let waiting = async {
        wait::until_within(deadline, &nodes, NODE, "the node is ready", |node| {
            wait::has_condition(node, "Ready", "True")
        })
        .await?;
        // Pods are refused in a namespace that does not have its account yet.
        wait::until_within(deadline, &accounts, "default", "the default account exists", |_| true).await?;
        anyhow::Ok(())
    };
    tokio::pin!(waiting);
    loop {
        tokio::select! {
            result = &mut waiting => return result,
            () = tokio::time::sleep(Duration::from_millis(500)) => {
                for process in ours.iter_mut().chain(theirs.iter_mut()) {
                    process.check()?;
                }
            }
        }
    }
}

async fn start_containerd(node: &Node) -> Result<Process> {
    let folder = node.folder.as_path();
    let socket = node.containerd_socket();
    let cni = folder.join("cni");
    fs::create_dir_all(&cni)?;
    write_json(&cni.join("10-pods.conflist"), &network(folder))?;
    let configuration = folder.join("containerd.toml");
    fs::write(&configuration, containerd_configuration(folder, &socket, &cni))?;

    let mut command = node.place().command("/usr/bin/containerd");
    command.arg("--config").arg(&configuration);
    let mut process = Process::start("containerd", command, folder)?;
    let mut answered = false;
    for _ in 0..300 {
        process.check()?;
        answered = ctr(&socket).arg("version").output().await?.status.success();
        if answered {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    anyhow::ensure!(answered, "containerd does not answer at {}", socket.display());
    until("containerd has made its socket", || Ok(socket.exists())).await?;
    Ok(process)
}

fn containerd_configuration(folder: &Path, socket: &Path, cni: &Path) -> String {
    let (folder, socket, cni) = (folder.display(), socket.display(), cni.display());
    // restrict_oom_score_adj: without CAP_SYS_RESOURCE, lowering the score fails and takes the sandbox along.
    format!(
        r#"version = 2
root = "{folder}/containerd"
state = "{folder}/containerd-state"
[grpc]
  address = "{socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/containerd-opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{cni}"
"#
    )
}

fn network(folder: &Path) -> serde_json::Value {
    json!({
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [
            {
                "type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
                "ipam": {
                    "type": "host-local",
                    "dataDir": folder.join("ipam"),
                    "ranges": [[{"subnet": PODS}]],
                    // Without it, pods cannot reach Service addresses.
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": true}},
        ],
    })
}

fn kubelet_configuration(node: &Node, pki: &Pki) -> serde_json::Value {
    let folder = node.folder.as_path();
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": ADDRESS,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": format!("/{}", cgroup::NAME),
        "failCgroupV1": false,
        "enforceNodeAllocatable": [],
        "localStorageCapacityIsolation": false,
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "containerRuntimeEndpoint": format!("unix://{}", node.containerd_socket().display()),
        "volumePluginDir": folder.join("volume-plugins"),
        "resolvConf": folder.join("resolv.conf"),
        "clusterDNS": [dns::SERVICE],
        "clusterDomain": "cluster.local",
        "authentication": {
            "anonymous": {"enabled": false},
            "webhook": {"enabled": true},
            "x509": {"clientCAFile": pki.ca},
        },
        "authorization": {"mode": "Webhook"},
        // A test that waits for a volume or a secret to be refreshed should not wait for a minute.
        "syncFrequency": "5s",
        "configMapAndSecretChangeDetectionStrategy": "Watch",
        "registryPullQPS": 0,
        "eventRecordQPS": 0,
    })
}

fn pause_image() -> Result<Image> {
    let image = Image::new(PAUSE).binary(Path::new("/bin/busybox"), "/bin/busybox")?;
    Ok(image.entrypoint(["/bin/busybox", "sleep", "2147483647"]))
}

fn write_json(path: &Path, value: &serde_json::Value) -> Result<()> {
    fs::write(path, serde_json::to_vec_pretty(value)?)
        .with_context(|| format!("cannot write {}", path.display()))
}
