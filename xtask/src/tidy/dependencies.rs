//! Lower crates know nothing of higher ones, and pure crates can do no I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::shell::output;

/// A crate of the workspace and what it may know.
struct Room {
    name: &'static str,
    /// No I/O, no async: what it computes depends on what it is given.
    pure: bool,
    /// The crates of the workspace that it may use. Tests may use more.
    knows: &'static [&'static str],
}

/// Every crate, lower ones first.
const ROOMS: &[Room] = &[
    Room { name: "thv-value", pure: true, knows: &[] },
    Room { name: "thv-api", pure: true, knows: &["thv-value"] },
    Room { name: "thv-config", pure: true, knows: &["thv-value"] },
    Room { name: "thv-mcp", pure: true, knows: &[] },
    Room { name: "thv-policy", pure: true, knows: &[] },
    Room { name: "thv-compose", pure: true, knows: &["thv-api"] },
    Room { name: "thv-plan", pure: true, knows: &["thv-api", "thv-compose", "thv-config", "thv-policy"] },
    Room { name: "thv-operator", pure: false, knows: &["thv-api", "thv-plan", "thv-value"] },
    Room { name: "thv-session", pure: false, knows: &[] },
    Room { name: "thv-telemetry", pure: false, knows: &["thv-config"] },
    Room { name: "thv-workload", pure: false, knows: &["thv-api", "thv-config", "thv-plan"] },
    Room {
        name: "thv-proxy",
        pure: false,
        knows: &["thv-api", "thv-config", "thv-mcp", "thv-session", "thv-telemetry", "thv-workload"],
    },
    Room { name: "thv-testbed", pure: false, knows: &[] },
    Room { name: "tests-api", pure: false, knows: &[] },
    Room { name: "tests-cluster", pure: false, knows: &[] },
    Room {
        name: "tests-fixture",
        pure: false,
        knows: &["thv-plan", "thv-api", "thv-config", "thv-operator", "thv-testbed"],
    },
    Room { name: "tests-kinds", pure: false, knows: &["thv-api", "thv-operator", "thv-plan"] },
    Room { name: "tests-peers", pure: false, knows: &[] },
    Room { name: "tests-unit", pure: false, knows: &[] },
    Room {
        name: "xtask",
        pure: false,
        knows: &["tests-fixture", "thv-api", "thv-operator", "thv-plan", "thv-testbed"],
    },
];

/// Crates that read, write, connect, wait or run things. With one of them, a crate is not pure.
const IMPURE: &[&str] = &[
    "async-executor",
    "async-io",
    "async-std",
    "crossbeam-channel",
    "futures-executor",
    "h2",
    "hyper",
    "hyper-util",
    "kube-client",
    "kube-runtime",
    "mio",
    "polling",
    "rayon",
    "redis",
    "reqwest",
    "rusqlite",
    "rustls",
    "smol",
    "socket2",
    "tokio",
    "tower",
    "ureq",
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    /// Nothing for what the crate itself is made of; `dev` and `build` otherwise.
    kind: Option<String>,
}

pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    check_rooms(&metadata(root)?, ROOMS)
}

fn metadata(root: &Path) -> Result<Metadata> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["metadata", "--format-version", "1", "--quiet"]);
    serde_json::from_str(&output(&mut command)?).context("cargo metadata has changed its form")
}

fn check_rooms(metadata: &Metadata, rooms: &[Room]) -> Result<Vec<String>> {
    let names: BTreeMap<_, _> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package.name.as_str())).collect();
    let uses: BTreeMap<_, _> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), made_of(node))).collect();
    let mut broken = Vec::new();
    for id in &metadata.workspace_members {
        let name = *names.get(id.as_str()).context("a member of the workspace is no package")?;
        let Some(room) = rooms.iter().find(|room| room.name == name) else {
            broken.push(format!(
                "{name} is not in the table of rooms: say in xtask/src/tidy/dependencies.rs what it may know"
            ));
            continue;
        };
        for used in uses.get(id.as_str()).into_iter().flatten() {
            let used_name = names.get(used).copied().unwrap_or_default();
            if metadata.workspace_members.contains(*used) && !room.knows.contains(&used_name) {
                broken.push(format!(
                    "{name} must not know {used_name}: lower crates know nothing of higher ones"
                ));
            }
        }
        if room.pure {
            for path in impure_paths(id, &uses, &names) {
                broken.push(format!("{name} is pure but depends on {path}"));
            }
        }
    }
    Ok(broken)
}

/// What a crate is made of, without what only its tests use.
fn made_of(node: &Node) -> Vec<&str> {
    let counts = |dependency: &&Dependency| {
        dependency.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"))
    };
    node.deps.iter().filter(counts).map(|dependency| dependency.pkg.as_str()).collect()
}

/// Each impure crate below `start`, with the way that leads there.
fn impure_paths<'a>(
    start: &'a str,
    uses: &BTreeMap<&'a str, Vec<&'a str>>,
    names: &BTreeMap<&'a str, &'a str>,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([start]);
    let mut waiting = vec![(start, Vec::new())];
    while let Some((id, way)) = waiting.pop() {
        for next in uses.get(id).into_iter().flatten().copied() {
            if !seen.insert(next) {
                continue;
            }
            let name = names.get(next).copied().unwrap_or_default();
            let way = [way.as_slice(), &[name]].concat();
            if IMPURE.contains(&name) {
                found.push(way.join(" → "));
            }
            waiting.push((next, way));
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A workspace of two crates, made for cargo to read.
    fn workspace(pure_depends_on: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"low\", \"high\"]\nexclude = [\"tokio\", \"middle\"]\n",
        );
        let package = |name: &str, rest: &str| {
            format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n{rest}")
        };
        write("low/Cargo.toml", &package("low", pure_depends_on));
        write("high/Cargo.toml", &package("high", "[dependencies]\nlow = { path = \"../low\" }\n"));
        write("middle/Cargo.toml", &package("middle", "[dependencies]\ntokio = { path = \"../tokio\" }\n"));
        write("tokio/Cargo.toml", &package("tokio", ""));
        for name in ["low", "high", "middle", "tokio"] {
            write(&format!("{name}/src/lib.rs"), "");
        }
        folder
    }

    const TWO: &[Room] =
        &[Room { name: "low", pure: true, knows: &[] }, Room { name: "high", pure: false, knows: &["low"] }];

    fn broken(pure_depends_on: &str) -> Vec<String> {
        check_rooms(&metadata(workspace(pure_depends_on).path()).unwrap(), TWO).unwrap()
    }

    #[test]
    fn a_tidy_workspace_breaks_no_rule() {
        assert_eq!(broken(""), Vec::<String>::new());
    }

    #[test]
    fn a_pure_crate_that_gains_tokio_is_reported() {
        let direct = broken("[dependencies]\ntokio = { path = \"../tokio\" }\n");
        assert_eq!(direct, ["low is pure but depends on tokio"]);
        let hidden = broken("[dependencies]\nmiddle = { path = \"../middle\" }\n");
        assert_eq!(hidden, ["low is pure but depends on middle → tokio"]);
    }

    #[test]
    fn a_pure_crate_may_use_tokio_in_its_tests() {
        assert_eq!(broken("[dev-dependencies]\ntokio = { path = \"../tokio\" }\n"), Vec::<String>::new());
    }

    #[test]
    fn a_crate_that_knows_more_than_it_should_is_reported() {
        let narrow =
            [Room { name: "low", pure: true, knows: &[] }, Room { name: "high", pure: false, knows: &[] }];
        let broken = check_rooms(&metadata(workspace("").path()).unwrap(), &narrow).unwrap();
        assert_eq!(broken, ["high must not know low: lower crates know nothing of higher ones"]);
    }

    #[test]
    fn a_crate_with_no_place_in_the_table_is_reported() {
        let broken = check_rooms(&metadata(workspace("").path()).unwrap(), &TWO[..1]).unwrap();
        assert!(broken[0].starts_with("high is not in the table of rooms"), "{broken:?}");
    }
}
