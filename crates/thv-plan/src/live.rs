//! What is there, as far as plans depend on it: a few facts about each object, not the object.

use std::fmt;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::applied::Token;
use crate::plan::Scalable;
use crate::revision::Revision;

/// Looks up objects around the one that is planned for. Who looks something up is told when it changes.
pub trait Observe {
    /// The Deployment of this name.
    fn deployment(&mut self, name: &str) -> Option<LiveDeployment>;

    /// The StatefulSet of this name.
    fn stateful_set(&mut self, name: &str) -> Option<LiveStatefulSet>;

    /// The pods of this instance: those whose label [`PodSelector::instance`] has this value.
    fn pods(&mut self, selector: PodSelector, instance: &str) -> Vec<LivePod>;

    /// The names of the autoscalers that target this object.
    fn autoscalers(&mut self, kind: Scalable, name: &str) -> Vec<String>;
}

/// Which pods are watched for a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodSelector {
    /// What they have in common, such as `toolhive=true`.
    pub labels: &'static str,
    /// The label that names the object that they belong to.
    pub instance: &'static str,
}

/// What identifies a version of an object that a write is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its uid.
    pub uid: String,
    /// Its resourceVersion.
    pub resource_version: String,
}

/// The object that controls another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, uid: _ } = self;
        write!(f, "{kind} {name:?}")
    }
}

/// What the controller of a workload reports. By the rules of kstatus, and of `kubectl rollout status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollout {
    /// Whether the controller has seen the spec as it is.
    pub observed: bool,
    /// How many pods there are, of every revision.
    pub replicas: i32,
    /// How many of them are of the newest revision.
    pub updated: i32,
    /// How many of them are available, or ready where that is all the controller tells.
    pub available: i32,
    /// Why it has given up, in one word.
    pub gave_up: Option<String>,
}

impl Rollout {
    /// Whether no pod of an older revision is left.
    pub const fn is_complete(&self) -> bool {
        self.observed && self.replicas <= self.updated
    }
}

/// A Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveDeployment {
    /// Which one, and which version of it.
    pub identity: Identity,
    /// The object that controls it.
    pub controller: Option<Controller>,
    /// How many replicas it should have.
    pub replicas: i32,
    /// Whether the operator's own field manager has applied that number.
    pub replicas_are_ours: bool,
    /// The revision that it was applied with.
    pub revision: Option<Revision>,
    /// The generation on its pod template, if the operator's own field manager has applied it.
    pub stamp: Option<i64>,
    /// When its pods were last restarted on request, as we wrote it on its pod template.
    pub restarted_at: Option<String>,
    /// The digest of what its pods run, on the pod template of kinds that have no revision.
    pub config_hash: Option<String>,
    /// How far its pods are.
    pub rollout: Rollout,
}

/// A StatefulSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveStatefulSet {
    /// Which one, and which version of it.
    pub identity: Identity,
    /// The object that a proxy applied it for, and the revision.
    pub applied: Option<Token>,
    /// The object that controls it.
    pub controller: Option<Controller>,
    /// How many replicas it should have.
    pub replicas: i32,
    /// How many replicas it had before we stopped it.
    pub replicas_before_stop: Option<i32>,
    /// The [revision](LivePod::revision) of the pods that it makes now.
    pub newest: Option<String>,
    /// What nobody can change in it any more. Kept of those that no proxy has made.
    pub fixed: Option<Box<Fixed>>,
    /// How far its pods are.
    pub rollout: Rollout,
}

impl LiveDeployment {
    /// Whether it is free, or belongs to the object with this uid.
    pub(crate) fn can_belong_to(&self, uid: &str) -> bool {
        can_belong_to(self.controller.as_ref(), uid)
    }
}

impl LiveStatefulSet {
    /// Whether it is free, or belongs to the object with this uid.
    pub(crate) fn can_belong_to(&self, uid: &str) -> bool {
        can_belong_to(self.controller.as_ref(), uid)
    }
}

fn can_belong_to(controller: Option<&Controller>, uid: &str) -> bool {
    controller.is_none_or(|controller| controller.uid == uid)
}

/// What the API server does not let anybody change in a StatefulSet that is there, as it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// The Service that its pods have names in.
    pub service_name: String,
    /// Which pods are its own.
    pub selector: Value,
    /// The claims of its pods.
    pub volume_claim_templates: Vec<Value>,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivePod {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// When the API server created it.
    pub created: Timestamp,
    /// The kind of what made it.
    pub maker: PodMaker,
    /// What tells it from pods that were made before or after a change: the variable with our revision, the hash that a
    /// StatefulSet gives, or the digest of what it runs.
    pub revision: Option<String>,
    /// How it does.
    pub health: PodHealth,
}

/// The kind of object that made a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodMaker {
    /// A ReplicaSet, hence a Deployment.
    Deployment,
    /// A StatefulSet.
    StatefulSet,
    /// Something else.
    Other,
}

/// How a pod does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodHealth {
    /// All of its containers are ready.
    Ready,
    /// It is on its way.
    Pending,
    /// No node takes it.
    Unschedulable,
    /// One of its containers does not run.
    Failing(ContainerFailure),
    /// It has ended and does not start again: evicted, or done. It does not count.
    Ended,
    /// It is being deleted, and does not count.
    Terminating,
}

/// Why a container does not run. Nothing in here changes from one attempt to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerFailure {
    /// The name of the container.
    pub container: String,
    /// The reason, as the kubelet tells it.
    pub reason: String,
    /// How the last attempt ended, if it came to run.
    pub exit_code: Option<i32>,
    /// Whether further attempts alone will not help.
    pub needs_help: bool,
}
