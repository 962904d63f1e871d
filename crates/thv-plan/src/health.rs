//! How an object does that has pods: a phase, and why one of its workloads cannot be called.

use crate::live::{ContainerFailure, LivePod, PodHealth, Rollout};

/// The phases of a kind that has pods.
pub(crate) trait Phase {
    /// Nothing is wrong, and it is not there yet.
    const PENDING: Self;
    /// Somebody has to help.
    const FAILED: Self;
}

/// A phase, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Health<P> {
    pub(crate) phase: P,
    pub(crate) message: String,
}

impl<P> Health<P> {
    pub(crate) fn new(phase: P, message: impl Into<String>) -> Self {
        Self { phase, message: message.into() }
    }
}

/// How many pods are ready.
pub(crate) fn ready_pods(pods: &[LivePod]) -> i32 {
    let ready = pods.iter().filter(|pod| pod.health == PodHealth::Ready).count();
    i32::try_from(ready).unwrap_or(i32::MAX)
}

/// A workload of an object, with its pods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// What it is, to begin a sentence with.
    pub(crate) what: &'static str,
    /// Its pods, of every revision.
    pub(crate) pods: &'a [LivePod],
    /// The revision of the newest pods, if there can be some already.
    pub(crate) newest: Option<&'a str>,
    /// Where they are.
    pub(crate) namespace: &'a str,
}

impl Part<'_> {
    /// Whether the newest revision is there and can be called; if not, why.
    ///
    /// `was_ready` tells that the object was ready before, as it is now: whatever moves the generation of its workload
    /// afterwards is no rollout.
    pub(crate) fn judge<P: Phase>(
        &self,
        rollout: &Rollout,
        was_ready: bool,
        waiting: &str,
    ) -> Result<(), Health<P>> {
        let is_there = rollout.is_complete() || (was_ready && !rollout.observed);
        if is_there && rollout.available > 0 {
            return Ok(());
        }
        if let Some((pod, failure)) = self.failing() {
            return Err(self.fails(pod, failure));
        }
        if let Some(reason) = &rollout.gave_up {
            let message = format!(
                "{} does not become ready: {reason}; see kubectl describe pods --namespace {}",
                self.what, self.namespace
            );
            return Err(Health::new(P::FAILED, self.with_older(message)));
        }
        Err(self.waits(waiting))
    }

    /// The pod to tell of: the same one whatever the order of pods is, which is that of a list from the API server.
    fn failing(&self) -> Option<(&LivePod, &ContainerFailure)> {
        let newest = self.pods.iter().filter(|pod| self.is_newest(pod));
        let failing = newest.filter_map(|pod| match &pod.health {
            PodHealth::Failing(failure) => Some((pod, failure)),
            _ => None,
        });
        failing.min_by_key(|(pod, failure)| (!failure.needs_help, pod.name.as_str()))
    }

    fn fails<P: Phase>(&self, pod: &LivePod, failure: &ContainerFailure) -> Health<P> {
        let ContainerFailure { container, reason, exit_code, needs_help } = failure;
        let (name, namespace) = (&pod.name, self.namespace);
        let (ended, look) = match exit_code {
            Some(code) => (
                format!(", exit code {code}"),
                format!("kubectl logs --previous --namespace {namespace} {name} --container {container}"),
            ),
            None => (String::new(), format!("kubectl describe pod --namespace {namespace} {name}")),
        };
        let message = format!(
            "{} does not run: container {container} of pod {name}: {reason}{ended}; see {look}",
            self.what
        );
        let phase = if *needs_help { P::FAILED } else { P::PENDING };
        Health::new(phase, self.with_older(message))
    }

    /// Nothing is wrong that we know of, and it is not there yet.
    pub(crate) fn waits<P: Phase>(&self, message: &str) -> Health<P> {
        let is_refused = |pod: &LivePod| pod.health == PodHealth::Unschedulable && self.is_newest(pod);
        let message = if self.pods.iter().any(is_refused) {
            format!(
                "{message}: no node takes its pod; see kubectl describe pods --namespace {}",
                self.namespace
            )
        } else {
            message.to_owned()
        };
        Health::new(P::PENDING, self.with_older(message))
    }

    fn with_older(&self, message: String) -> String {
        let serves = |pod: &LivePod| pod.health == PodHealth::Ready && !self.is_newest(pod);
        if self.pods.iter().any(serves) { format!("{message}; older pods still serve") } else { message }
    }

    fn is_newest(&self, pod: &LivePod) -> bool {
        self.newest.is_some() && pod.revision.as_deref() == self.newest
    }
}
