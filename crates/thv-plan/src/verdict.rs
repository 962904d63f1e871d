//! Whether an object makes sense by itself, and what is said about that.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::conditions::mcp_server::{PodTemplateValid, SpecValid};
use thv_api::value::RawObject;

use crate::deployed::conditions;
use crate::invalid::{Invalid, InvalidList};
use crate::live::Controller;
use crate::plan::Scalable;
use crate::planned::Planned;
use crate::pod_template;
use crate::snapshot::Snapshot;

/// What keeps the children of an object from being told.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    /// What is wrong with the spec.
    invalid: InvalidList,
    /// Whether the pod template is one, if there is one.
    pod_template: Option<Result<(), Invalid>>,
    /// Why a workload cannot be had.
    taken: Option<String>,
}

impl Verdict {
    /// What can be said before anything is rendered.
    pub(crate) fn new(invalid: InvalidList, template: Option<&RawObject>, taken: Option<String>) -> Self {
        Self { invalid, pod_template: template.map(pod_template::validate), taken }
    }

    /// The pod template turned out not to fit.
    pub(crate) fn refuse_template(&mut self, why: Invalid) {
        self.pod_template = Some(Err(why));
    }

    /// Whether the children can be told.
    pub(crate) fn is_fine(&self) -> bool {
        self.errors().is_empty()
    }

    /// Everything that keeps the children from being told.
    pub(crate) fn errors(&self) -> Vec<String> {
        let Self { invalid, pod_template, taken } = self;
        let template = pod_template.iter().filter_map(|result| result.as_ref().err());
        let mut all: Vec<String> = taken.iter().cloned().collect();
        all.extend(template.map(ToString::to_string));
        all.extend(invalid.iter().map(ToString::to_string));
        all
    }

    /// What the conditions say. Without a pod template there is nothing to say about it.
    pub(crate) fn conditions(&self, observe: &Observation<'_>) -> Vec<Condition> {
        let Self { invalid, pod_template, taken } = self;
        let spec = match (invalid.is_empty(), taken) {
            (true, None) => observe.condition(SpecValid::Valid, "the spec makes sense by itself"),
            (true, Some(taken)) => observe.condition(SpecValid::NameTaken, taken),
            (false, _) => observe.condition(SpecValid::Invalid, invalid.to_string()),
        };
        let (valid, not) = (PodTemplateValid::Valid, PodTemplateValid::Invalid);
        let template = conditions::pod_template(pod_template.as_ref(), valid, not, observe);
        template.into_iter().chain([spec]).collect()
    }
}

/// Why a workload that is there cannot be had, if it cannot: it belongs to something else, which would lose it to us.
pub(crate) fn taken<S: Planned>(
    snapshot: &Snapshot<S>,
    workload: Scalable,
    name: &str,
    controller: Option<&Controller>,
) -> Option<String> {
    let controller = controller.filter(|controller| controller.uid != snapshot.uid())?;
    let (workload, kind) = (workload.kind(), S::KIND);
    Some(if controller.kind == kind && controller.name == snapshot.name() {
        format!(
            "the {workload} {name:?} of an earlier {controller} is still there: this one waits until it is gone"
        )
    } else {
        format!(
            "a {workload} {name:?} is there already and belongs to {controller}: create this {kind} under another name, \
             or remove the other"
        )
    })
}
