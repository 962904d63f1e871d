//! The programs that a cluster is made of, and where they are found.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// The Kubernetes version that the test bed runs.
pub const KUBERNETES: &str = "v1.36.3";
/// The CoreDNS version that the test bed runs.
pub const COREDNS: &str = "v1.14.7";
/// The version of Kubernetes' libraries whose strategic merge patch ours is compared with, and after the dash a
/// number of our own, which goes up when the program around them changes.
const STRATEGICPATCH: &str = "v0.36.3-1";

/// How much of a cluster there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// etcd, kube-apiserver and kube-controller-manager.
    Api,
    /// The same, and a node that runs pods.
    Full,
}

/// A program built from Go source by `cargo xtask setup`.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The name of the executable.
    pub name: &'static str,
    /// The folder of the Go module under `tools/` that pins its version.
    pub module: &'static str,
    /// The package to build, as seen from that module.
    pub package: &'static str,
    /// The version, which is also the key of the cache.
    pub version: &'static str,
    /// The lowest tier that needs it.
    pub tier: Tier,
}

const fn kubernetes(name: &'static str, package: &'static str, tier: Tier) -> Program {
    Program { name, module: "kubernetes", package, version: KUBERNETES, tier }
}

/// Every program built from source, in the order that makes the best use of the Go build cache.
pub const PROGRAMS: &[Program] = &[
    kubernetes("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", Tier::Api),
    kubernetes("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", Tier::Api),
    kubernetes("kubectl", "k8s.io/kubernetes/cmd/kubectl", Tier::Api),
    Program {
        name: "strategicpatch",
        module: "strategicpatch",
        package: ".",
        version: STRATEGICPATCH,
        tier: Tier::Api,
    },
    kubernetes("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", Tier::Full),
    kubernetes("kubelet", "k8s.io/kubernetes/cmd/kubelet", Tier::Full),
    kubernetes("kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy", Tier::Full),
    Program { name: "coredns", module: "coredns", package: ".", version: COREDNS, tier: Tier::Full },
];

/// A Debian package, with a file of it by which we know that it is there.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    /// The package's name.
    pub name: &'static str,
    /// A file that it installs.
    pub evidence: &'static str,
    /// The lowest tier that needs it.
    pub tier: Tier,
}

/// Every Debian package that the test bed uses.
pub const PACKAGES: &[Package] = &[
    Package { name: "etcd-server", evidence: "/usr/bin/etcd", tier: Tier::Api },
    Package { name: "redis-server", evidence: "/usr/bin/redis-server", tier: Tier::Api },
    Package { name: "util-linux", evidence: "/usr/bin/setpriv", tier: Tier::Api },
    Package { name: "containerd", evidence: "/usr/bin/containerd", tier: Tier::Full },
    Package { name: "runc", evidence: "/usr/sbin/runc", tier: Tier::Full },
    Package { name: "containernetworking-plugins", evidence: "/usr/lib/cni/bridge", tier: Tier::Full },
    Package { name: "iptables", evidence: "/usr/sbin/iptables", tier: Tier::Full },
    Package { name: "conntrack", evidence: "/usr/sbin/conntrack", tier: Tier::Full },
    Package { name: "ipset", evidence: "/usr/sbin/ipset", tier: Tier::Full },
    Package { name: "iproute2", evidence: "/usr/bin/ip", tier: Tier::Full },
    Package { name: "busybox-static", evidence: "/bin/busybox", tier: Tier::Full },
    Package { name: "python3", evidence: "/usr/bin/python3", tier: Tier::Full },
    Package {
        name: "python3-pip",
        evidence: "/usr/lib/python3/dist-packages/pip/__main__.py",
        tier: Tier::Full,
    },
];

/// Where the programs of one tier are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assets(BTreeMap<String, PathBuf>);

impl Assets {
    /// Finds every program of `tier`, each in the first place that has it: `folder`, `$KUBEBUILDER_ASSETS`,
    /// the cache. The error names the programs that are nowhere.
    pub fn find(tier: Tier, folder: Option<&Path>) -> Result<Self> {
        let (found, missing) = Self::search(tier, folder)?;
        if !missing.is_empty() {
            let names: Vec<_> = missing.iter().map(|program| program.name).collect();
            bail!("{} not found: run `cargo xtask setup` first", names.join(", "));
        }
        let absent: Vec<_> = missing_packages(tier).iter().map(|package| package.name).collect();
        if !absent.is_empty() {
            bail!("Debian packages not installed: {}: run `cargo xtask setup` first", absent.join(" "));
        }
        Ok(found)
    }

    /// The programs of `tier` that are somewhere, and those that have to be built.
    pub fn search(tier: Tier, folder: Option<&Path>) -> Result<(Self, Vec<Program>)> {
        let given =
            folder.map(Path::to_owned).or_else(|| env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from));
        let mut found = BTreeMap::new();
        let mut missing = Vec::new();
        for program in PROGRAMS.iter().filter(|program| program.tier <= tier) {
            let cached = program.cached()?;
            let candidates = given.iter().map(|folder| folder.join(program.name)).chain([cached]);
            match candidates.into_iter().find(|path| path.is_file()) {
                Some(path) => drop(found.insert(program.name.to_owned(), path)),
                None => missing.push(*program),
            }
        }
        let assets = Self(found);
        if given.is_some() && missing.is_empty() {
            assets.refuse_skew()?;
        }
        Ok((assets, missing))
    }

    /// The path of one program.
    pub fn path(&self, name: &str) -> Result<&Path> {
        self.0.get(name).map(PathBuf::as_path).with_context(|| format!("{name} is not part of this tier"))
    }

    /// A controller manager newer than its API server is not supported by Kubernetes and fails in odd ways;
    /// a folder that brings only some of the programs can lead there.
    fn refuse_skew(&self) -> Result<()> {
        let server = minor_version(self.path("kube-apiserver")?)?;
        let manager = minor_version(self.path("kube-controller-manager")?)?;
        if manager > server {
            bail!(
                "the given folder has kube-apiserver 1.{server}, but kube-controller-manager comes from \
                 elsewhere and is 1.{manager}: put a kube-controller-manager 1.{server} into the folder"
            );
        }
        Ok(())
    }
}

impl Program {
    /// Where the cache keeps it.
    pub fn cached(&self) -> Result<PathBuf> {
        Ok(cache_folder()?.join(format!("{}-{}", self.module, self.version)).join(self.name))
    }
}

/// The packages of `tier` that are not installed.
pub fn missing_packages(tier: Tier) -> Vec<Package> {
    let wanted = PACKAGES.iter().filter(|package| package.tier <= tier);
    wanted.filter(|package| !Path::new(package.evidence).exists()).copied().collect()
}

/// What outlives `cargo clean`: `$THV_CACHE`, or `toolhive-rs` in the user's cache folder.
pub fn cache_folder() -> Result<PathBuf> {
    if let Some(folder) = env::var_os("THV_CACHE") {
        return Ok(PathBuf::from(folder));
    }
    if let Some(folder) = env::var_os("XDG_CACHE_HOME") {
        return Ok(PathBuf::from(folder).join("toolhive-rs"));
    }
    let home = env::var_os("HOME").context("neither THV_CACHE, XDG_CACHE_HOME nor HOME is set")?;
    Ok(PathBuf::from(home).join(".cache/toolhive-rs"))
}

/// The `36` of `Kubernetes v1.36.3`, as a program prints it of itself.
fn minor_version(program: &Path) -> Result<u32> {
    let output =
        Command::new(program).arg("--version").output().with_context(|| program.display().to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let minor = text.split("v1.").nth(1).and_then(|rest| rest.split('.').next());
    minor
        .and_then(|digits| digits.parse().ok())
        .with_context(|| format!("{} --version printed {text:?}", program.display()))
}
