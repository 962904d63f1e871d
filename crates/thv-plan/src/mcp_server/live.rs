//! What a plan for a server has to know of the objects around it.

use thv_api::names::children::mcp_server;

use crate::deployed::{LiveWorkload, PODS};
use crate::live::{LivePod, LiveStatefulSet, Observe, PodMaker};

/// The objects that belong to a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The proxy.
    pub proxy: LiveWorkload,
    /// The StatefulSet of the backend.
    pub backend: Option<LiveStatefulSet>,
    /// The pods of the backend.
    pub backend_pods: Vec<LivePod>,
}

impl Live {
    /// Looks everything up. The pods of proxy and backend carry the name of the server in the same label.
    pub(super) fn of(name: &str, observe: &mut dyn Observe) -> Self {
        let (backend_pods, others): (Vec<_>, Vec<_>) =
            observe.pods(PODS, name).into_iter().partition(|pod| pod.maker == PodMaker::StatefulSet);
        Self {
            proxy: LiveWorkload::of(&mcp_server::deployment(name), others, observe),
            backend: observe.stateful_set(&mcp_server::backend(name)),
            backend_pods,
        }
    }
}
