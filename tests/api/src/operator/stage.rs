//! An operator among objects of whichever kinds, and how those do.

use std::cell::Cell;
use std::collections::BTreeMap;

use anyhow::{Context, Result};
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::Kind;
use thv_api::kinds::MCPWebhookConfigSpec;
use thv_testbed::{Exchange, Mark, Pattern, RequestLog, Space, wait};

use super::passes::Passes;
use super::rules::{api_of, resource_of};
use super::{Operator, Program, minimal};
use crate::fixture::{apply, json_of};

/// The operator and its namespace. It looks at nothing of its own accord while the test lasts.
pub(super) struct Stage {
    pub(super) space: Space,
    pub(super) operator: Operator,
    pub(super) passes: Passes,
    probes: Cell<usize>,
}

impl Stage {
    pub(super) async fn start(space: &Space) -> Result<Self> {
        Self::start_with(space, &BTreeMap::new(), &[]).await
    }

    /// The same with these environment variables and arguments.
    pub(super) async fn start_with(
        space: &Space,
        environment: &BTreeMap<&str, &str>,
        more: &[&str],
    ) -> Result<Self> {
        Box::pin(Program::Shipped.prepare(space)).await?;
        let passes = Passes::new()?;
        let address = passes.address();
        let arguments = [&["--resync-period", "1h", "--metrics-bind-address", &address], more].concat();
        let operator = Box::pin(Operator::run(Program::Shipped, space, environment, &arguments)).await?;
        Ok(Self { space: space.clone(), operator, passes, probes: Cell::new(0) })
    }

    /// The objects of a kind of the API.
    pub(super) fn api(&self, kind: &str) -> Api<DynamicObject> {
        api_of(&self.space, &manifest(kind, "", json!({})))
    }

    /// Makes an object, or changes its spec to this one.
    pub(super) async fn make(&self, kind: &str, name: &str, spec: Value) -> Result<DynamicObject> {
        let applied = apply(&self.api(kind), name, "user", &manifest(kind, name, spec)).await;
        applied.with_context(|| format!("cannot make {kind} {name}"))
    }

    /// Makes an object that is looked after, and waits until the operator has dealt with it.
    pub(super) async fn settle(&self, kind: &str, name: &str, spec: Value) -> Result<DynamicObject> {
        let generation = self.make(kind, name, spec).await?.metadata.generation;
        self.until(kind, name, "the operator has dealt with it", |object| {
            object.data["status"]["observedGeneration"].as_i64() >= generation
        })
        .await
    }

    /// Changes the spec of an object by a merge patch.
    pub(super) async fn edit(&self, kind: &str, name: &str, spec: Value) -> Result<()> {
        let patch = Patch::Merge(json!({ "spec": spec }));
        self.api(kind).patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    pub(super) async fn delete(&self, kind: &str, name: &str) -> Result<()> {
        let deleted = self.api(kind).delete(name, &DeleteParams::default()).await;
        deleted.map(drop).with_context(|| format!("cannot delete {kind} {name}"))
    }

    pub(super) async fn gone(&self, kind: &str, name: &str) -> Result<()> {
        wait::gone(&self.api(kind), name).await.with_context(|| format!("{kind} {name}; {}", self.tail()))
    }

    pub(super) async fn until(
        &self,
        kind: &str,
        name: &str,
        what: &str,
        done: impl FnMut(&DynamicObject) -> bool,
    ) -> Result<DynamicObject> {
        let waited = wait::until(&self.api(kind), name, what, done).await;
        waited.with_context(|| format!("{kind} {name}; {}", self.tail()))
    }

    /// Waits until a condition of an object has this status and a message with this part.
    pub(super) async fn says(
        &self,
        kind: &str,
        name: &str,
        (type_, status): (&str, &str),
        part: &str,
    ) -> Result<DynamicObject> {
        let what = format!("{type_} is {status}, with {part:?}");
        self.until(kind, name, &what, |object| {
            let found = condition(object, type_);
            let message = found["message"].as_str().unwrap_or_default();
            found["status"] == status && message.contains(part)
        })
        .await
    }

    /// Waits until an object says that exactly these refer to it.
    pub(super) async fn referred_by(&self, kind: &str, name: &str, who: &str) -> Result<()> {
        let (status, message) = if who.is_empty() { ("False", "nobody refers to it") } else { ("True", who) };
        self.until(kind, name, &format!("{who:?} refer to it"), |object| {
            let found = condition(object, "Referenced");
            found["status"] == status && found["message"] == message
        })
        .await
        .map(drop)
    }

    /// Returns when whatever was under way is over: a server was made meanwhile, and is dealt with.
    pub(super) async fn calm(&self) -> Result<()> {
        self.probes.set(self.probes.get() + 1);
        self.operator.server(&format!("probe-{}", self.probes.get()), minimal()).await.map(drop)
    }

    /// All requests about an object.
    pub(super) fn requests(&self, mark: Mark, kind: &str, name: &str) -> RequestLog {
        let plural = resource_of(&manifest(kind, name, json!({}))).plural;
        self.operator.recorder.since(mark).only(&Pattern::any().of(&plural).named(name))
    }

    /// The writes on an object that were not refused, such as `Apply status`.
    pub(super) fn writes(&self, mark: Mark, kind: &str, name: &str) -> Vec<String> {
        let text = |write: &Exchange| {
            let part = write.subresource.as_deref().map(|part| format!(" {part}")).unwrap_or_default();
            format!("{:?}{part}", write.verb)
        };
        let log = self.requests(mark, kind, name).writes();
        // What has changed by the last one can be seen before it is answered.
        log.iter().filter(|write| matches!(write.answered, None | Some(200..300))).map(text).collect()
    }

    /// Asserts that the operator has come back to an object because something happened, and never by the clock.
    pub(super) fn assert_no_timed_requeue(&self, kind: &str, name: &str) {
        let output = self.operator.subject.output();
        let object = format!("{kind} {}/{name}", self.space.namespace());
        let about = |line: &&str| line.contains("a timed requeue") && line.contains(&object);
        assert_eq!(output.lines().find(about), None, "{kind} {name}");
    }

    pub(super) fn tail(&self) -> String {
        let output = self.operator.subject.output();
        let lines: Vec<_> = output.lines().collect();
        format!("the operator wrote:\n{}", lines[lines.len().saturating_sub(40)..].join("\n"))
    }
}

/// An object of the API.
pub(super) fn manifest(kind: &str, name: &str, spec: Value) -> Value {
    let version = if kind == MCPWebhookConfigSpec::KIND { "v1alpha1" } else { "v1beta1" };
    json!({
        "apiVersion": format!("{}/{version}", thv_api::names::GROUP), "kind": kind, "metadata": {"name": name},
        "spec": spec,
    })
}

/// What an object says of itself, by the type of the condition; nothing if it does not.
pub(super) fn condition(object: &DynamicObject, type_: &str) -> Value {
    let all = json_of(object)["status"]["conditions"].as_array().cloned().unwrap_or_default();
    all.into_iter().find(|condition| condition["type"] == type_).unwrap_or_default()
}

/// A spec of a server with this on top of what one needs.
pub(super) fn server(more: Value) -> Value {
    with(minimal(), &more)
}

/// A spec with these fields as well.
pub(super) fn with(mut spec: Value, more: &Value) -> Value {
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    spec
}
