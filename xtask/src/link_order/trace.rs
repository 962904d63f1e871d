//! A run of the proxy as in a pod, in which every function that runs is seen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::Api;
use thv_api::names::children::keys;
use thv_api::names::env;
use thv_testbed::mcp::is_healthy;
use thv_testbed::{Description, Redis, SubjectBuilder, free_port, wait};

use super::order::Order;
use crate::bench::idle::NAME;
use crate::bench::{NAMESPACE, Site};
use crate::shell::{output, say};

/// How often the proxy is asked how it is, as a node does, and how long it has nothing else to do.
const PROBES: (u32, Duration) = (24, Duration::from_secs(5));
/// Starts a program that finds an account where a pod has it.
const AS_POD: &str = r#"
    account=/run/secrets/kubernetes.io/serviceaccount
    mount -t tmpfs none /run && mkdir -p $account && cp "$1"/* $account && shift && exec "$@"
"#;

/// The names of all functions that run until the proxy has nothing to do.
pub(super) async fn run(cluster: &Description, program: &Path) -> Result<BTreeSet<String>> {
    let valgrind = Command::new("valgrind").arg("--version").output();
    ensure!(valgrind.is_ok(), "this needs Debian's package valgrind");
    let site = Site::prepare(cluster).await?;
    let redis = Redis::start(None).await?;
    let port = free_port()?;
    let order = Order::place(&site, &redis, port).await?;
    let folder = tempfile::tempdir()?;
    let account = account(&site, &order.account, cluster, folder.path()).await?;
    let report = folder.path().join("report");
    let (host, api) = cluster.server.trim_start_matches("https://").split_once(':').context("no port")?;
    let mut builder = SubjectBuilder::new("unshare")
        .args(["--mount", "sh", "-c", AS_POD, "sh"])
        .args([account.into_os_string()])
        .args(["valgrind", "--tool=callgrind", "--demangle=no"])
        .args([format!("--callgrind-out-file={}", report.display())])
        .args([program])
        .args(order.arguments)
        .env(env::KUBERNETES_SERVICE_HOST, host)
        .env("KUBERNETES_SERVICE_PORT", api)
        .file(keys::RUN_CONFIG, order.config);
    for (name, value) in order.environment {
        builder = builder.env(&name, value);
    }

    say(&format!("the proxy runs under observation for {} s", (PROBES.1 * PROBES.0).as_secs()));
    let proxy = builder.start()?;
    let backends: Api<StatefulSet> = site.api();
    let made = wait::until(&backends, NAME, "the proxy has made its backend", |_| true).await;
    made.with_context(|| format!("the proxy wrote:\n{}", proxy.output()))?;
    for _ in 0..PROBES.0 {
        tokio::time::sleep(PROBES.1).await;
        let serves = is_healthy(port).await.unwrap_or(false);
        ensure!(serves, "the proxy does not serve; it wrote:\n{}", proxy.output());
    }
    // Now, and not at the end: what a proxy does to end is of no interest.
    let id = proxy.id().context("the proxy has ended")?;
    output(Command::new("callgrind_control").args(["--dump", &id.to_string()]))?;
    let report = std::fs::read_to_string(report.with_extension("1")).context("there is no report")?;
    Ok(names(&report))
}

/// Makes a folder with what a pod has of its account.
async fn account(site: &Site, name: &str, cluster: &Description, folder: &Path) -> Result<PathBuf> {
    let account = folder.join("account");
    std::fs::create_dir(&account)?;
    std::fs::write(account.join("token"), site.bed().token_of(NAMESPACE, name).await?)?;
    std::fs::write(account.join("namespace"), NAMESPACE)?;
    std::fs::copy(&cluster.ca, account.join("ca.crt"))?;
    Ok(account)
}

/// The functions of a report. Each has a number, and at its first mention also its name: `fn=(12) main`, where a second
/// round of a function that calls itself is told apart by `'2`.
fn names(report: &str) -> BTreeSet<String> {
    let mentions = report.lines().filter_map(|line| line.strip_prefix("fn=").or(line.strip_prefix("cfn=")));
    let names = mentions.filter_map(|mention| Some(mention.split_once(") ")?.1));
    names.map(|name| name.split('\'').next().unwrap_or(name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_a_report_is_named_once() {
        let report = "events: Ir\nfn=(1) main\n5 7\ncfn=(2) walk'2\ncalls=1 3\nfn=(2)\ncfn=(3) walk\n";
        assert_eq!(names(report), ["main", "walk"].map(str::to_owned).into());
    }
}
