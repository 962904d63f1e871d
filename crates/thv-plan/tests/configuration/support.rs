//! Snapshots from manifests, loaded the way an operator loads them: only what is referred to is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use thv_api::kinds::{MCPServer, MCPServerSpec};
use thv_plan::mcp_server::{Resolved, refs, resolve, settings_refs};
use thv_plan::resolve::{Cause, Outcome, Unusable};
use thv_plan::{Live, Read, Reference, References, Referent, Referred, Settings, Snapshot};

/// Manifests by kind and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifests(BTreeMap<(String, String), Value>);

impl Manifests {
    /// Reads a stream of YAML documents.
    pub(crate) fn parse(text: &str) -> Self {
        let documents: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
        let mut manifests = Self::default();
        documents
            .into_iter()
            .filter(|document| !document.is_null())
            .for_each(|document| manifests.add(document));
        manifests
    }

    /// Adds or replaces a manifest.
    pub(crate) fn add(&mut self, document: Value) {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let key = (text(&document["kind"]), text(&document["metadata"]["name"]));
        self.0.insert(key, document);
    }

    /// Takes a manifest away.
    pub(crate) fn remove(&mut self, kind: &str, name: &str) {
        assert!(self.0.remove(&(kind.to_owned(), name.to_owned())).is_some(), "there is no {kind} {name}");
    }

    /// Changes a manifest.
    pub(crate) fn edit(&mut self, kind: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let manifest = self.0.get_mut(&(kind.to_owned(), name.to_owned()));
        change(manifest.unwrap_or_else(|| panic!("there is no {kind} {name}")));
    }

    fn get(&self, kind: &str, name: &str) -> Option<&Value> {
        self.0.get(&(kind.to_owned(), name.to_owned()))
    }

    /// All manifests, with kind and name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        self.0.iter().map(|((kind, name), manifest)| (kind.as_str(), name.as_str(), manifest))
    }

    /// The server of a name, if its schema describes it.
    pub(crate) fn try_server(&self, name: &str) -> Option<MCPServer> {
        serde_json::from_value(self.get("MCPServer", name)?.clone()).ok()
    }

    /// The server of a name.
    pub(crate) fn server(&self, name: &str) -> MCPServer {
        let manifest = self.get("MCPServer", name).unwrap_or_else(|| panic!("there is no MCPServer {name}"));
        serde_json::from_value(manifest.clone()).unwrap()
    }

    /// What one read finds.
    fn read(&self, reference: &Reference) -> Read<Referent> {
        fn typed<T: serde::de::DeserializeOwned>(
            value: &Value,
            wrap: impl FnOnce(Arc<T>) -> Referent,
        ) -> Read<Referent> {
            match serde_json::from_value(value.clone()) {
                Ok(object) => Read::Found(wrap(Arc::new(object))),
                Err(error) => Read::Malformed(error.to_string()),
            }
        }
        let kind = match reference.kind {
            Referred::AuthzConfig => "MCPAuthzConfig",
            Referred::ConfigMap => "ConfigMap",
            Referred::ExternalAuthConfig => "MCPExternalAuthConfig",
            Referred::Group => "MCPGroup",
            Referred::OidcConfig => "MCPOIDCConfig",
            Referred::Secret => "Secret",
            Referred::TelemetryConfig => "MCPTelemetryConfig",
            Referred::ToolConfig => "MCPToolConfig",
            Referred::WebhookConfig => "MCPWebhookConfig",
        };
        let Some(value) = self.get(kind, &reference.name) else { return Read::Absent };
        match reference.kind {
            Referred::AuthzConfig => typed(value, Referent::AuthzConfig),
            Referred::ConfigMap => typed(&value["data"], Referent::ConfigMap),
            Referred::ExternalAuthConfig => typed(value, Referent::ExternalAuthConfig),
            Referred::Group => typed(value, Referent::Group),
            Referred::OidcConfig => typed(value, Referent::OidcConfig),
            Referred::TelemetryConfig => typed(value, Referent::TelemetryConfig),
            Referred::ToolConfig => typed(value, Referent::ToolConfig),
            Referred::WebhookConfig => typed(value, Referent::WebhookConfig),
            Referred::Secret => {
                let keys = ["data", "stringData"].into_iter().filter_map(|field| value[field].as_object());
                let keys = keys.flat_map(|fields| fields.keys().cloned()).collect();
                Read::Found(Referent::Secret(Arc::new(keys)))
            }
        }
    }

    /// Everything that bears on a server, read until nothing new is referred to.
    pub(crate) fn snapshot_with(&self, name: &str, settings: Settings) -> Snapshot<MCPServerSpec> {
        let owner = self.server(name);
        let mut references = References::new();
        loop {
            let wanted = refs(&owner, &references).into_iter().chain(settings_refs(&owner, &settings));
            let missing: Vec<Reference> =
                wanted.filter(|reference| !references.contains(reference)).collect();
            if missing.is_empty() {
                break;
            }
            for reference in missing {
                let read = self.read(&reference);
                references.insert(reference, read);
            }
        }
        Snapshot {
            owner: Arc::new(owner),
            references,
            live: Live::default(),
            settings: Arc::new(settings),
            now: Timestamp::UNIX_EPOCH,
        }
    }

    /// The same with the operator's usual settings.
    pub(crate) fn snapshot(&self, name: &str) -> Snapshot<MCPServerSpec> {
        self.snapshot_with(name, Settings::default())
    }

    /// What became of the references of a server.
    pub(crate) fn resolved(&self, name: &str) -> Resolved {
        resolve(&self.snapshot(name))
    }
}

/// Why something has to be unusable, and what is said about it.
pub(crate) fn unusable<T: std::fmt::Debug>(outcome: &Outcome<T>) -> (Cause, String) {
    match outcome {
        Outcome::Unusable(Unusable { cause, invalid }) => (*cause, invalid.message.clone()),
        other => panic!("this can be used: {other:?}"),
    }
}
