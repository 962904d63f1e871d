//! What a process is started with.

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::ResourceExt;
use serde_json::{Value, json};
use thv_api::names::annotations;
use thv_testbed::{Recorder, in_namespace};

use super::{ACCOUNT, BOUND, Proxy, Server, account, image, says};

fn stamp(set: &StatefulSet) -> Option<String> {
    let template = set.spec.as_ref()?.template.metadata.as_ref()?;
    template.annotations.as_ref()?.get(annotations::MCP_SERVER_GENERATION).cloned()
}

#[tokio::test]
async fn s0_17_the_arguments_of_a_pod_are_stronger_than_the_file() {
    in_namespace(async |space| {
        let kubeconfig = account(&space).await?;
        let server = Server::make(&space, &kubeconfig, "s", 2).await?;
        let patch = |team: &str| json!({"metadata": {"labels": {"team": team}}}).to_string();
        let mut proxy = server.start(&Proxy {
            arguments: vec![format!("--k8s-pod-patch={}", patch("birth"))],
            config: json!({"image": "file:2", "k8s_pod_template_patch": patch("file")}),
            ..Proxy::new("birth:1", 2)
        })?;
        says(&mut proxy, &[BOUND]).await?;
        let set = server.backend("it exists", |_| true).await?;
        ensure!(image(&set) == Some("birth:1"));
        let labels =
            set.spec.map(|spec| spec.template.metadata.unwrap_or_default().labels.unwrap_or_default());
        ensure!(labels.and_then(|labels| labels.get("team").cloned()).as_deref() == Some("birth"));
        Ok(())
    })
    .await;
}

/// The generation on the backend's pods, for a variable and a file that says 5; and what the log says meanwhile.
async fn stamped(server: &Server, variable: Option<&str>) -> Result<(Option<String>, String)> {
    let environment = variable.map(|value| ("THV_MCPSERVER_GENERATION", value.to_owned()));
    let config: Value = json!({"mcpserver_generation": 5});
    let mut proxy = server.start(&Proxy {
        config,
        environment: environment.into_iter().chain([("TOOLHIVE_DEBUG", "true".to_owned())]).collect(),
        ..Proxy::new("image:1", 2)
    })?;
    says(&mut proxy, &[BOUND]).await?;
    let set = server.backend("it exists", |_| true).await?;
    let output = proxy.output();
    proxy.kill().await?;
    Ok((stamp(&set), output))
}

#[tokio::test]
async fn s0_07_the_generation_of_the_birth_reaches_the_backend_and_nonsense_is_told() {
    in_namespace(async |space| {
        let kubeconfig = account(&space).await?;
        let cases = [
            ("empty", Some(""), Some("5"), None),
            ("three", Some("3"), Some("3"), Some("generation taken from the environment")),
            ("zero", Some("0"), None, Some("generation taken from the environment")),
            ("word", Some("not-a-number"), Some("5"), Some("is no whole number")),
            ("negative", Some("-1"), Some("5"), Some("is negative")),
        ];
        for (name, variable, expected, told) in cases {
            let server = Server::make(&space, &kubeconfig, name, 2).await?;
            let (stamp, output) = stamped(&server, variable).await?;
            ensure!(stamp.as_deref() == expected, "{name}: {stamp:?}\n{output}");
            match told {
                Some(text) => ensure!(output.contains(text), "{name}:\n{output}"),
                None => ensure!(!output.contains("THV_MCPSERVER_GENERATION"), "{name}:\n{output}"),
            }
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_03_a_proxy_whose_file_is_late_writes_nothing_and_starts_again_when_it_comes() {
    in_namespace(async |space| {
        let kubeconfig = account(&space).await?;
        let server = Server::make(&space, &kubeconfig, "s", 2).await?;
        let right = server.config(&Proxy::new("image:1", 2))?;
        let checksum = thv_config::Checksum::of(right.as_bytes()).to_string();
        let late = Proxy {
            config: json!({"env_vars": {"OLD": "1"}}),
            environment: vec![("THV_RUNCONFIG_CHECKSUM", checksum)],
            ..Proxy::new("image:1", 2)
        };
        let mut proxy = server.start(&late)?;
        says(&mut proxy, &["is not the one that this proxy was made for; it serves"]).await?;
        let sets = space.api::<StatefulSet>();
        ensure!(sets.get_opt("s").await?.is_none(), "an unbound proxy has written");

        std::fs::write(proxy.folder().join("runconfig.json"), &right)?;
        let status = proxy.exit().await?;
        ensure!(status.success(), "{status}:\n{}", proxy.output());
        proxy.restart().await?;
        says(&mut proxy, &[BOUND]).await?;
        let set = server.backend("it exists", |_| true).await?;
        let text = serde_json::to_string(&set.spec)?;
        ensure!(!text.contains("OLD"), "{text}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn every_request_of_a_proxy_names_the_program_and_its_version() {
    in_namespace(async |space| {
        account(&space).await?;
        let recorder = Recorder::start(space.bed()).await?;
        let kubeconfig = recorder.kubeconfig_for(&space.token_of(ACCOUNT).await?)?;
        let server = Server::make(&space, &std::fs::read_to_string(kubeconfig)?, "s", 2).await?;
        let mut proxy = server.start(&Proxy::new("image:1", 2))?;
        says(&mut proxy, &[BOUND]).await?;
        let log = recorder.log();
        ensure!(!log.writes().is_empty(), "it has written nothing:\n{log}");
        let agent = concat!("thv-proxyrunner/", env!("CARGO_PKG_VERSION"));
        for exchange in log.iter() {
            ensure!(exchange.user_agent == agent, "{exchange} is by {:?}", exchange.user_agent);
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_proxy_that_is_told_to_stop_ends_well_and_leaves_the_backend() {
    in_namespace(async |space| {
        let kubeconfig = account(&space).await?;
        let server = Server::make(&space, &kubeconfig, "s", 2).await?;
        let mut proxy = server.start(&Proxy::new("image:1", 2))?;
        says(&mut proxy, &[BOUND]).await?;
        let before = server.backend("it exists", |_| true).await?;
        proxy.terminate()?;
        let status = proxy.exit().await?;
        ensure!(status.success(), "{status}:\n{}", proxy.output());
        ensure!(server.backend("it exists", |_| true).await?.uid() == before.uid());
        Ok(())
    })
    .await;
}
