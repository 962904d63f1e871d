//! An operator that looks after two kinds more than the API has, as a program of its own.

mod depot;
mod memo;

use std::cell::Cell;
use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use tests_kinds::{Depot, Memo};
use thv_testbed::{Mark, Space, Verb, wait};

use super::passes::Passes;
use super::{Operator, Program};
use crate::fixture::apply;

/// The operator, and how to ask it.
struct Stage {
    space: Space,
    operator: Operator,
    passes: Passes,
    probes: Cell<usize>,
}

/// What an event says: the kind and the name of what it is about, its type and its reason.
type Told = (String, String, String, String);

impl Stage {
    async fn start(space: &Space) -> Result<Self> {
        let (program, passes) = (Program::WithTestKinds, Passes::new()?);
        program.prepare(space).await?;
        let arguments = ["--metrics-bind-address", &passes.address()];
        let operator = Operator::run(program, space, &BTreeMap::new(), &arguments).await?;
        Ok(Self { space: space.clone(), operator, passes, probes: Cell::new(0) })
    }

    fn memos(&self) -> Api<Memo> {
        self.space.api()
    }

    fn depots(&self) -> Api<Depot> {
        self.space.api()
    }

    /// Makes a memo, or changes it to this one, and waits until the operator has dealt with it.
    async fn memo(&self, name: &str, spec: Value) -> Result<Memo> {
        let body = json!({
            "apiVersion": Memo::api_version_text(), "kind": "Memo", "metadata": {"name": name}, "spec": spec,
        });
        let applied = apply(&self.memos(), name, "user", &body).await?;
        wait::until(&self.memos(), name, "the operator has dealt with it", |memo| {
            memo.status.as_ref().and_then(|status| status.observed_generation) >= applied.metadata.generation
        })
        .await
    }

    /// Makes a depot, or changes it to this one, and waits until the operator has dealt with it.
    async fn depot(&self, name: &str, image: &str, size: &str) -> Result<Depot> {
        let body = json!({
            "apiVersion": Depot::api_version_text(), "kind": "Depot", "metadata": {"name": name},
            "spec": {"image": image, "size": size},
        });
        let applied = apply(&self.depots(), name, "user", &body).await?;
        wait::until(&self.depots(), name, "the operator has dealt with it", |depot| {
            depot.status.as_ref().and_then(|status| status.observed_generation) >= applied.metadata.generation
        })
        .await
    }

    /// What a memo has written down, once that is as it should be.
    async fn note(&self, memo: &str, what: &str, is_so: impl Fn(&Data) -> bool) -> Result<Data> {
        let data = |map: &ConfigMap| map.data.clone().unwrap_or_default();
        let name = format!("{memo}-memo");
        let map = wait::until(&self.space.api(), &name, what, |map| is_so(&data(map))).await?;
        Ok(data(&map))
    }

    /// Returns when whatever was under way is over: a memo was made meanwhile, and is dealt with.
    async fn calm(&self) -> Result<()> {
        self.probes.set(self.probes.get() + 1);
        self.memo(&format!("probe-{}", self.probes.get()), about("nobody", "x")).await.map(drop)
    }

    /// How many passes over objects of a kind there were.
    async fn passes(&self, kind: &str) -> Result<u64> {
        self.passes.over(kind).await
    }

    /// Fails the test if objects of a kind were looked at since there were `count` passes over them, at `mark`.
    async fn assert_not_looked_at(&self, kind: &str, count: u64, mark: Mark) -> Result<()> {
        self.passes.assert_none(kind, count, &self.operator.recorder, mark).await
    }

    /// Waits until there were more passes over objects of a kind than so many.
    async fn passes_above(&self, kind: &str, count: u64) -> Result<()> {
        self.passes.above(kind, count).await
    }

    /// The operator's writes that went through, but for events and probes.
    fn writes(&self, mark: Mark) -> Vec<String> {
        let log = self.operator.recorder.since(mark).writes();
        let is_meant = |write: &&thv_testbed::Exchange| {
            let is_probe = write.name.as_deref().is_some_and(|name| name.starts_with("probe-"));
            write.resource != "events" && !is_probe && matches!(write.answered, Some(200..300))
        };
        let text = |write: &thv_testbed::Exchange| {
            let body_name = write.body.as_ref().and_then(|body| body["metadata"]["name"].as_str());
            let name = write.name.as_deref().or(body_name).unwrap_or_default();
            let part = write.subresource.as_deref().map(|part| format!("/{part}")).unwrap_or_default();
            format!("{:?} {} {name}{part}", write.verb, write.resource)
        };
        log.iter().filter(is_meant).map(text).collect()
    }

    /// The events that the operator has published.
    fn told(&self, mark: Mark) -> Vec<Told> {
        let log = self.operator.recorder.since(mark).writes();
        let events = log.iter().filter(|write| write.resource == "events" && write.verb == Verb::Create);
        let text = |body: &Value, pointer: &str| {
            body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let told = events.filter_map(|event| event.body.as_ref()).map(|body| {
            (
                text(body, "/regarding/kind"),
                text(body, "/regarding/name"),
                text(body, "/type"),
                text(body, "/reason"),
            )
        });
        told.collect()
    }
}

/// What is in a ConfigMap.
type Data = BTreeMap<String, String>;

/// A memo about a server.
fn about(server: &str, text: &str) -> Value {
    json!({"text": text, "serverRef": {"name": server}})
}

/// A memo in a depot, about nobody.
fn kept_in(depot: &str) -> Value {
    let mut memo = about("nobody", "x");
    memo["depotRef"] = json!({"name": depot});
    memo
}

/// Changes an object by a merge patch, as somebody else.
async fn patch<K>(api: &Api<K>, name: &str, patch: Value) -> Result<()>
where
    K: Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    let somebody = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
    api.patch(name, &somebody, &Patch::Merge(patch)).await?;
    Ok(())
}
