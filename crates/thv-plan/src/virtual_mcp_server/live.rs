//! What a plan for a virtual server has to know of the objects around it.

use thv_api::names::children::virtual_mcp_server;
use thv_api::names::labels;

use crate::live::{LiveDeployment, LivePod, Observe, PodMaker, PodSelector};
use crate::plan::Scalable;

/// The pods of virtual servers.
pub(super) const PODS: PodSelector = PodSelector { labels: "toolhive=true", instance: labels::TOOLHIVE_NAME };

/// The objects that belong to a virtual server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The Deployment.
    pub deployment: Option<LiveDeployment>,
    /// Its pods.
    pub pods: Vec<LivePod>,
    /// The names of autoscalers that target it.
    pub autoscalers: Vec<String>,
}

impl Live {
    /// Looks everything up.
    pub(super) fn of(name: &str, observe: &mut dyn Observe) -> Self {
        let deployment = virtual_mcp_server::deployment(name);
        let pods = observe.pods(PODS, name).into_iter();
        Self {
            deployment: observe.deployment(&deployment),
            pods: pods.filter(|pod| pod.maker == PodMaker::Deployment).collect(),
            autoscalers: observe.autoscalers(Scalable::Deployment, &deployment),
        }
    }
}
