//! Events: what a person should hear of, once, when it turns.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use thv_api::conditions::Polarity;
use thv_api::{Kind, Malformed, Object};
use thv_plan::{ChildKind, Planned, event_note};

use crate::metrics::{Metrics, Sent};

/// Publishes events.
pub(crate) struct Events {
    recorder: Recorder,
    metrics: Arc<Metrics>,
}

impl Events {
    /// Events of the controller with this name.
    pub(crate) fn new(client: Client, controller: &str, metrics: Arc<Metrics>) -> Self {
        let reporter = Reporter { controller: controller.to_owned(), instance: None };
        Self { recorder: Recorder::new(client, reporter), metrics }
    }

    /// Tells of the conditions that have turned.
    pub(crate) async fn turned<S: Planned>(
        &self,
        metadata: &ObjectMeta,
        before: &[Condition],
        after: &[Condition],
    ) {
        for condition in turned(before, after, S::polarity) {
            let is_bad = S::polarity(&condition.type_).is_bad(condition);
            let event = Event {
                type_: if is_bad { EventType::Warning } else { EventType::Normal },
                reason: condition.reason.clone(),
                note: Some(event_note(&condition.message).into_owned()),
                action: condition.type_.clone(),
                secondary: None,
            };
            self.publish(&event, &reference::<S>(metadata)).await;
        }
    }

    /// Tells that an object cannot be read.
    pub(crate) async fn malformed<S: Kind>(&self, malformed: &Malformed) {
        let regarding = reference::<S>(&malformed.metadata);
        self.warn(&regarding, "Malformed", "Read", &malformed.to_string()).await;
    }

    /// Tells that somebody keeps changing what we own.
    pub(crate) async fn contested(&self, owner: &ObjectReference, what: &str, wait: Duration) {
        let note = format!(
            "somebody keeps changing what the operator writes on {what}; it is left alone for {} s. Find out who, and \
             change the spec here instead",
            wait.as_secs()
        );
        self.warn(owner, "Contested", "Apply", &note).await;
    }

    /// Tells that an object is not wanted any more and not ours to delete.
    pub(crate) async fn unmanaged(&self, owner: &ObjectReference, kind: ChildKind, name: &str) {
        let note = format!(
            "{} {name} says that it belongs to this object, which has no use for it, and no operator has written it: it \
             is left as it is. Delete it, or remove its ownerReference",
            kind.kind(),
        );
        self.warn(owner, "UnmanagedChild", "Prune", &note).await;
    }

    async fn warn(&self, regarding: &ObjectReference, reason: &str, action: &str, note: &str) {
        self.tell(EventType::Warning, regarding, reason, action, note, None).await;
    }

    /// Tells something of an object. An Event is told once more, with the note that it had at first, unless anything but
    /// the note is different.
    pub(crate) async fn tell(
        &self,
        type_: EventType,
        regarding: &ObjectReference,
        reason: &str,
        action: &str,
        note: &str,
        related: Option<ObjectReference>,
    ) {
        let event = Event {
            type_,
            reason: reason.to_owned(),
            note: Some(event_note(note).into_owned()),
            action: action.to_owned(),
            secondary: related,
        };
        self.publish(&event, regarding).await;
    }

    /// An event that is lost costs nothing but itself: the status says the same.
    async fn publish(&self, event: &Event, regarding: &ObjectReference) {
        let result = self.recorder.publish(event, regarding).await;
        self.metrics.wrote(Sent::Event, result.is_ok());
        if let Err(error) = result {
            tracing::debug!(%error, reason = event.reason, "an event was not published");
        }
    }
}

/// An object, as events refer to it.
pub(crate) fn reference<S: Kind>(metadata: &ObjectMeta) -> ObjectReference {
    ObjectReference {
        api_version: Some(Object::<S>::api_version_text()),
        kind: Some(S::KIND.to_owned()),
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        ..ObjectReference::default()
    }
}

/// Conditions whose status is another than before. One that was not there before counts only if it is bad news.
fn turned<'a>(
    before: &[Condition],
    after: &'a [Condition],
    polarity: fn(&str) -> Polarity,
) -> Vec<&'a Condition> {
    let is_news = |condition: &&Condition| match before.iter().find(|old| old.type_ == condition.type_) {
        Some(old) => old.status != condition.status,
        None => polarity(&condition.type_).is_bad(condition) && condition.type_ != "Ready",
    };
    let is_told = |condition: &&Condition| polarity(&condition.type_) != Polarity::Neutral;
    after.iter().filter(is_told).filter(is_news).collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;

    fn condition(kind: &str, status: &str) -> Condition {
        Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: "R".to_owned(),
            message: String::new(),
            last_transition_time: Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH),
            observed_generation: None,
        }
    }

    #[test]
    fn only_what_turns_is_news() {
        let names = |before: &[Condition], after: &[Condition]| -> Vec<String> {
            turned(before, after, thv_api::conditions::mcp_server::polarity)
                .into_iter()
                .map(|condition| condition.type_.clone())
                .collect()
        };
        let after = [
            condition("Ready", "False"),
            condition("StdioReplicaCapped", "False"),
            condition("SessionStorageWarning", "True"),
            condition("PodTemplateValid", "True"),
        ];
        assert_eq!(names(&[], &after), ["SessionStorageWarning"]);
        assert_eq!(names(&after, &after), Vec::<String>::new());
        assert_eq!(names(&[condition("Ready", "True")], &after[..1]), ["Ready"]);
    }
}
