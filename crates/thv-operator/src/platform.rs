//! What the API server serves: whether our kinds are installed, and whether this is OpenShift.
//!
//! Both are found by discovery, which every account may use, and both are waited for as long as it takes: an API
//! server that cannot tell has not said no.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use thv_api::names::env;
use thv_plan::Platform;
use tokio::time::timeout;

use crate::endpoints::Readiness;

/// How often we ask again.
const ASK_AGAIN: Duration = Duration::from_secs(2);
/// How long one question may take. The client itself tries for minutes, and says nothing meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until all CRDs are served; says which are not.
pub async fn kinds_are_served(client: &Client, readiness: &Readiness) {
    let needed = needed();
    insist(readiness, "asking the API server which kinds it serves", async || {
        let mut missing = Vec::new();
        for (version, kinds) in &needed {
            let served = resources(client, version).await?;
            missing.extend(kinds.iter().filter(|kind| !served.contains(&kind.plural)).map(|kind| &*kind.crd));
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!(
            "waiting for CRDs to be installed: apply the chart toolhive-operator-crds. Missing: {}",
            missing.join(", ")
        ))
    })
    .await;
}

/// A kind of ours.
struct Needed {
    plural: String,
    /// The name of its definition.
    crd: String,
}

/// Our kinds, by the version that we use.
fn needed() -> BTreeMap<String, Vec<Needed>> {
    let mut needed: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for CustomResourceDefinition { metadata, spec, status: _ } in thv_api::crds() {
        let (plural, crd) = (spec.names.plural, metadata.name.unwrap_or_default());
        for version in spec.versions.into_iter().filter(|version| version.storage) {
            let kind = Needed { plural: plural.clone(), crd: crd.clone() };
            needed.entry(format!("{}/{}", spec.group, version.name)).or_default().push(kind);
        }
    }
    needed
}

/// Waits until it is known whether this is OpenShift: only there are Routes.
pub async fn detect(client: &Client, readiness: &Readiness) -> Platform {
    let (version, routes) = Platform::ROUTES;
    let platform = insist(readiness, "asking the API server whether this is OpenShift", async || {
        let served = resources(client, version).await.map_err(|error| {
            format!(
                "cannot find out whether this is OpenShift; trying again. Set {} to `true` or `false` to decide it. \
                 {error}",
                env::OPERATOR_OPENSHIFT
            )
        })?;
        Ok(if served.contains(routes) { Platform::OpenShift } else { Platform::Kubernetes })
    })
    .await;
    tracing::info!(?platform, "the platform is known");
    platform
}

/// The resources that the API server serves of one version of one group; none if it does not know the version.
async fn resources(client: &Client, version: &str) -> Result<BTreeSet<String>, String> {
    match timeout(PATIENCE, client.list_api_group_resources(version)).await {
        Ok(Ok(list)) => Ok(list.resources.into_iter().map(|resource| resource.name).collect()),
        Ok(Err(kube::Error::Api(status))) if status.code == 404 => Ok(BTreeSet::new()),
        Ok(Err(error)) => Err(format!("The API server does not say what it serves of {version}: {error}")),
        Err(_) => Err(format!("The API server does not say what it serves of {version}: no answer in time")),
    }
}

/// Asks again and again until there is an answer. What is in its way is logged when it changes, and is what the probe
/// says; before the first try ends, that is the question.
async fn insist<T>(
    readiness: &Readiness,
    question: &str,
    mut ask: impl AsyncFnMut() -> Result<T, String>,
) -> T {
    readiness.waits_for(question);
    let mut told = String::new();
    loop {
        let obstacle = match ask().await {
            Ok(answer) => return answer,
            Err(obstacle) => obstacle,
        };
        if obstacle != told {
            tracing::warn!("{obstacle}");
            readiness.waits_for(&obstacle);
            told = obstacle;
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_waited_for_however_long_it_takes() {
        let (readiness, start) = (Readiness::default(), Instant::now());
        let mut refusals = 0..1000;
        let ask = async || refusals.next().map_or(Ok("yes"), |count| Err(count.to_string()));
        assert_eq!(insist(&readiness, "asking", ask).await, "yes");
        assert_eq!(start.elapsed(), ASK_AGAIN.saturating_mul(1000));
    }

    #[test]
    fn every_kind_is_needed_in_the_version_that_is_stored() {
        let needed = needed();
        let count: usize = needed.values().map(Vec::len).sum();
        assert_eq!(count, thv_api::crds().len());
        let alpha = &needed["toolhive.stacklok.dev/v1alpha1"];
        assert_eq!(alpha.iter().map(|kind| &*kind.plural).collect::<Vec<_>>(), ["mcpwebhookconfigs"]);
    }
}
