//! What is there, as far as plans depend on it: a few facts about each object, not the object.

use crate::applied::Token;
use crate::revision::Revision;

/// The objects that belong to the one that is planned for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The Deployment of the proxy.
    pub deployment: Option<LiveDeployment>,
    /// The StatefulSet of the backend.
    pub backend: Option<LiveBackend>,
    /// The pods of the proxy.
    pub pods: Vec<LivePod>,
    /// The names of autoscalers that target the Deployment.
    pub autoscalers: Vec<String>,
}

/// What identifies a version of an object that a write is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its uid.
    pub uid: String,
    /// Its resourceVersion.
    pub resource_version: String,
}

/// A Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveDeployment {
    /// Which one, and which version of it.
    pub identity: Identity,
    /// The uid of the object that controls it.
    pub controller: Option<String>,
    /// How many replicas it should have.
    pub replicas: i32,
    /// Whether the operator's own field manager has applied that number.
    pub replicas_are_ours: bool,
    /// The revision that it was applied with.
    pub revision: Option<Revision>,
    /// The generation on its pod template.
    pub stamp: Option<i64>,
    /// When its pods were last restarted on request, as we wrote it on its pod template.
    pub restarted_at: Option<String>,
}

/// The StatefulSet of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveBackend {
    /// Which one, and which version of it.
    pub identity: Identity,
    /// The object that it was applied for, and the revision.
    pub applied: Option<Token>,
    /// The uid of the object that controls it.
    pub controller: Option<String>,
    /// How many replicas it should have.
    pub replicas: i32,
    /// How many of them are ready.
    pub ready_replicas: i32,
    /// How many replicas it had before we stopped it.
    pub replicas_before_stop: Option<i32>,
}

/// A pod of a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivePod {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// How it does.
    pub health: PodHealth,
}

/// How a pod does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodHealth {
    /// All of its containers are ready.
    Running,
    /// It is on its way.
    Pending,
    /// It cannot run, for this reason.
    Failed(String),
    /// It is being deleted, and does not count.
    Terminating,
}
