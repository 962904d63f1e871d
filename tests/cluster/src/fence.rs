//! The fence around the backend, with real pods: an old proxy that starts again cannot undo what a newer one did.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::{ControllerRevision, Deployment, StatefulSet};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{ListParams, Patch, PatchParams};
use serde_json::json;
use tests_fixture::{Operator, Site, mcp_server};
use thv_testbed::{Image, on_cluster, wait};

use crate::client::Client;

const NAME: &str = "s";

/// What a rollout of the backend would change.
#[derive(Debug, PartialEq)]
struct Backend {
    image: Option<String>,
    replicas: Option<i32>,
    generation: Option<i64>,
    revisions: Vec<String>,
}

async fn backend(site: &Site) -> Result<Backend> {
    let set = site.api::<StatefulSet>().get(NAME).await?;
    let revisions = site.api::<ControllerRevision>().list(&ListParams::default()).await?;
    let mut revisions: Vec<_> = revisions.iter().map(ResourceExt::name_any).collect();
    revisions.sort();
    let image = image_of(&set);
    Ok(Backend {
        image,
        replicas: set.spec.and_then(|spec| spec.replicas),
        generation: set.metadata.generation,
        revisions,
    })
}

fn image_of(set: &StatefulSet) -> Option<String> {
    set.spec.as_ref()?.template.spec.as_ref()?.containers.first()?.image.clone()
}

/// The MCP server under another name: the same program, and for Kubernetes another image.
async fn next_image(site: &Site) -> Result<String> {
    let program = site.program("thv-mcp-server")?;
    let image = Image::new("next-mcp-server:local").binary(&program, "/server")?.entrypoint(["/server"]);
    site.load(&image).await
}

/// Has the rollouts of the proxy stop half way: a new pod never counts as available, so the old one stays.
async fn hold_rollouts(site: &Site) -> Result<()> {
    let held = json!({"spec": {
        "minReadySeconds": 3600, "progressDeadlineSeconds": 7200,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
    }});
    let params = PatchParams { field_manager: Some("someone".to_owned()), ..PatchParams::default() };
    site.api::<Deployment>().patch(NAME, &params, &Patch::Merge(held)).await?;
    Ok(())
}

async fn proxy_pods(site: &Site) -> Result<Vec<Pod>> {
    let selector = ListParams::default().labels("app=mcpserver,toolhive-name=s");
    Ok(site.api::<Pod>().list(&selector).await?.items)
}

fn restarts(pod: &Pod) -> i32 {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_deref());
    statuses.unwrap_or_default().iter().map(|status| status.restart_count).sum()
}

/// Kills the program in a pod, as the kernel does when memory runs out.
fn kill(pod: &Pod, program: &str) -> Result<()> {
    let uid = pod.uid().context("a pod has no uid")?;
    // Cgroup drivers write the uid with hyphens or with underscores.
    let names = [uid.clone(), uid.replace('-', "_")];
    let mut killed = false;
    for entry in std::fs::read_dir("/proc")? {
        let folder = entry?.path();
        if !belongs(&folder, &names, program) {
            continue;
        }
        let id = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let status = std::process::Command::new("kill").args(["-KILL", id]).status()?;
        ensure!(status.success(), "cannot kill {id}");
        killed = true;
    }
    ensure!(killed, "the pod {} has no process {program}", pod.name_any());
    Ok(())
}

fn belongs(folder: &Path, pod: &[String], program: &str) -> bool {
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    // The kernel cuts names at 15 characters.
    program.starts_with(read("comm").trim_end())
        && !read("comm").is_empty()
        && pod.iter().any(|uid| read("cgroup").contains(uid))
}

#[tokio::test]
async fn s0_03_s0_14_a_container_of_an_old_pod_that_starts_again_changes_nothing() {
    on_cluster(async |space| {
        let site = Site::of(&space).await?;
        let operator = Operator::start(&site).await?;
        let image = site.image("thv-mcp-server").await?;
        let next = next_image(&site).await?;
        operator.server(NAME, mcp_server(&image, &json!({"backendReplicas": 1}))).await?;
        hold_rollouts(&site).await?;
        let old = proxy_pods(&site).await?.pop().context("there is no proxy")?;

        operator.edit(NAME, json!({"spec": {"image": next, "backendReplicas": 2}})).await?;
        let sets = site.api::<StatefulSet>();
        let is_new = |set: &StatefulSet| image_of(set).as_ref() == Some(&next);
        wait::until(&sets, NAME, "the new proxy has applied the new image", is_new).await?;
        let rolled = |set: &StatefulSet| {
            set.status.as_ref().is_some_and(|status| {
                status.ready_replicas == Some(2)
                    && status.updated_replicas == Some(2)
                    && status.current_revision == status.update_revision
            })
        };
        wait::until(&sets, NAME, "the backend runs the new image", rolled).await?;
        let before = backend(&site).await?;

        kill(&old, "thv-proxyrunner")?;
        let pods = site.api::<Pod>();
        let again = |pod: &Pod| restarts(pod) > restarts(&old) && wait::has_condition(pod, "Ready", "True");
        let restarted = wait::until(&pods, &old.name_any(), "its container has started again", again).await?;
        assert_eq!(restarted.uid(), old.uid());

        // It serves, and what answers is the new backend, so that it has come as far as it ever will.
        let address = restarted.status.and_then(|status| status.pod_ip).context("a pod has no address")?;
        let client = Client::connect(&format!("http://{address}:8080/mcp")).await?;
        assert_eq!(client.call("echo", json!({"text": "hello"})).await?, "hello");
        // A second start settles whether the first one had only been slow to write.
        kill(&old, "thv-proxyrunner")?;
        let twice =
            |pod: &Pod| restarts(pod) > restarts(&old) + 1 && wait::has_condition(pod, "Ready", "True");
        wait::until_within(wait::DEADLINE * 2, &pods, &old.name_any(), "it has started twice", twice).await?;

        assert_eq!(proxy_pods(&site).await?.len(), 2, "the rollout has ended meanwhile");
        assert_eq!(backend(&site).await?, before);
        Ok(())
    })
    .await;
}
