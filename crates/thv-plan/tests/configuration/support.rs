//! Snapshots from manifests, loaded the way an operator loads them: only what is referred to is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPServer, MCPServerSpec,
    MCPTelemetryConfigSpec, MCPToolConfigSpec, MCPWebhookConfigSpec,
};
use thv_api::{Kind, Object};
use thv_plan::mcp_server::{Live, Resolved, refs, resolve, settings_refs};
use thv_plan::resolve::{Cause, Outcome, Unusable};
use thv_plan::{Read, Reference, References, Referent, Settings, Snapshot, Target};

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
        match reference {
            Reference::Object(Target { kind, name }) => match *kind {
                MCPAuthzConfigSpec::KIND => self.object::<MCPAuthzConfigSpec>(name),
                MCPExternalAuthConfigSpec::KIND => self.object::<MCPExternalAuthConfigSpec>(name),
                MCPGroupSpec::KIND => self.object::<MCPGroupSpec>(name),
                MCPOIDCConfigSpec::KIND => self.object::<MCPOIDCConfigSpec>(name),
                MCPTelemetryConfigSpec::KIND => self.object::<MCPTelemetryConfigSpec>(name),
                MCPToolConfigSpec::KIND => self.object::<MCPToolConfigSpec>(name),
                MCPWebhookConfigSpec::KIND => self.object::<MCPWebhookConfigSpec>(name),
                other => panic!("nobody refers to {other}"),
            },
            Reference::ConfigMap(name) => self.get("ConfigMap", name).map_or(Read::Absent, |value| {
                let data = serde_json::from_value(value["data"].clone()).unwrap();
                Read::Found(Referent::ConfigMap(Arc::new(data)))
            }),
            Reference::Secret(name) => self.get("Secret", name).map_or(Read::Absent, |value| {
                let fields = ["data", "stringData"].into_iter().filter_map(|field| value[field].as_object());
                let content = fields.flatten().map(|(key, value)| (key, value.to_string()));
                Read::Found(Referent::secret(name, content))
            }),
            // Nobody offers any group.
            Reference::Referrers { .. } => Read::Found(Referent::Objects(Vec::new())),
            Reference::Status(_) | Reference::ReferredBy(_) => panic!("nobody asks for {reference:?}"),
        }
    }

    fn object<S: Kind>(&self, name: &str) -> Read<Referent> {
        let Some(value) = self.get(S::KIND, name) else { return Read::Absent };
        match serde_json::from_value::<Object<S>>(value.clone()) {
            Ok(object) => Read::Found(Referent::object(object)),
            Err(error) => Read::Malformed(error.to_string()),
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
            requested: BTreeMap::new(),
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
