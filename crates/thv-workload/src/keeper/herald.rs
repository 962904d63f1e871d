//! Events: what a person should hear of, once.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use thv_api::Kind;
use thv_api::kinds::{MCPServer, MCPServerSpec};
use thv_api::names::field_managers;
use thv_plan::{Token, event_note};

/// Publishes events about a server.
pub(super) struct Herald {
    recorder: Recorder,
    regarding: ObjectReference,
    /// What was said last, so that it is not said again.
    said: Option<String>,
}

impl Herald {
    pub(super) fn new(client: Client, namespace: &str, server: &str, token: Option<&Token>) -> Self {
        let reporter = Reporter { controller: field_managers::PROXY_RUNNER.to_owned(), instance: None };
        let regarding = ObjectReference {
            api_version: Some(MCPServer::api_version_text()),
            kind: Some(MCPServerSpec::KIND.to_owned()),
            namespace: Some(namespace.to_owned()),
            name: Some(server.to_owned()),
            uid: token.map(|token| token.uid.clone()),
            ..ObjectReference::default()
        };
        Self { recorder: Recorder::new(client, reporter), regarding, said: None }
    }

    /// Warns of something, unless that was the last thing that was said. An event that is lost costs nothing but itself.
    pub(super) async fn warn(&mut self, reason: &str, note: &str) {
        if self.said.as_deref() == Some(note) {
            return;
        }
        let event = Event {
            type_: EventType::Warning,
            reason: reason.to_owned(),
            note: Some(event_note(note).into_owned()),
            action: "Apply".to_owned(),
            secondary: None,
        };
        match self.recorder.publish(&event, &self.regarding).await {
            Ok(()) => self.said = Some(note.to_owned()),
            Err(error) => tracing::debug!(%error, reason, "an event was not published"),
        }
    }

    /// All is well again: what was said before may be said again.
    pub(super) fn forget(&mut self) {
        self.said = None;
    }
}
