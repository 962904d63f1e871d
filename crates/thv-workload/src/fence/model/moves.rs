//! What can happen next.

use thv_plan::{Applied, Token};

use super::super::{Action, Belonging, Mark, Me, ObjectView, OwnerView, Present, Refusal, Stamp, decide};
use super::{Bounds, Budget, Content, Minting, Operator, Pod, Rendered, Server, Set, State, revision};

/// Tells of every move: whether the system makes it by itself, and what comes of it.
pub(super) fn moves(
    state: &State,
    bounds: Bounds,
    violations: &mut Vec<&'static str>,
    tell: &mut impl FnMut(bool, State),
) {
    accidents(state, tell);
    collections(state, tell);
    for index in 0..state.operators.len() {
        operate(state, bounds, index, tell);
    }
    pods(state, bounds, violations, tell);
}

/// Users, and what happens to objects.
fn accidents(state: &State, tell: &mut impl FnMut(bool, State)) {
    let State { server, budget, .. } = state;
    let mut spend = |left: u8, spent: Budget, next: State| {
        if left > 0 {
            tell(false, State { budget: spent, ..next });
        }
    };
    let with =
        |server: Server| State { server: Server { version: server.version + 1, ..server }, ..state.clone() };
    let mut contents: Vec<Content> = vec![server.wanted + 1, 1];
    contents.retain(|content| *content != server.wanted);
    for wanted in contents {
        let spent = Budget { edits: budget.edits.saturating_sub(1), ..*budget };
        spend(budget.edits, spent, with(Server { wanted, ..*server }));
    }
    let spent = Budget { recreations: budget.recreations.saturating_sub(1), ..*budget };
    let anew = Server { uid: server.uid + 1, wanted: server.wanted + 1, revision: (0, 0), ..*server };
    spend(budget.recreations, spent, with(anew));
    if state.deployment.is_some() {
        let spent = Budget { deployment_deletions: budget.deployment_deletions.saturating_sub(1), ..*budget };
        spend(budget.deployment_deletions, spent, State { deployment: None, ..state.clone() });
    }
    if state.set.is_some() {
        let spent = Budget { set_deletions: budget.set_deletions.saturating_sub(1), ..*budget };
        spend(budget.set_deletions, spent, State { set: None, ..state.clone() });
    }
    if server.revision.0 > 0 {
        let spent = Budget { losses: budget.losses.saturating_sub(1), ..*budget };
        spend(budget.losses, spent, with(Server { revision: (0, 0), ..*server }));
    }
    if state.first.0 > 0 && server.revision != state.first {
        let spent = Budget { rollbacks: budget.rollbacks.saturating_sub(1), ..*budget };
        spend(budget.rollbacks, spent, with(Server { revision: state.first, ..*server }));
    }
}

/// The garbage collector.
fn collections(state: &State, tell: &mut impl FnMut(bool, State)) {
    if state.deployment.is_some_and(|it| it.uid != state.server.uid) {
        tell(true, State { deployment: None, ..state.clone() });
    }
    if state.set.is_some_and(|it| it.applied.uid != state.server.uid) {
        tell(true, State { set: None, ..state.clone() });
    }
}

fn operate(state: &State, bounds: Bounds, index: usize, tell: &mut impl FnMut(bool, State)) {
    let State { server, deployment, set, .. } = state;
    let decided = |server: Server, deployment, set| revision(bounds.minting, server, deployment, set);
    let to = |operator: Operator| {
        let mut next = state.clone();
        next.operators[index] = operator;
        next
    };
    match state.operators[index] {
        Operator::Idle => {
            let (number, is_new) = decided(*server, *deployment, *set);
            let rendered = Rendered { uid: server.uid, number, content: server.wanted };
            if is_new || state.file != server.wanted || *deployment != Some(rendered) {
                tell(true, to(Operator::Looked(*deployment, *set)));
            }
        }
        Operator::Looked(deployment, set) => tell(true, to(Operator::Read(*server, deployment, set))),
        Operator::Read(seen, deployment, set) => {
            let (number, is_new) = decided(seen, deployment, set);
            let rendered = |server: Server| Rendered { uid: server.uid, number, content: server.wanted };
            if !is_new {
                tell(true, to(Operator::Minted(rendered(seen))));
            } else if seen == *server || bounds.minting == Minting::Unguarded {
                let mut next = to(Operator::Minted(rendered(*server)));
                next.server.version += 1;
                next.server.revision = (number, server.wanted);
                if next.first.0 == 0 {
                    next.first = next.server.revision;
                }
                tell(true, next);
            } else {
                tell(true, to(Operator::Idle));
            }
        }
        Operator::Minted(rendered) => {
            tell(true, State { file: rendered.content, ..to(Operator::ConfigWritten(rendered)) });
        }
        Operator::ConfigWritten(rendered) => {
            tell(true, State { deployment: Some(rendered), ..to(Operator::Idle) });
        }
    }
}

/// The Deployment's controller, the kubelet, and the proxies themselves.
fn pods(
    state: &State,
    bounds: Bounds,
    violations: &mut Vec<&'static str>,
    tell: &mut impl FnMut(bool, State),
) {
    if let Some(born) = state.deployment
        && state.pods.len() < bounds.pods
        && state.pods.iter().all(|pod| pod.born != born)
    {
        let mut next = state.clone();
        next.pods.push(Pod { born, file: state.file, view: None });
        tell(true, next);
    }
    for (index, pod) in state.pods.iter().enumerate() {
        let with = |pod: Pod| {
            let mut next = state.clone();
            next.pods[index] = pod;
            next
        };
        if state.deployment != Some(pod.born) {
            let mut next = state.clone();
            next.pods.remove(index);
            tell(true, next);
        }
        if pod.file != state.file {
            tell(true, with(Pod { file: state.file, ..*pod }));
        }
        match pod.view {
            None => {
                if state.set.is_none_or(|set| set.applied != pod.born) {
                    let view = Some((state.set, state.server.uid, state.server.revision.0));
                    tell(true, with(Pod { view, ..*pod }));
                }
            }
            Some(view) => {
                let (set, sets) = act(state, *pod, view, violations);
                tell(true, State { set, sets, ..with(Pod { view: None, ..*pod }) });
            }
        }
    }
}

/// The write that follows from what a proxy has read, if its preconditions hold: the StatefulSet, and how many there were.
fn act(
    state: &State,
    pod: Pod,
    (seen, owner, newest): (Option<Set>, u8, u8),
    violations: &mut Vec<&'static str>,
) -> (Option<Set>, u8) {
    let unchanged = (state.set, state.sets);
    if pod.file != pod.born.content {
        return unchanged;
    }
    let version = |set: Option<Set>| set.map(|set| (set.uid, set.version));
    let is_current = seen.is_some() && version(seen) == version(state.set);
    match (decision(pod, seen, owner, newest), state.set) {
        (Action::Refuse(Refusal::Tie), _) => {
            violations.push("two contents under one revision");
            unchanged
        }
        (Action::Create, None) => {
            let uid = state.sets + 1;
            (Some(Set { uid, version: 1, applied: pod.born }), uid)
        }
        (Action::Update { .. }, Some(set)) if is_current => {
            if set.applied.uid != pod.born.uid || set.applied.number > pod.born.number {
                violations.push("a write went backwards");
            }
            (Some(Set { version: set.version + 1, applied: pod.born, ..set }), state.sets)
        }
        (Action::DeleteAlien, Some(set)) if seen.is_some_and(|seen| seen.uid == set.uid) => {
            (None, state.sets)
        }
        (
            Action::Superseded(_)
            | Action::Settle
            | Action::Create
            | Action::Update { .. }
            | Action::DeleteAlien
            | Action::ReadAgain
            | Action::AwaitEnd
            | Action::Refuse(Refusal::Taken(_)),
            _,
        ) => unchanged,
    }
}

/// What the fence says.
fn decision(pod: Pod, seen: Option<Set>, owner: u8, newest: u8) -> Action {
    let token = |rendered: Rendered| Token { uid: rendered.uid.to_string(), number: rendered.number.into() };
    let mine = token(pod.born);
    let digest = pod.born.content.to_string();
    let me = Me { token: Some(&mine), generation: 0, digest: &digest };
    let owner = OwnerView::Present {
        uid: owner.to_string(),
        is_going: false,
        revision: Some(newest.into()).filter(|newest| *newest > 0),
    };
    let object = match seen {
        None => ObjectView::Absent,
        Some(Set { applied, .. }) => ObjectView::Present(Present {
            mark: Mark::Is(Applied { token: token(applied), digest: applied.content.to_string() }),
            stamp: Stamp::Absent,
            belongs: Belonging::Server(applied.uid.to_string()),
            is_going: false,
        }),
    };
    decide(&me, &owner, &object)
}
