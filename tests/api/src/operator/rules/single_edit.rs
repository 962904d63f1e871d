//! Every leaf of a full spec and of what it refers to, changed alone on the API server: exactly which fields follow.
//!
//! Examples, edits and expectations are those of the tests of plans. What is tried here is all that lies between an edit
//! and the objects: schemas, watches, the order of writes, defaults and ownership.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use futures::future::try_join_all;
use kube::api::DynamicObject;
use thv_testbed::Space;

use super::case::reference::Reference;
use super::case::{Case, Effects, edits, start};
use super::lane::{self, Lane};
use super::world::{World, tail, worlds};
use crate::operator::Operator;

/// How many objects the leaves of a spec are shared out to, at most.
const LANES: usize = 4;

/// What follows from each edit, by the leaf.
type Expectations = BTreeMap<String, BTreeSet<String>>;

/// Reads a list: a leaf, and below it what follows.
fn expectations(text: &str) -> Expectations {
    let mut all = Expectations::new();
    let mut leaf = String::new();
    for line in text.lines() {
        match line.strip_prefix("    ") {
            None => {
                line.clone_into(&mut leaf);
                all.insert(leaf.clone(), BTreeSet::new());
            }
            // Children that are not applied stay as they are.
            Some(effect) if effect.starts_with("nothing: ") || effect == "not applied" => {}
            Some(effect) => drop(all.get_mut(&leaf).unwrap().insert(effect.to_owned())),
        }
    }
    all
}

pub(super) async fn rule(space: &Space, cases: &[&'static Case]) -> Result<()> {
    let operator = start(space, cases, &[]).await?;
    let mut lanes = Vec::new();
    for world in worlds(space, cases)? {
        lane::make_twins(space, world.case).await?;
        lanes.extend(near(&world).await?);
        lanes.extend(far(&world).await?);
    }
    let run = try_join_all(lanes.iter().map(|track| run(&operator, track))).await;
    let surprises = run.with_context(|| tail(&operator))?.concat();
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
    Ok(())
}

/// The leaves of the objects themselves.
async fn near(world: &World) -> Result<Vec<Track>> {
    let (case, mut lanes) = (world.case, Vec::new());
    let objects = match case.near {
        Effects::Listed(_) => vec![case.full()?],
        Effects::Alike { .. } => case.of_kind()?,
    };
    for object in &objects {
        // Several cases may be of one kind.
        let name = |number: usize| format!("near-{}-{number:03}", case.name);
        let first = Lane::near(world, &name(lanes.len()), object).await?;
        let all: Vec<_> = match case.near {
            Effects::Listed(list) => expectations(list).into_iter().collect(),
            Effects::Alike { all, but } => alike(&first, &first.live().await?, all, but),
        };
        let count = all.len().clamp(1, LANES);
        let share = |number: usize| all.iter().skip(number).step_by(count).cloned().collect();
        lanes.push(Track::Near(first, share(0)));
        for number in 1..count {
            let lane = Lane::near(world, &name(lanes.len()), object).await?;
            lanes.push(Track::Near(lane, share(number)));
        }
    }
    Ok(lanes)
}

/// The leaves of what they refer to.
async fn far(world: &World) -> Result<Vec<Track>> {
    let (all, mut lanes) = (expectations(world.case.far), Vec::new());
    for (number, reference) in world.case.references.iter().enumerate() {
        // No name is the beginning of another one.
        let lane = Lane::far(world, &format!("far-{number:02}"), reference).await?;
        let own = all.iter().filter(|(leaf, _)| leaf.starts_with(&reference.title("")));
        let own = own.map(|(leaf, effects)| (leaf.clone(), effects.clone())).collect();
        lanes.push(Track::Far(lane, *reference, own));
    }
    Ok(lanes)
}

/// What follows from an edit of each leaf of an object, where nearly the same follows from all of them.
fn alike(
    lane: &Lane,
    live: &DynamicObject,
    effects: &[&str],
    but: &[(&str, &[&str])],
) -> Vec<(String, BTreeSet<String>)> {
    let mut all = Vec::new();
    edits::leaves(&live.data["spec"], "", &mut all);
    let expected = |leaf: String| {
        let title = format!("{} {leaf}", lane.example);
        let exception = but.iter().find(|(start, _)| title.starts_with(start));
        let effects = exception.map_or(effects, |(_, effects)| effects);
        (leaf, effects.iter().map(|effect| (*effect).to_owned()).collect())
    };
    all.into_iter().map(expected).collect()
}

/// An object, and the leaves that are tried on it.
enum Track {
    Near(Lane, Vec<(String, BTreeSet<String>)>),
    Far(Lane, Reference, Vec<(String, BTreeSet<String>)>),
}

async fn run(operator: &Operator, track: &Track) -> Result<Vec<String>> {
    let (Track::Near(lane, leaves) | Track::Far(lane, _, leaves)) = track;
    let case = lane.world.case;
    let (object, another) = match track {
        Track::Near(..) => (&lane.own, case.another),
        Track::Far(..) => (&lane.far.as_ref().context("nothing is far")?.0, case.far_another),
    };
    let mut surprises = missing(case, track, &object.0.get(&object.1).await?);
    let mut before = lane.settled(operator).await?;
    for (leaf, expected) in leaves {
        // The leaves of the object itself are named from its spec on.
        let (short, pointer) = match leaf.rsplit_once(' ') {
            Some((_, pointer)) => (pointer, pointer.to_owned()),
            None => (leaf.as_str(), format!("/spec{leaf}")),
        };
        let live = lane::value(&object.0.get(&object.1).await?, &pointer);
        let Some(live) = live else {
            surprises.push(format!("{leaf} is not there"));
            continue;
        };
        let titles = [leaf.clone(), format!("{} {leaf}", lane.example)];
        let is_refused = case.refused.iter().any(|(refused, _)| titles.iter().any(|title| title == refused));
        match lane::set(object, &pointer, &another(short, &live)).await {
            Err(error) => {
                if !is_refused {
                    surprises.push(format!("{leaf} is refused: {error:#}"));
                }
                continue;
            }
            Ok(()) if is_refused => surprises.push(format!("{leaf} is not refused")),
            Ok(()) => {}
        }
        let after = lane.dealt_with(operator, &before, expected).await;
        let after = after.with_context(|| format!("{leaf} was changed"))?;
        let found = before.changes(&after);
        if found != *expected {
            surprises.push(format!("{leaf}{}", told(expected, &found)));
        }

        // And back again: nothing of it is left.
        lane::set(object, &pointer, &live).await?;
        let again = lane.dealt_with(operator, &after, expected).await;
        let again = again.with_context(|| format!("{leaf} was changed back"))?;
        let left: Vec<_> = before.changes(&again).into_iter().filter(|line| line != "new revision").collect();
        if !left.is_empty() {
            surprises.push(format!("{leaf}, changed back, leaves {left:?}"));
        }
        before = again;
    }
    let unseen = before.changes(&lane.settled(operator).await?);
    if !unseen.is_empty() {
        surprises.push(format!("{} was changed by somebody else: {unseen:?}", lane.own.1));
    }
    Ok(surprises.into_iter().map(|text| format!("{} {}: {text}", case.kind, lane.example)).collect())
}

fn told(expected: &BTreeSet<String>, found: &BTreeSet<String>) -> String {
    let missing = expected.difference(found).map(|line| format!("\n  - {line}"));
    let more = found.difference(expected).map(|line| format!("\n  + {line}"));
    missing.chain(more).collect()
}

/// Leaves that are there and on no list.
fn missing(case: &Case, track: &Track, live: &DynamicObject) -> Vec<String> {
    let mut all = Vec::new();
    let (known, title): (_, &dyn Fn(&str) -> String) = match (track, case.near) {
        (Track::Near(..), Effects::Listed(list)) => (list, &|leaf| leaf.to_owned()),
        // What is tried is what is there.
        (Track::Near(..), Effects::Alike { .. }) => return Vec::new(),
        (Track::Far(_, reference, _), _) => (case.far, &|leaf| reference.title(&format!("/spec{leaf}"))),
    };
    edits::leaves(&live.data["spec"], "", &mut all);
    let known = expectations(known);
    let titles = all.iter().map(|leaf| title(leaf));
    titles.filter(|leaf| !known.contains_key(leaf)).map(|leaf| format!("{leaf} is on no list")).collect()
}
