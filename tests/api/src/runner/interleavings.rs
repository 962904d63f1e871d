//! Old and new proxies at once, in every order that chance and signals bring about.

use std::time::Duration;

use anyhow::{Result, ensure};
use futures::StreamExt;
use futures::stream;
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::ResourceExt;
use thv_api::names::annotations;
use thv_testbed::{Subject, in_namespace};

use super::{BOUND, Proxy, SUPERSEDED, Server, account, image, says};

const ROUNDS: u64 = 200;
/// Processes of that many rounds run at the same time.
const AT_ONCE: usize = 6;
const OLD: u64 = 5;
const NEW: u64 = 6;

fn is_new(set: &StatefulSet) -> bool {
    image(set) == Some("new:1")
}

/// Starts an old proxy and a new one in an order that depends on the round, and sees who wins.
async fn round(server: &Server, number: u64) -> Result<()> {
    // Up to twice as long as a proxy takes to read, decide and write.
    let moment = Duration::from_millis(number * 37 % 160);
    let (old, new) = (Proxy::new("old:1", OLD), Proxy::new("new:1", NEW));
    let (mut old, mut new): (Subject, Subject) = match number % 4 {
        0 => {
            let old = server.start(&old)?;
            tokio::time::sleep(moment).await;
            (old, server.start(&new)?)
        }
        1 => {
            let new = server.start(&new)?;
            tokio::time::sleep(moment).await;
            (server.start(&old)?, new)
        }
        2 => (server.start(&old)?, server.start(&new)?),
        // The old one is stopped somewhere between its start and its write, and goes on when all is done.
        _ => {
            let old = server.start(&old)?;
            tokio::time::sleep(moment).await;
            old.pause()?;
            let mut new = server.start(&new)?;
            says(&mut new, &[BOUND]).await?;
            old.resume()?;
            (old, new)
        }
    };
    says(&mut new, &[BOUND]).await?;
    says(&mut old, &[SUPERSEDED]).await?;
    let set = server.backend("it is the new one", is_new).await?;
    let mark = format!("{}/{NEW}/", server.uid);
    let applied = set.annotations().get(annotations::APPLIED_REVISION).cloned().unwrap_or_default();
    ensure!(applied.starts_with(&mark), "the backend is marked {applied}");
    new.kill().await?;
    old.kill().await
}

#[tokio::test]
async fn s0_04_two_hundred_interleavings_of_old_and_new_proxies_end_with_the_new_backend() {
    in_namespace(async |space| {
        let kubeconfig = account(&space).await?;
        let rounds = stream::iter(0..ROUNDS).map(async |number| {
            let server = Server::make(&space, &kubeconfig, &format!("s{number}"), NEW).await?;
            round(&server, number).await.map_err(|error| error.context(format!("round {number}")))
        });
        let mut rounds = std::pin::pin!(rounds.buffer_unordered(AT_ONCE));
        while let Some(outcome) = rounds.next().await {
            outcome?;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s0_04_s0_14_an_old_proxy_that_comes_late_changes_no_field() {
    in_namespace(async |space| {
        let kubeconfig = account(&space).await?;
        let server = Server::make(&space, &kubeconfig, "s", OLD).await?;
        let mut first = server.start(&Proxy::new("old:1", OLD))?;
        says(&mut first, &[BOUND]).await?;
        server.mint(NEW).await?;
        let scaled = serde_json::json!({"scaling_config": {"backend_replicas": 3}});
        let mut new = server.start(&Proxy { config: scaled, ..Proxy::new("new:1", NEW) })?;
        says(&mut new, &[BOUND]).await?;
        let before = server.backend("it is the new one", is_new).await?;

        // Its container starts again, with everything that it was born with.
        first.restart().await?;
        says(&mut first, &[SUPERSEDED]).await?;
        let after = server.backend("it exists", |_| true).await?;
        ensure!(after.metadata.generation == before.metadata.generation);
        ensure!(after.metadata.managed_fields == before.metadata.managed_fields, "somebody wrote");
        ensure!(after.spec == before.spec);
        ensure!(after.spec.and_then(|spec| spec.replicas) == Some(3));
        Ok(())
    })
    .await;
}
