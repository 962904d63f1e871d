//! A run of the proxy as in a pod, in which every function that runs is seen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use serde_json::json;
use tests_fixture::grant_proxy;
use thv_api::kinds::MCPServer;
use thv_api::names::{annotations, env};
use thv_testbed::mcp::LocalProxy;
use thv_testbed::{Description, Redis, SubjectBuilder, free_port, wait};

use crate::bench::{NAMESPACE, Site};
use crate::shell::{output, say};

const NAME: &str = "idle";
const ACCOUNT: &str = "proxy";
/// Long enough for everything that happens now and then.
const TIME: Duration = Duration::from_secs(30);
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
    let revision = json!({annotations::REVISION: "1/digest"});
    let server: MCPServer = serde_json::from_value(json!({
        "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer",
        "metadata": {"name": NAME, "annotations": revision},
        "spec": {"image": "idle:1", "transport": "streamable-http"},
    }))?;
    let servers: Api<MCPServer> = site.api();
    let uid = servers.create(&PostParams::default(), &server).await?.uid().context("a server has no uid")?;
    let folder = tempfile::tempdir()?;
    let account = account(&site, cluster, folder.path()).await?;

    say(&format!("the proxy runs under observation for {} s", TIME.as_secs()));
    let report = folder.path().join("report");
    let redis = Redis::start(None).await?;
    let (host, port) = cluster.server.trim_start_matches("https://").split_once(':').context("no port")?;
    let builder = SubjectBuilder::new("unshare")
        .args(["--mount", "sh", "-c", AS_POD, "sh"])
        .args([account.into_os_string()])
        .args(["valgrind", "--tool=callgrind", "--demangle=no"])
        .args([format!("--callgrind-out-file={}", report.display())])
        .args([program])
        .env("KUBERNETES_SERVICE_HOST", host)
        .env("KUBERNETES_SERVICE_PORT", port)
        .env(env::POD_NAMESPACE, NAMESPACE)
        .env(env::RUNTIME, "kubernetes")
        .env(env::MCP_SERVER_GENERATION, "1")
        .env(env::MCP_SERVER_REVISION, format!("{uid}/1"));
    let config = json!({
        "name": NAME, "base_name": NAME, "container_name": NAME, "target_port": 8080, "mcpserver_generation": 1,
        "scaling_config": {"session_redis": {"address": redis.address(), "db": 0}},
        "telemetry_config": {
            "serviceName": NAME, "tracingEnabled": false, "metricsEnabled": false,
            "enablePrometheusMetricsPath": true, "prometheusPort": free_port()?, "useLegacyAttributes": false,
        },
    });
    let proxy = LocalProxy::start_with(builder, config).await?;
    let backends: Api<StatefulSet> = site.api();
    wait::until(&backends, NAME, "the proxy has made its backend", |_| true).await?;
    tokio::time::sleep(TIME).await;
    // Now, and not at the end: what a proxy does to end is of no interest.
    output(Command::new("callgrind_control").args(["--dump", &proxy.id()?.to_string()]))?;
    let report = std::fs::read_to_string(report.with_extension("1")).context("there is no report")?;
    Ok(names(&report))
}

/// Makes a folder with what a pod has of its account.
async fn account(site: &Site, cluster: &Description, folder: &Path) -> Result<PathBuf> {
    grant_proxy(&site.bed().client(), NAMESPACE, ACCOUNT, NAME).await?;
    let account = folder.join("account");
    std::fs::create_dir(&account)?;
    std::fs::write(account.join("token"), site.bed().token_of(NAMESPACE, ACCOUNT).await?)?;
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
