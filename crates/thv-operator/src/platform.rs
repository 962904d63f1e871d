//! What the cluster is, and whether our kinds are installed in it.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client};
use thv_api::crds;
use thv_plan::Platform;

use crate::endpoints::Readiness;

/// How often we look for CRDs that are not there.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Waits until all CRDs are there and served, and says which are not.
pub async fn kinds_are_served(client: &Client, readiness: &Readiness) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut told = Vec::new();
    loop {
        let missing = missing(&api).await;
        if missing.is_empty() {
            return;
        }
        if missing != told {
            tracing::warn!(
                ?missing,
                "waiting for CRDs to be installed: apply the chart toolhive-operator-crds"
            );
            readiness.waits_for(format!("waiting for CRDs to be installed: {}", missing.join(", ")));
            told = missing;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn missing(api: &Api<CustomResourceDefinition>) -> Vec<String> {
    let mut missing = Vec::new();
    for name in crds().into_iter().filter_map(|crd| crd.metadata.name) {
        let is_served = match api.get_opt(&name).await {
            Ok(found) => found.is_some_and(|crd| is_established(&crd)),
            Err(error) => {
                tracing::warn!(%error, name, "cannot look for a CRD");
                false
            }
        };
        if !is_served {
            missing.push(name);
        }
    }
    missing
}

fn is_established(crd: &CustomResourceDefinition) -> bool {
    let conditions = crd.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Established" && condition.status == "True")
}

/// Whether this is OpenShift: only there are Routes.
pub async fn detect(client: &Client) -> Platform {
    const TRIES: u32 = 10;
    let (group, routes) = Platform::ROUTES;
    for _ in 0..TRIES {
        match client.list_api_group_resources(group).await {
            Ok(list) if list.resources.iter().any(|resource| resource.name == routes) => {
                return Platform::OpenShift;
            }
            Ok(_) => return Platform::Kubernetes,
            Err(kube::Error::Api(status)) if status.code == 404 => return Platform::Kubernetes,
            Err(error) => tracing::warn!(%error, "cannot find out whether this is OpenShift"),
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Platform::Kubernetes
}
