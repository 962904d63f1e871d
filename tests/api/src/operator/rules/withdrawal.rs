//! What an input caused goes with it.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use thv_testbed::Space;

use super::case::{Case, start};
use super::lane::Lane;
use super::world::{World, tail, worlds};
use crate::operator::Operator;

/// An object that needs nothing is given everything, and that is taken back again: it is left as it was.
pub(super) async fn rule(space: &Space, cases: &[&'static Case]) -> Result<()> {
    let operator = start(space, cases, &[]).await?;
    for world in worlds(space, cases)? {
        world.refer().await?;
        let done = withdraw(&world, &operator).await;
        done.with_context(|| format!("{}; {}", world.case.kind, tail(&operator)))?;
    }
    Ok(())
}

async fn withdraw(world: &World, operator: &Operator) -> Result<()> {
    let case = world.case;
    let (plain, full) = ((case.minimal)(), case.full()?["spec"].clone());
    let lane = Lane::of(world, "changing");
    world.make("changing", &plain).await?;
    let before = lane.settled(operator).await?;

    world.make("changing", &full).await?;
    let changes = before.changes(&lane.settled(operator).await?);
    let fields = full.as_object().map_or(0, serde_json::Map::len);
    // What has no children has a digest of its spec.
    let few = if (case.children)().is_empty() { 0 } else { fields.min(10) };
    ensure!(changes.len() > few, "the example makes little difference: {changes:?}");

    // Whoever applies a spec takes back what he applied before and does not mention any more.
    world.make("changing", &plain).await?;
    let mut left = before.changes(&lane.settled(operator).await?);
    left.remove("new revision");
    let stays: BTreeSet<String> = case.stays.iter().map(|(line, _)| (*line).to_owned()).collect();
    assert_eq!(left, stays, "{}", case.kind);
    Ok(())
}
