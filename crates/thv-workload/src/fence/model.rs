//! Every interleaving of edits, accidents, operators, kubelets and proxies, within a budget.
//!
//! States are explored breadth first. The operators decide with the code of `thv-plan`, the proxies with that of this
//! crate. What must hold: no write goes backwards, no revision has two contents, and from every state the system can
//! still get to where it should be without help. The variants at the end are weaker, and must fail.

mod moves;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use thv_plan::{Decision, Records, Revision};

use moves::moves;

/// A content, of which only the identity matters.
type Content = u8;

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Server {
    uid: u8,
    version: u8,
    wanted: Content,
    /// The annotation: a number and the content that it names; zero if there is none.
    revision: (u8, Content),
}

/// What a Deployment was rendered for, and with it the pods of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Rendered {
    uid: u8,
    number: u8,
    content: Content,
}

/// The StatefulSet: its own uid and version, and what was applied to it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Set {
    uid: u8,
    version: u8,
    applied: Rendered,
}

/// A pod of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pod {
    born: Rendered,
    /// The configuration file that it sees.
    file: Content,
    /// What it has read and not acted upon yet: the StatefulSet, and uid and number of the server.
    view: Option<(Option<Set>, u8, u8)>,
}

/// An operator, which looks at the children, then at the server, mints, writes the configuration, and the Deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operator {
    Idle,
    Looked(Option<Rendered>, Option<Set>),
    Read(Server, Option<Rendered>, Option<Set>),
    Minted(Rendered),
    ConfigWritten(Rendered),
}

/// How often the world may still interfere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Budget {
    edits: u8,
    recreations: u8,
    deployment_deletions: u8,
    set_deletions: u8,
    losses: u8,
    rollbacks: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    server: Server,
    deployment: Option<Rendered>,
    file: Content,
    set: Option<Set>,
    pods: Vec<Pod>,
    operators: Vec<Operator>,
    budget: Budget,
    /// How many StatefulSets there were.
    sets: u8,
    /// The first annotation ever, which an exported manifest can bring back.
    first: (u8, Content),
}

/// How operators decide. All but the first are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Minting {
    /// As they do.
    Real,
    /// A number from what was read, for whatever is there by now: without a precondition.
    Unguarded,
    /// Counting from the Deployment alone.
    FromDeployment,
    /// Counting from all records, but not from the version of the server.
    WithoutVersion,
    /// With a digest that is the same for different configurations.
    BlindDigest,
}

#[derive(Clone, Copy)]
struct Bounds {
    budget: Budget,
    pods: usize,
    operators: usize,
    minting: Minting,
}

/// Edits, recreations, deletions of the Deployment and of the StatefulSet, pods, operators, losses and rollbacks.
fn bounds([edits, recreations, deployments, sets, pods, operators, losses, rollbacks]: [u8; 8]) -> Bounds {
    Bounds {
        budget: Budget {
            edits,
            recreations,
            deployment_deletions: deployments,
            set_deletions: sets,
            losses,
            rollbacks,
        },
        pods: pods.into(),
        operators: operators.into(),
        minting: Minting::Real,
    }
}

/// The operator's decision: the number, and whether it has to be minted.
fn revision(minting: Minting, server: Server, deployment: Option<Rendered>, set: Option<Set>) -> (u8, bool) {
    let digest = |content: Content| {
        let content = if minting == Minting::BlindDigest { 0 } else { content };
        content.to_string()
    };
    let deployment = deployment.filter(|it| it.uid == server.uid);
    if minting == Minting::FromDeployment {
        return match deployment {
            Some(it) if it.content == server.wanted => (it.number, false),
            Some(it) => (it.number + 1, true),
            None => (1, true),
        };
    }
    let record = |number: u8, content| Revision { number: number.into(), digest: digest(content) };
    let records = Records {
        owner: Some(server.revision).filter(|it| it.0 > 0).map(|it| record(it.0, it.1)),
        deployment: deployment.map(|it| record(it.number, it.content)),
        backend: set.map(|set| set.applied).filter(|it| it.uid == server.uid).map(|it| it.number.into()),
    };
    let version = if minting == Minting::WithoutVersion { 0 } else { server.version };
    let decision = thv_plan::decide(&records, &digest(server.wanted), version.into());
    let number = u8::try_from(decision.revision().number).expect("few numbers are used");
    (number, matches!(decision, Decision::Mint(_)))
}

fn is_converged(state: &State) -> bool {
    state
        .set
        .is_some_and(|set| set.applied.uid == state.server.uid && set.applied.content == state.server.wanted)
}

/// What an exploration found.
#[derive(Debug, PartialEq, Eq)]
struct Findings {
    states: usize,
    /// What must not happen, and did.
    violations: Vec<&'static str>,
    /// How many states there are from which the system does not get to where it should be.
    stuck: usize,
}

fn explore(bounds: Bounds) -> Findings {
    let start = State {
        server: Server { uid: 1, version: 0, wanted: 1, revision: (0, 0) },
        deployment: None,
        file: 0,
        set: None,
        pods: Vec::new(),
        operators: vec![Operator::Idle; bounds.operators],
        budget: bounds.budget,
        sets: 0,
        first: (0, 0),
    };
    let mut index: HashMap<State, usize, BuildHasherDefault<DefaultHasher>> = HashMap::default();
    index.insert(start.clone(), 0);
    let mut states = vec![start];
    // From where the system gets to a state by itself.
    let mut into: Vec<Vec<usize>> = vec![Vec::new()];
    let mut violations = Vec::new();
    let mut at = 0;
    while at < states.len() {
        let state = states[at].clone();
        moves(&state, bounds, &mut violations, &mut |by_system, next| {
            let there = *index.entry(next).or_insert_with_key(|next| {
                states.push(next.clone());
                into.push(Vec::new());
                states.len() - 1
            });
            if by_system {
                into[there].push(at);
            }
        });
        at += 1;
    }
    let mut able: Vec<bool> = states.iter().map(is_converged).collect();
    let mut todo: Vec<usize> = (0..states.len()).filter(|state| able[*state]).collect();
    while let Some(state) = todo.pop() {
        for &before in &into[state] {
            if !std::mem::replace(&mut able[before], true) {
                todo.push(before);
            }
        }
    }
    violations.sort_unstable();
    violations.dedup();
    Findings { states: states.len(), violations, stuck: able.iter().filter(|able| !**able).count() }
}

#[test]
fn s0_04_no_interleaving_goes_backwards_or_gets_stuck() {
    for (budget, states) in [([1, 0, 1, 1, 2, 1, 1, 1], 46_189), ([2, 0, 0, 1, 2, 1, 0, 0], 5_432)] {
        let found = explore(bounds(budget));
        assert_eq!(found, Findings { states, violations: vec![], stuck: 0 }, "{budget:?}");
    }
}

#[test]
fn s0_04_nor_does_any_when_the_server_is_made_anew() {
    let found = explore(bounds([1, 1, 0, 0, 1, 1, 0, 0]));
    assert_eq!((found.violations, found.stuck), (vec![], 0));
    assert!(found.states > 1_000, "{}", found.states);
}

#[test]
fn weaker_ways_of_minting_are_caught() {
    for (minting, budget) in [
        (Minting::Unguarded, [1, 0, 0, 0, 1, 2, 0, 0]),
        (Minting::FromDeployment, [1, 0, 1, 0, 2, 1, 0, 0]),
        (Minting::WithoutVersion, [1, 0, 1, 1, 1, 1, 1, 0]),
        (Minting::BlindDigest, [1, 0, 0, 0, 1, 1, 0, 0]),
    ] {
        let found = explore(Bounds { minting, ..bounds(budget) });
        assert!(!found.violations.is_empty() && found.stuck > 0, "{minting:?}: {found:?}");
        // It is the weakness that is caught, not the budget.
        let real = explore(bounds(budget));
        assert_eq!((real.violations, real.stuck), (vec![], 0), "{budget:?}");
    }
}
