//! A crash after any write leaves a state that the next start mends.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use thv_testbed::{Mark, Moment, Pattern, Space, Verb, in_namespace, wait};

use super::case::Case;
use super::lane::{Lane, State};
use super::world::{Place, World, put, tail, writes};
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
    /// The object and its children, unless they are to be gone.
    end: Option<State>,
    counts: Counts,
    /// How many writes there were.
    writes: usize,
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
    assert!(undisturbed.writes > 1, "the undisturbed run of {workload:?} wrote little");
    for crash in 0..undisturbed.writes {
        in_namespace(async |space| {
            let outcome = run(&space, case, workload, Some(crash)).await?;
            let what = format!("{workload:?}, crash after write {crash}");
            assert_eq!(outcome.counts, undisturbed.counts, "{what}");
            if let Some((one, other)) = undisturbed.end.as_ref().zip(outcome.end.as_ref()) {
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
    let mut operator = case.start(space).await?;
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
    let mark = operator.recorder.mark();
    let breakpoint =
        crash.map(|before| operator.recorder.breakpoint(Pattern::write(), before, Moment::AfterCommit));
    match workload {
        Workload::Create => drop(put(&world.space, &full, case.name).await?),
        Workload::Update => {
            own.patch(case.name, &PatchParams::default(), &Patch::Merge((case.change)())).await?;
        }
        Workload::Delete => drop(own.delete(case.name, &DeleteParams::default()).await?),
    }
    if let Some((before, mut breakpoint)) = crash.zip(breakpoint) {
        let is_there = tokio::select! {
            biased;
            hit = breakpoint.hit() => hit.map(|_| true)?,
            done = done(world, workload, &belongings) => {
                done?;
                operator.recorder.since(mark).writes().len() > before
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
    world.outlast().await?;
    let end = match workload {
        Workload::Delete => None,
        Workload::Create | Workload::Update => {
            let uid = own.get(case.name).await?.uid().unwrap_or_default();
            let end = Lane::of(world, case.name).state(operator).await?;
            Some(end.elsewhere(world.space.namespace(), &uid)?)
        }
    };
    let writes = writes(operator, mark).len();
    Ok(Outcome { end, counts: counted(operator, mark), writes })
}

/// Makes the object of the example and its companions, and returns all that is to go with it.
async fn settle(world: &World, operator: &Operator) -> Result<Vec<Place>> {
    let case = world.case;
    let object = world.make(case.name, &case.full()?["spec"]).await?;
    let mut belongings = Vec::new();
    for (resource, child) in world.children(&object).await? {
        belongings.push((world.api(&resource), child.name_any()));
    }
    for companion in (case.companions)(&object) {
        let mark = operator.recorder.mark();
        let name = super::world::name_of(&companion);
        let place = put(&world.space, &companion, &name).await?;
        operator.recorder.seen(mark, &(case.pulse)()).await?;
        let is_owned = companion["metadata"]["ownerReferences"].is_array();
        belongings.extend(is_owned.then_some(place));
    }
    world.outlast().await?;
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
