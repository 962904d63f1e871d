//! A node that runs pods, inside network, PID and mount namespaces of its own.
//!
//! The anchor is the first process of those namespaces. Killing it is taking the node down: the kernel ends
//! every process, mount, network device and firewall rule with it, and only cgroup folders are left to remove.

mod cgroup;
mod components;
mod dns;

use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kube::Client;
use rustix::fs::{FlockOperation, flock};
use tokio::process::Command;

use crate::assets::Assets;
use crate::cluster::{open_lock, run_folder};
use crate::pki::Pki;
use crate::process::{Place, Process, run};

/// The node's address, inside.
pub(crate) const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 1);
/// Our address on the link to it.
pub(crate) const HOST: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 254);
/// The range of pod addresses.
const PODS: &str = "10.98.0.0/24";
/// Our end of the link.
const LINK: &str = "thv-testbed0";

/// Namespaces with a node in them.
pub(crate) struct Node {
    anchor: Process,
    pid: u32,
    folder: PathBuf,
}

impl Node {
    /// Makes the namespaces and the link to them. The caller holds the [`lock`].
    pub(crate) async fn create(folder: &Path) -> Result<Self> {
        if !rustix::process::getuid().is_root() {
            bail!("a node needs namespaces, cgroups and network devices: run this as root");
        }
        for hidden in ["/run", "/var/log", "/var/lib"] {
            if folder.starts_with(hidden) {
                bail!(
                    "the node hides {hidden}, so its files cannot be there: set THV_CACHE to another folder"
                );
            }
        }
        remove_leftovers().await?;
        cgroup::create()?;

        let anchored = folder.join("anchored");
        let mut command = Place::Here.command("unshare");
        command.args(["--net", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child"]);
        command.args(["--", "sh", "-euc", ANCHOR, "anchor"]).arg(folder).arg(&anchored);
        let mut anchor = Process::start("anchor", command, folder)?;
        until("the node's namespaces exist", || {
            anchor.check()?;
            Ok(anchored.exists())
        })
        .await?;
        let unshare = anchor.id().context("the anchor ended")?;
        let children = fs::read_to_string(format!("/proc/{unshare}/task/{unshare}/children"))?;
        let pid = children.trim().parse().with_context(|| format!("unexpected children {children:?}"))?;
        let node = Self { anchor, pid, folder: folder.to_owned() };
        node.link().await?;
        Ok(node)
    }

    /// Where the processes of this node run.
    pub(crate) fn place(&self) -> Place {
        Place::Inside(self.pid)
    }

    /// Starts what makes it a node, and waits until it is ready.
    pub(crate) async fn run(
        &self,
        assets: &Assets,
        pki: &Pki,
        kubeconfig: &Path,
        client: &Client,
        control_plane: &mut [Process],
    ) -> Result<Vec<Process>> {
        let mut processes = components::start(self, assets, pki, kubeconfig).await?;
        dns::publish(client).await?;
        processes.push(dns::start(self, assets, kubeconfig)?);
        components::ready(client, &mut processes, control_plane).await?;
        Ok(processes)
    }

    /// The socket of the node's containerd, which is reachable from outside.
    pub(crate) fn containerd_socket(&self) -> PathBuf {
        self.folder.join("containerd.sock")
    }

    /// Takes the node down. When this returns, nothing of it is left but files in its folder.
    pub(crate) async fn destroy(mut self) -> Result<()> {
        self.anchor.kill().await?;
        remove_leftovers().await.map(drop)
    }

    /// A pair of connected devices, one on each side; it goes away with the namespace.
    async fn link(&self) -> Result<()> {
        let pid = self.pid.to_string();
        let address = ADDRESS.to_string();
        ip(Place::Here, &format!("link add {LINK} type veth peer name node0 netns {pid}")).await?;
        ip(Place::Here, &format!("addr add {HOST}/24 dev {LINK}")).await?;
        ip(Place::Here, &format!("link set {LINK} up")).await?;
        ip(self.place(), "link set lo up").await?;
        ip(self.place(), &format!("addr add {ADDRESS}/24 dev node0")).await?;
        ip(self.place(), "link set node0 up").await?;
        ip(self.place(), &format!("route add default via {HOST}")).await?;
        // Tests reach pods and Services directly.
        for range in [PODS, crate::control_plane::SERVICES] {
            ip(Place::Here, &format!("route add {range} via {address} dev {LINK}")).await?;
        }
        let mut forward = self.place().command("sh");
        forward.args(["-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]);
        run(forward).await.map(drop)
    }
}

/// The first process of the namespaces. What programs of the node write to fixed places stays in here: the
/// sockets of containerd's shims, CNI's records, pod logs. It ignores SIGCHLD, which makes the kernel reap the
/// orphans that a first process inherits.
const ANCHOR: &str = r#"
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/log
mkdir "$1/overlay"
mount -t tmpfs tmpfs "$1/overlay"
mkdir "$1/overlay/upper" "$1/overlay/work"
mount -t overlay overlay -o "lowerdir=/var/lib,upperdir=$1/overlay/upper,workdir=$1/overlay/work" /var/lib
touch "$2"
exec env --ignore-signal=CHLD sleep infinity
"#;

async fn ip(place: Place, arguments: &str) -> Result<()> {
    let mut command = place.command("ip");
    command.args(arguments.split(' '));
    run(command).await.map(drop)
}

/// The right to have a node on this machine, held while the returned file is open.
pub(crate) fn lock() -> Result<File> {
    let folder = run_folder()?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let lock = open_lock(&folder.join("node.lock"))?;
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        bail!(
            "another cluster with a node is running on this machine: wait for its test run to end, or stop it \
             with `cargo xtask cluster down`"
        );
    }
    Ok(lock)
}

/// Removes what an earlier node had outside of its namespaces, whose first process is dead. The kernel removes the
/// namespaces. The caller holds the [`lock`].
pub(crate) async fn remove_leftovers() -> Result<Vec<String>> {
    let mut found = Vec::new();
    let link = Path::new("/sys/class/net").join(LINK);
    if link.exists() {
        found.push(format!("the network device {LINK}"));
        // Connections that were cut keep their namespace for minutes, while the kernel tries to tell peers that are no
        // longer there. The device need not wait for that; that it may be going just now is no error.
        drop(ip(Place::Here, &format!("link delete {LINK}")).await);
        until(&format!("the network device {LINK} of an earlier cluster is gone"), || Ok(!link.exists()))
            .await?;
    }
    if cgroup::exists() {
        found.push(format!("cgroup folders named {}", cgroup::NAME));
        until(&format!("the cgroups {} of an earlier cluster are empty", cgroup::NAME), cgroup::remove)
            .await?;
    }
    Ok(found)
}

/// Polls for something that the kernel does and that cannot be watched.
async fn until(what: &str, mut done: impl FnMut() -> Result<bool>) -> Result<()> {
    for _ in 0..600 {
        if done()? {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("waited 30 s until {what}")
}

/// `ctr` of this node's containerd, in the namespace that the kubelet uses.
pub(crate) fn ctr(socket: &Path) -> Command {
    let mut command = Command::new("ctr");
    command.arg("--address").arg(socket).args(["--namespace", "k8s.io"]).kill_on_drop(true);
    command
}
