//! What the operator would write for an object, for a bare client to send.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kube::ResourceExt;
use kube::api::DynamicObject;
use serde_json::{Value, json};
use thv_api::kinds::{
    MCPAuthzConfigSpec, MCPExternalAuthConfigSpec, MCPGroupSpec, MCPOIDCConfigSpec, MCPServerSpec,
    MCPTelemetryConfigSpec, MCPToolConfigSpec, MCPWebhookConfigSpec, VirtualMCPServerSpec,
};
use thv_api::{Kind, Object};
use thv_plan::{
    AnyObject, Child, Children, Decision, Deletion, Plan, Planned, Read, Reference, References, Referent,
    Settings, Snapshot,
};

use super::fleet::Fleet;

/// Everything that is written for one object.
pub(super) struct Work {
    pub(super) api_version: String,
    pub(super) kind: &'static str,
    pub(super) finalizer: Option<&'static str>,
    pub(super) revision: Option<String>,
    pub(super) children: Vec<Child>,
    pub(super) status: Value,
}

/// An object and its name.
type Named = (String, Read<Arc<dyn AnyObject>>);

/// Renders the objects of a fleet.
pub(super) struct Renderer {
    /// What servers refer to.
    shared: BTreeMap<Reference, Referent>,
    /// The servers of each group, by name.
    members: BTreeMap<String, Vec<Named>>,
}

impl Renderer {
    pub(super) fn new(fleet: Fleet) -> Result<Self> {
        let shared = fleet.shared().into_iter().map(referent).collect::<Result<_>>()?;
        let mut members: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for server in fleet.all_servers() {
            let server: Object<MCPServerSpec> = serde_json::from_value(server)?;
            let group = server.spec.group_ref.as_ref().map(|group| group.name.clone()).unwrap_or_default();
            let read: Read<Arc<dyn AnyObject>> = Read::Found(Arc::new(server.clone()));
            members.entry(group).or_default().push((server.name_any(), read));
        }
        Ok(Self { shared, members })
    }

    /// What the operator would make of a new object.
    pub(super) fn render(&self, object: &DynamicObject) -> Result<Work> {
        let kind = object.types.as_ref().map_or("", |types| types.kind.as_str());
        let value = json!(object);
        match kind {
            MCPServerSpec::KIND => self.work::<MCPServerSpec>(value),
            MCPAuthzConfigSpec::KIND => self.work::<MCPAuthzConfigSpec>(value),
            MCPExternalAuthConfigSpec::KIND => self.work::<MCPExternalAuthConfigSpec>(value),
            MCPGroupSpec::KIND => self.work::<MCPGroupSpec>(value),
            MCPOIDCConfigSpec::KIND => self.work::<MCPOIDCConfigSpec>(value),
            MCPTelemetryConfigSpec::KIND => self.work::<MCPTelemetryConfigSpec>(value),
            MCPToolConfigSpec::KIND => self.work::<MCPToolConfigSpec>(value),
            MCPWebhookConfigSpec::KIND => self.work::<MCPWebhookConfigSpec>(value),
            VirtualMCPServerSpec::KIND => self.work::<VirtualMCPServerSpec>(value),
            other => bail!("nobody looks after a {other}"),
        }
    }

    fn work<S: Planned>(&self, value: Value) -> Result<Work>
    where
        S::Live: Default,
    {
        let owner: Arc<Object<S>> = Arc::new(serde_json::from_value(value)?);
        let created = owner.creation_timestamp().context("an object has no time of creation")?;
        let settings = Settings::default();
        let mut references = References::new();
        loop {
            let wanted = S::refs(&owner, &references, &settings).into_iter();
            let missing: Vec<_> = wanted.filter(|reference| !references.contains(reference)).collect();
            if missing.is_empty() {
                break;
            }
            for reference in missing {
                let read = self.read(&reference);
                references.insert(reference, read);
            }
        }
        let snapshot = Snapshot {
            references,
            live: S::Live::default(),
            requested: BTreeMap::new(),
            settings: Arc::new(settings),
            now: created.0,
            owner,
        };
        let Plan { revision, children, status, .. } = S::plan(&snapshot);
        let Children::Exactly(children) = children else {
            bail!("the operator would not make anything of {}: {}", snapshot.name(), json!(status));
        };
        let revision = match revision {
            Some(Decision::Mint(revision)) => Some(revision.to_string()),
            Some(Decision::Keep(_)) => bail!("{} is not new", snapshot.name()),
            None => None,
        };
        let keeps = !matches!(S::DELETION, Deletion::Nothing);
        Ok(Work {
            api_version: Object::<S>::api_version_text(),
            kind: S::KIND,
            finalizer: S::FINALIZER.filter(|_| keeps),
            revision,
            children,
            status: json!(status),
        })
    }
}

impl Renderer {
    fn read(&self, reference: &Reference) -> Read<Referent> {
        match reference {
            Reference::Referrers { kind: MCPServerSpec::KIND, to } => {
                Read::Found(Referent::Objects(self.members.get(&to.name).cloned().unwrap_or_default()))
            }
            other => self.shared.get(other).cloned().map_or(Read::Absent, Read::Found),
        }
    }
}

/// An object that servers refer to.
fn referent(value: Value) -> Result<(Reference, Referent)> {
    fn read<S: Kind>(value: Value) -> Result<(Reference, Referent)> {
        let object: Object<S> = serde_json::from_value(value)?;
        Ok((Reference::object::<S>(&object.name_any()), Referent::object(object)))
    }
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    match kind {
        MCPAuthzConfigSpec::KIND => read::<MCPAuthzConfigSpec>(value),
        MCPExternalAuthConfigSpec::KIND => read::<MCPExternalAuthConfigSpec>(value),
        MCPGroupSpec::KIND => read::<MCPGroupSpec>(value),
        MCPOIDCConfigSpec::KIND => read::<MCPOIDCConfigSpec>(value),
        MCPTelemetryConfigSpec::KIND => read::<MCPTelemetryConfigSpec>(value),
        MCPToolConfigSpec::KIND => read::<MCPToolConfigSpec>(value),
        MCPWebhookConfigSpec::KIND => read::<MCPWebhookConfigSpec>(value),
        other => bail!("nobody refers to a {other}"),
    }
}
