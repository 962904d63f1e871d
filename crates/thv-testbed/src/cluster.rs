//! The life of one cluster: started, described to those who use it, stopped without a trace.

use std::fs::{self, File};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use futures::future::select_all;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::assets::{Assets, Tier, cache_folder};
use crate::control_plane::{self, KUBERNETES_SERVICE, Site};
use crate::node::{self, Node};
use crate::pki::{self, Pki};
use crate::process::{Place, Process};

/// Everything that a user of a running cluster needs to know, handed on as a JSON file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Description {
    /// How much of a cluster it is.
    pub tier: Tier,
    /// The address of the API server.
    pub server: String,
    /// The administrator's kubeconfig.
    pub kubeconfig: PathBuf,
    /// The file with the administrator's token.
    pub admin_token: PathBuf,
    /// The certificate of the CA that signed the API server's.
    pub ca: PathBuf,
    /// The certificate that a recording endpoint serves with.
    pub recorder_certificate: PathBuf,
    /// Its key.
    pub recorder_key: PathBuf,
    /// Where servers that a test starts listen, so that programs under test and pods reach them.
    pub host: IpAddr,
    /// The socket of containerd, on a tier that has one.
    pub containerd: Option<PathBuf>,
    /// Where the programs of Kubernetes are.
    pub assets: Assets,
    /// The folder with the logs.
    pub folder: PathBuf,
}

/// For whom a cluster runs, which decides where its files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// One test run; several can be under way.
    TestRun,
    /// A person, who has at most one.
    Person,
}

impl Owner {
    /// Where the files of this owner's cluster are.
    pub fn folder(self) -> Result<PathBuf> {
        Ok(match self {
            Self::Person => run_folder()?.join("person"),
            Self::TestRun => run_folder()?.join(format!("test-{}", std::process::id())),
        })
    }
}

/// What a run that ended without cleaning up had left, and is gone now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers(pub Vec<String>);

/// A running cluster. Dropping it kills it; [`Cluster::stop`] also removes its files.
pub struct Cluster {
    description: Description,
    processes: Vec<Process>,
    node: Option<Node>,
    _locks: Vec<File>,
}

impl Cluster {
    /// Starts a cluster and waits until it can be used. `progress` is told each step.
    pub async fn start(tier: Tier, assets: Assets, owner: Owner, progress: &dyn Fn(&str)) -> Result<Self> {
        let folder = owner.folder()?;
        let mut locks = Vec::new();
        if tier == Tier::Full {
            locks.push(node::lock()?);
        }
        locks.push(take_folder(&folder)?);

        let node = match tier {
            Tier::Api => None,
            Tier::Full => {
                progress("making the node's namespaces");
                Some(Node::create(&folder).await?)
            }
        };
        let (place, address, host) = match &node {
            None => (Place::Here, Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST),
            Some(node) => (node.place(), node::ADDRESS, node::HOST),
        };
        let names =
            ["localhost", "kubernetes.default.svc", "127.0.0.1", KUBERNETES_SERVICE].map(str::to_owned);
        let with = |address: Ipv4Addr| [names.as_slice(), &[address.to_string()]].concat();
        let pki = Pki::create(&folder, &with(address), &with(host))?;

        progress("starting etcd, kube-apiserver, kube-controller-manager");
        let site = Site { folder: &folder, place, address, assets: &assets, pki: &pki };
        let mut plane = control_plane::start(site).await?;
        if let Some(node) = &node {
            progress("starting containerd, kubelet, kube-proxy, kube-scheduler, CoreDNS");
            let more =
                node.run(&assets, &pki, &plane.kubeconfig, &plane.client, &mut plane.processes).await?;
            plane.processes.extend(more);
        }

        let description = Description {
            tier,
            server: plane.server,
            kubeconfig: plane.kubeconfig,
            admin_token: plane.admin_token,
            ca: pki.ca,
            recorder_certificate: pki.recorder.certificate,
            recorder_key: pki.recorder.key,
            host: host.into(),
            containerd: node.as_ref().map(Node::containerd_socket),
            assets,
            folder,
        };
        pki::write(&description.file(), &serde_json::to_string_pretty(&description)?)?;
        Ok(Self { description, processes: plane.processes, node, _locks: locks })
    }

    /// What a user of this cluster needs to know.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Waits until a component ends by itself, and says which and why.
    pub async fn failed(&mut self) -> String {
        select_all(self.processes.iter_mut().map(|process| Box::pin(process.ended()))).await.0
    }

    /// Kills every process and removes every file, device and cgroup.
    pub async fn stop(mut self) -> Result<()> {
        if let Some(node) = self.node.take() {
            node.destroy().await?;
        }
        for process in self.processes.iter_mut().rev() {
            process.kill().await?;
        }
        fs::remove_dir_all(&self.description.folder)
            .with_context(|| format!("cannot remove {}", self.description.folder.display()))
    }
}

impl Description {
    /// The file that describes the cluster whose files are in `folder`.
    pub fn file_in(folder: &Path) -> PathBuf {
        folder.join("bed.json")
    }

    /// The file that holds this description.
    pub fn file(&self) -> PathBuf {
        Self::file_in(&self.folder)
    }

    /// Reads a description.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} does not describe a cluster", file.display()))
    }
}

impl Leftovers {
    /// Removes what crashed runs left behind, and says what that was. What belongs to a living run stays.
    pub async fn remove() -> Result<Self> {
        let mut found = Vec::new();
        let Ok(entries) = fs::read_dir(run_folder()?) else { return Ok(Self::default()) };
        for entry in entries {
            let folder = entry?.path();
            if folder.is_dir() && is_abandoned(&folder) {
                found.push(format!("the files of a cluster that was not shut down: {}", folder.display()));
                fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
            }
        }
        if let Ok(_lock) = node::lock() {
            found.extend(node::remove_leftovers().await?);
        }
        Ok(Self(found))
    }
}

/// Where the files of running clusters are.
pub(crate) fn run_folder() -> Result<PathBuf> {
    Ok(cache_folder()?.join("run"))
}

/// Makes `folder` ours, new and empty, for as long as the returned file is open.
fn take_folder(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut lock = open_lock(&folder.join("lock"))?;
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        bail!("a cluster is running already in {}: `cargo xtask cluster down` stops it", folder.display());
    }
    lock.set_len(0)?;
    write!(lock, "{}", std::process::id())?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        } else if path != folder.join("lock") {
            fs::remove_file(&path)?;
        }
    }
    Ok(lock)
}

/// The process that keeps the cluster whose files are in `folder`, if one is running.
pub fn keeper(folder: &Path) -> Option<u32> {
    let lock = File::open(folder.join("lock")).ok()?;
    if is_free(&lock) {
        return None;
    }
    fs::read_to_string(folder.join("lock")).ok()?.trim().parse().ok()
}

/// Whether nobody holds the lock of a cluster's folder. A folder without one was being removed.
fn is_abandoned(folder: &Path) -> bool {
    File::open(folder.join("lock")).map_or(true, |lock| is_free(&lock))
}

/// Whether nobody holds this lock.
fn is_free(lock: &File) -> bool {
    flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Opens a lock file, which is never truncated: another process may hold it.
pub(crate) fn open_lock(path: &Path) -> Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).with_context(|| format!("cannot open {}", path.display()))
}
