//! Once converged, nothing is written.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use anyhow::{Context, Result, ensure};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::ResourceExt;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::names;
use thv_testbed::{Mark, Pattern, RequestLog, Space, Verb, wait};

use super::case::{Case, program_of, resource_of, start};
use super::world::{
    Title, World, applies, is_probe, looked_after, looked_at, name_of, outlast_all, put, tail, worlds,
};
use crate::operator::leadership::looks_at_the_lease;
use crate::operator::{Operator, Program};

pub(super) async fn rule(space: &Space, cases: &[&'static Case]) -> Result<()> {
    let mut operator = start(space, cases, &[]).await?;
    let worlds = worlds(space, cases)?;
    touched_and_restarted(&worlds, &mut operator).await.with_context(|| tail(&operator))?;
    operator.subject.kill().await?;
    led_by_others(&worlds, program_of(cases)).await
}

/// Everything that is watched is touched, the operator starts anew, and its watches do.
async fn touched_and_restarted(worlds: &[World], operator: &mut Operator) -> Result<()> {
    let named = populate(worlds, operator, Case::all).await?;
    let mut still = Still::read(worlds).await?;
    for touch in ["labels", "annotations"] {
        touch_all(worlds, operator, &named, &mut still, touch).await?;
    }

    let watches = operator.recorder.gate(Pattern::verb(Verb::Watch));
    let mark = operator.recorder.mark();
    operator.subject.restart().await?;
    assert_starts_over(worlds, operator, mark, &still).await?;

    let mark = operator.recorder.mark();
    watches.cut();
    for Watched { resource, .. } in watched(&operator.recorder.log())? {
        operator.recorder.seen(mark, &Pattern::verb(Verb::Watch).of(&resource.plural)).await?;
    }
    let pulse = operator.recorder.mark();
    for world in worlds {
        still.touch(world, &world.case.resource()?, world.case.name, "labels", "again").await?;
    }
    looked_at(worlds, operator, pulse).await?;
    assert_eq!(applies(operator, mark), BTreeMap::new());
    still.assert_is_so(worlds).await
}

/// Others lead, one after the other.
async fn led_by_others(worlds: &[World], program: Program) -> Result<()> {
    let still = Still::read(worlds).await?;
    let space = &worlds.first().context("there is no case")?.space;
    let candidate = async || Operator::run(program, space, &BTreeMap::new(), &["--leader-elect"]).await;
    let mut leader = candidate().await?;
    let first = assert_starts_over(worlds, &leader, Mark::default(), &still).await;
    first.with_context(|| tail(&leader))?;
    let other = candidate().await?;
    looks_at_the_lease(&other.recorder, Mark::default()).await?;
    let mark = other.recorder.mark();
    assert_eq!(applies(&other, Mark::default()), BTreeMap::new(), "one that does not lead has written");
    leader.subject.terminate()?;
    leader.subject.exit().await?;
    assert_starts_over(worlds, &other, mark, &still).await.with_context(|| tail(&other))
}

/// Makes objects of the cases, with what they refer to and all that they live among, and waits until everything is at
/// rest. Returns what belongs to nobody.
pub(super) async fn populate(
    worlds: &[World],
    operator: &Operator,
    objects: impl Fn(&Case) -> Result<Vec<Value>>,
) -> Result<BTreeSet<Title>> {
    let mut named = BTreeSet::new();
    for world in worlds {
        for object in objects(world.case)? {
            put(&world.space, &object, &name_of(&object)).await?;
            named.insert((resource_of(&object).plural, name_of(&object)));
            world.observed(&object).await?;
        }
        for companion in (world.case.companions)(&world.own.get(world.case.name).await?) {
            let mark = operator.recorder.mark();
            put(&world.space, &companion, &name_of(&companion)).await?;
            named.insert((resource_of(&companion).plural, name_of(&companion)));
            // The operator looks at it; whatever it has to say of it is said before something later is.
            looked_at(slice::from_ref(world), operator, mark).await?;
        }
    }
    outlast_all(worlds).await?;
    for world in looked_after(worlds)? {
        for owner in owners(&world).await? {
            for (resource, child) in world.children(&owner).await? {
                let name = child.name_any();
                wait::until(&world.api(&resource), &name, "its controller is done", is_at_rest).await?;
            }
        }
    }
    outlast_all(worlds).await?;
    Ok(named)
}

/// The objects of the kind, but for probes.
async fn owners(world: &World) -> Result<Vec<DynamicObject>> {
    let all = world.own.list(&ListParams::default()).await?.items;
    Ok(all.into_iter().filter(|object| !is_probe(&object.name_any())).collect())
}

/// Whether nobody has anything left to say about a child. Pods are there and never become ready: nobody runs them. A
/// StatefulSet makes the second one when the first is ready.
fn is_at_rest(child: &DynamicObject) -> bool {
    let (wanted, status) = (&child.data["spec"]["replicas"], &child.data["status"]);
    if child.data["spec"]["serviceName"].is_string() {
        return status["observedGeneration"].as_i64() == child.metadata.generation && status["replicas"] == 1;
    }
    !wanted.is_number()
        || (status["observedGeneration"].as_i64() == child.metadata.generation
            && status["updatedReplicas"] == *wanted
            && status["unavailableReplicas"] == *wanted
            && wait::has_condition(child, "Available", "False"))
}

/// A kind that the operator watches, and which of its objects: those that one of several watches selects.
struct Watched {
    resource: ApiResource,
    labels: BTreeSet<Option<String>>,
}

/// Everything that the operator has asked to watch. Nothing tells it better than the requests themselves.
fn watched(log: &RequestLog) -> Result<Vec<Watched>> {
    let mut all: BTreeMap<_, Watched> = BTreeMap::new();
    for watch in log.only(&Pattern::verb(Verb::Watch)).iter() {
        let mut parts = watch.path.split('/').skip(if watch.group.is_empty() { 2 } else { 3 });
        let version = parts.next().with_context(|| format!("{watch} has no version"))?.to_owned();
        let api_version =
            if watch.group.is_empty() { version.clone() } else { format!("{}/{version}", watch.group) };
        let (group, plural) = (watch.group.clone(), watch.resource.clone());
        let resource = ApiResource { group, version, api_version, kind: String::new(), plural };
        let watched = all.entry((watch.group.clone(), watch.resource.clone()));
        let watched = watched.or_insert_with(|| Watched { resource, labels: BTreeSet::new() });
        watched.labels.insert(watch.query.get("labelSelector").cloned());
    }
    Ok(all.into_values().collect())
}

/// Has somebody touch every object that is watched, in a way that means nothing. Each time, a pass looks at what has
/// changed. It may apply a child that was touched, since it cannot know that what is its own has not changed
/// (fact F17), and nothing moves by that.
async fn touch_all(
    worlds: &[World],
    operator: &Operator,
    named: &BTreeSet<Title>,
    still: &mut Still,
    touch: &str,
) -> Result<()> {
    let (start, mut touched) = (operator.recorder.mark(), BTreeSet::new());
    let world = worlds.first().context("there is no case")?;
    let all = watched(&operator.recorder.log())?.into_iter();
    let is_known = |Watched { resource, .. }: &Watched| {
        let plural = resource.plural.as_str();
        let is_in_example = named.iter().any(|(in_example, _)| in_example == plural);
        let is_known_to = |Case { children, strangers, .. }: &Case| {
            !strangers.contains(&plural) || children().iter().any(|child| child.plural == plural)
        };
        is_in_example || worlds.iter().any(|world| is_known_to(world.case))
    };
    for Watched { resource, labels } in all.filter(is_known) {
        let before = touched.len();
        let mut objects = Vec::new();
        for labels in labels {
            let selector = ListParams { label_selector: labels, ..ListParams::default() };
            objects.extend(world.api(&resource).list(&selector).await?);
        }
        for object in objects {
            let title = (resource.plural.clone(), object.name_any());
            let is_ours = named.contains(&title) || belongs(worlds, &object);
            if is_ours && !is_probe(&title.1) {
                let mark = operator.recorder.mark();
                still.touch(world, &resource, &title.1, touch, "1").await?;
                for pulse in worlds.iter().filter_map(|world| world.case.pulse) {
                    let seen = operator.recorder.seen(mark, &pulse()).await;
                    seen.with_context(|| format!("nobody looks when {title:?} is touched"))?;
                }
                touched.insert(title);
            }
        }
        let plural = &resource.plural;
        ensure!(touched.len() > before, "{plural} are watched, and the case has none to touch");
    }
    outlast_all(worlds).await?;
    for (title, count) in applies(operator, start) {
        let is_allowed = touched.contains(&title) && still.children.contains(&title) && count == 1;
        assert!(is_allowed, "{title:?} was applied {count} times after {touch} of {touched:?} were touched");
    }
    still.assert_is_so(worlds).await
}

/// Whether an object belongs to an object of a case, or to what does, and not to a neighbour.
fn belongs(worlds: &[World], object: &DynamicObject) -> bool {
    let owners = object.owner_references();
    let is_neighbours = |owner: &OwnerReference| {
        let is_own = worlds.iter().any(|world| world.case.kind == owner.kind);
        !is_own && owner.api_version.starts_with(names::GROUP)
    };
    !owners.is_empty() && !owners.iter().any(is_neighbours)
}

/// Shows that an operator that starts over applies every child once, that nothing moves by it, and that nothing else
/// is written.
async fn assert_starts_over(worlds: &[World], operator: &Operator, mark: Mark, still: &Still) -> Result<()> {
    for (plural, name) in &still.children {
        operator.recorder.seen(mark, &Pattern::verb(Verb::Apply).of(plural).named(name).whole()).await?;
    }
    outlast_all(worlds).await?;
    let once: BTreeMap<Title, usize> = still.children.iter().map(|title| (title.clone(), 1)).collect();
    assert_eq!(applies(operator, mark), once);
    still.assert_is_so(worlds).await
}

/// What must not move: the objects of the cases, those that are looked after among what they refer to, and the children
/// of both.
#[derive(Debug, PartialEq)]
pub(super) struct Still {
    /// The identity and the version of each.
    versions: BTreeMap<Title, (Option<String>, Option<String>)>,
    statuses: BTreeMap<Title, Value>,
    children: BTreeSet<Title>,
}

impl Still {
    pub(super) async fn read(worlds: &[World]) -> Result<Self> {
        let (mut versions, mut statuses) = (BTreeMap::new(), BTreeMap::new());
        let mut children = BTreeSet::new();
        for world in looked_after(worlds)? {
            let plural = world.case.resource()?.plural;
            for owner in owners(&world).await? {
                for (resource, child) in world.children(&owner).await? {
                    let title = (resource.plural, child.name_any());
                    children.insert(title.clone());
                    versions.insert(title, version(&child.metadata, true));
                }
                let title = (plural.clone(), owner.name_any());
                versions.insert(title.clone(), version(&owner.metadata, false));
                statuses.insert(title, owner.data["status"].clone());
            }
        }
        ensure!(!children.is_empty(), "nobody has children");
        Ok(Self { versions, statuses, children })
    }

    /// Has somebody touch an object, which may then have another version than before.
    async fn touch(
        &mut self,
        world: &World,
        resource: &ApiResource,
        name: &str,
        field: &str,
        value: &str,
    ) -> Result<()> {
        let patch = Patch::Merge(json!({"metadata": {field: {"example.com/touched": value}}}));
        let touched = world.api(resource).patch_metadata(name, &PatchParams::default(), &patch).await?;
        let title = (resource.plural.clone(), name.to_owned());
        let is_child = self.children.contains(&title);
        if let Some(known) = self.versions.get_mut(&title) {
            *known = version(&touched.metadata, is_child);
        }
        Ok(())
    }

    pub(super) async fn assert_is_so(&self, worlds: &[World]) -> Result<()> {
        assert_eq!(*self, Self::read(worlds).await?);
        Ok(())
    }
}

/// The identity of an object, and what moves with every write: of children that count changes of their spec that
/// count, since controllers of Kubernetes write their status.
fn version(metadata: &ObjectMeta, is_child: bool) -> (Option<String>, Option<String>) {
    let generation = metadata.generation.filter(|_| is_child).map(|count| count.to_string());
    (metadata.uid.clone(), generation.or_else(|| metadata.resource_version.clone()))
}
