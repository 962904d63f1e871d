//! A crash after any write leaves a state that the next start mends.

use std::collections::BTreeMap;
use std::slice;

use anyhow::{Context, Result};
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use serde_json::Value;
use thv_testbed::{Mark, Moment, Pattern, Space, Verb, in_namespace, wait};

use super::case::{Case, start};
use super::lane::{Lane, State};
use super::world::{Place, World, looked_at, name_of, outlast_all, put, tail, writes};
use crate::operator::Operator;

/// What is done to the object of the example.
#[derive(Clone, Copy, Debug)]
pub(super) enum Workload {
    Create,
    Update,
    Delete,
}

/// How often each object was created and deleted, by successful writes of the operator.
type Counts = BTreeMap<(Verb, String), usize>;

/// What a run came to.
struct Outcome {
    /// The object and its children, and those who refer to it with theirs, unless they are to be gone.
    end: Vec<State>,
    counts: Counts,
    /// After how many writes there can be a crash.
    writes: usize,
}

/// The writes that there is a crash after: all of them, or those on the object itself where it has no children. What
/// becomes of who refers to it is a rule of theirs.
fn writes_of(case: &Case) -> Result<Pattern> {
    let has_children = !(case.children)().is_empty();
    let plural = case.resource()?.plural;
    Ok(if has_children { Pattern::write() } else { Pattern::write().of(&plural) })
}

/// Runs a workload undisturbed, and then once for each of its writes with a crash after that write.
pub(super) async fn rule(case: &'static Case, workload: Workload) {
    let mut undisturbed = None;
    in_namespace(async |space| {
        undisturbed = Some(run(&space, case, workload, None).await?);
        Ok(())
    })
    .await;
    let undisturbed = undisturbed.expect("a run that has not failed has an outcome");
    assert!(undisturbed.writes > 0, "the undisturbed run of {workload:?} wrote nothing");
    for crash in 0..undisturbed.writes {
        in_namespace(async |space| {
            let outcome = run(&space, case, workload, Some(crash)).await?;
            let what = format!("{workload:?}, crash after write {crash}");
            assert_eq!(outcome.counts, undisturbed.counts, "{what}");
            assert_eq!(outcome.end.len(), undisturbed.end.len(), "{what}");
            for (one, other) in undisturbed.end.iter().zip(&outcome.end) {
                let mut changes = one.changes(other);
                // Digests are of what has the namespace in it.
                changes.remove("new revision");
                assert!(changes.is_empty(), "{what}: {changes:?}");
            }
            Ok(())
        })
        .await;
    }
}

async fn run(
    space: &Space,
    case: &'static Case,
    workload: Workload,
    crash: Option<usize>,
) -> Result<Outcome> {
    // Who refers to what is told later than the test lasts, so that it is no part of it.
    let mut operator = start(space, &[case], &["--status-interval", "1h"]).await?;
    let world = World::new(space, case)?;
    world.refer().await?;
    let outcome = carry_out(&world, &mut operator, workload, crash).await;
    outcome.with_context(|| format!("{workload:?}, crash after write {crash:?}; {}", tail(&operator)))
}

async fn carry_out(
    world: &World,
    operator: &mut Operator,
    workload: Workload,
    crash: Option<usize>,
) -> Result<Outcome> {
    let (case, own) = (world.case, &world.own);
    let full = case.full()?;
    let belongings = match workload {
        Workload::Create => Vec::new(),
        Workload::Update | Workload::Delete => settle(world, operator).await?,
    };
    let (mark, pattern) = (operator.recorder.mark(), writes_of(case)?);
    let breakpoint =
        crash.map(|before| operator.recorder.breakpoint(pattern.clone(), before, Moment::AfterCommit));
    match workload {
        Workload::Create => drop(put(&world.space, &full, case.name).await?),
        Workload::Update => {
            own.patch(case.name, &PatchParams::default(), &Patch::Merge((case.change)())).await?;
        }
        Workload::Delete => {
            own.delete(case.name, &DeleteParams::default()).await?;
            if !case.referrers()?.is_empty() {
                let is_kept = |object: &DynamicObject| wait::has_condition(object, "DeletionBlocked", "True");
                wait::until(own, case.name, "it is kept", is_kept).await?;
                world.be_forgotten().await?;
            }
        }
    }
    if let Some((before, mut breakpoint)) = crash.zip(breakpoint) {
        let is_there = tokio::select! {
            biased;
            hit = breakpoint.hit() => hit.map(|_| true)?,
            done = done(world, workload, &belongings) => {
                done?;
                operator.recorder.since(mark).only(&pattern).len() > before
            }
        };
        if is_there {
            operator.subject.kill().await?;
            operator.subject.restart().await?;
        }
        // A run that met no conflict has fewer writes than one that did, and then there is nothing to crash after.
        drop(breakpoint);
    }
    done(world, workload, &belongings).await?;
    outlast_all(slice::from_ref(world)).await?;
    let end = match workload {
        Workload::Create => vec![end(world, operator, &full).await?],
        Workload::Update => {
            let mut all = vec![end(world, operator, &full).await?];
            for referrer in case.referrers()? {
                for kind in world.looked_after()?.iter().filter(|kind| kind.case.is_of_kind(&referrer)) {
                    all.push(end(kind, operator, &referrer).await?);
                }
            }
            all
        }
        Workload::Delete => Vec::new(),
    };
    let counts = counted(operator, mark);
    let writes = writes(operator, mark).iter().filter(|write| pattern.matches(write)).count();
    Ok(Outcome { end, counts, writes })
}

/// An object and its children, without what is only true of it in this namespace.
async fn end(world: &World, operator: &Operator, object: &Value) -> Result<State> {
    let name = name_of(object);
    let uid = world.own.get(&name).await?.uid().unwrap_or_default();
    Lane::of(world, &name).state(operator).await?.elsewhere(world.space.namespace(), &uid)
}

/// Makes the object of the example and its companions, and returns all that is to go with it.
async fn settle(world: &World, operator: &Operator) -> Result<Vec<Place>> {
    let case = world.case;
    let object = world.make(case.name, &case.full()?["spec"]).await?;
    world.be_referred_to().await?;
    let mut belongings = Vec::new();
    for (resource, child) in world.children(&object).await? {
        belongings.push((world.api(&resource), child.name_any()));
    }
    for companion in (case.companions)(&object) {
        let mark = operator.recorder.mark();
        let place = put(&world.space, &companion, &name_of(&companion)).await?;
        looked_at(slice::from_ref(world), operator, mark).await?;
        let is_owned = companion["metadata"]["ownerReferences"].is_array();
        belongings.extend(is_owned.then_some(place));
    }
    outlast_all(slice::from_ref(world)).await?;
    Ok(belongings)
}

/// Waits until the operator has done what there is to do.
async fn done(world: &World, workload: Workload, belongings: &[Place]) -> Result<()> {
    match workload {
        Workload::Create | Workload::Update => world.converged(world.case.name).await.map(drop),
        Workload::Delete => {
            wait::gone(&world.own, world.case.name).await?;
            for (api, name) in belongings {
                wait::gone::<DynamicObject>(api, name).await?;
            }
            Ok(())
        }
    }
}

/// Creations show as applies that were answered with 201.
fn counted(operator: &Operator, mark: Mark) -> Counts {
    let mut counts = Counts::new();
    for write in writes(operator, mark) {
        let counts_as = match (write.verb, write.answered) {
            (Verb::Apply, Some(201)) => Verb::Create,
            (Verb::Delete, Some(200)) => Verb::Delete,
            _ => continue,
        };
        let name = format!("{} {}", write.resource, write.name.clone().unwrap_or_default());
        *counts.entry((counts_as, name)).or_default() += 1;
    }
    counts
}
