//! What a plan for a server has to know of the objects around it.

use thv_api::names::children::mcp_server;
use thv_api::names::labels;

use crate::live::{LiveDeployment, LivePod, LiveStatefulSet, Observe, PodMaker, PodSelector};
use crate::plan::Scalable;

/// The pods of proxies and backends. Both carry the name of the server in the same label.
pub(super) const PODS: PodSelector = PodSelector { labels: "toolhive=true", instance: labels::TOOLHIVE_NAME };

/// The objects that belong to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The Deployment of the proxy.
    pub deployment: Option<LiveDeployment>,
    /// The StatefulSet of the backend.
    pub backend: Option<LiveStatefulSet>,
    /// The pods of the proxy.
    pub proxy_pods: Vec<LivePod>,
    /// The pods of the backend.
    pub backend_pods: Vec<LivePod>,
    /// The names of autoscalers that target the Deployment.
    pub autoscalers: Vec<String>,
}

impl Live {
    /// Looks everything up.
    pub(super) fn of(name: &str, observe: &mut dyn Observe) -> Self {
        let deployment = mcp_server::deployment(name);
        let (proxy_pods, others): (Vec<_>, Vec<_>) =
            observe.pods(PODS, name).into_iter().partition(|pod| pod.maker == PodMaker::Deployment);
        Self {
            deployment: observe.deployment(&deployment),
            backend: observe.stateful_set(&mcp_server::backend(name)),
            proxy_pods,
            backend_pods: others.into_iter().filter(|pod| pod.maker == PodMaker::StatefulSet).collect(),
            autoscalers: observe.autoscalers(Scalable::Deployment, &deployment),
        }
    }
}
