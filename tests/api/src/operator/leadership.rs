//! Two operators, of which one works.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::json;
use thv_testbed::{Exchange, Mark, Moment, Pattern, Recorder, Space, Verb, in_namespace, wait};

use super::difference::{Children, places};
use super::{Operator, Program, minimal};

const LEASE: &str = "toolhive-operator-leader-election";
/// How long a leader that says nothing stays one.
const DURATION: SignedDuration = SignedDuration::from_secs(15);

/// The name of the host of both operators, as if they were on the network of one node.
const HOST: &str = "node-1";

/// A leader that has made the server `s`, and one that waits for its turn.
async fn two(space: &Space) -> Result<(Operator, Operator)> {
    Box::pin(Program::Shipped.prepare(space)).await?;
    let environment = BTreeMap::from([("HOSTNAME", HOST)]);
    let candidate = async || Operator::run(Program::Shipped, space, &environment, &["--leader-elect"]).await;
    let leader = candidate().await?;
    leader.server("s", minimal()).await?;
    let other = candidate().await?;
    looks_at_the_lease(&other.recorder, Mark::default()).await?;
    Ok((leader, other))
}

/// Waits until an operator has looked at the Lease and been told who leads, twice over: what it did of the first answer
/// it has done when it looks again.
pub(super) async fn looks_at_the_lease(recorder: &Recorder, mark: Mark) -> Result<()> {
    let look = Pattern::verb(Verb::Get).of("leases");
    recorder.seen(mark, &look).await?;
    recorder.seen(recorder.mark(), &look).await.map(drop)
}

async fn lease(space: &Space) -> Result<LeaseSpec> {
    space.api::<Lease>().get(LEASE).await?.spec.context("the lease has no spec")
}

/// Waits until somebody else leads than `before` says.
async fn successor(space: &Space, before: &LeaseSpec) -> Result<LeaseSpec> {
    let is_new = |lease: &Lease| {
        let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_ref());
        holder.is_some_and(|holder| !holder.is_empty()) && holder != before.holder_identity.as_ref()
    };
    let lease = wait::until(&space.api::<Lease>(), LEASE, "somebody else leads", is_new).await?;
    lease.spec.context("the lease has no spec")
}

/// Fails the test unless a person can tell from the Lease where its holder runs.
#[track_caller]
fn assert_tells_the_host(lease: &LeaseSpec) {
    let holder = lease.holder_identity.as_deref().unwrap_or_default();
    assert!(holder.strip_prefix(HOST).is_some_and(|rest| rest.len() > 1), "{holder}");
}

fn renewed(lease: &LeaseSpec) -> Timestamp {
    lease.renew_time.as_ref().expect("a lease is renewed").0
}

fn acquired(lease: &LeaseSpec) -> Timestamp {
    lease.acquire_time.as_ref().expect("a lease is acquired").0
}

/// Fails the test if an operator has written anything but the Lease.
#[track_caller]
fn assert_idle(operator: &Operator, mark: Mark) {
    let log = operator.recorder.since(mark).writes();
    let writes: Vec<_> =
        log.iter().filter(|write| write.resource != "leases").map(Exchange::to_string).collect();
    assert!(writes.is_empty(), "one that does not lead has written: {writes:#?}");
}

/// Shows that a new leader applies every child of `s` once, that nothing moves by it, and that nothing else is written.
async fn finds_all_as_it_should_be(leader: &Operator, mark: Mark, before: &Children) -> Result<()> {
    leader.recorder.seen(mark, &Pattern::verb(Verb::Apply).of("deployments").named("s").whole()).await?;
    leader.outlast("new-leader").await?;
    let after = leader.children().await?;
    assert_eq!(before.versions(), after.versions());
    assert_eq!(before.changes(&after), places([]));
    let mut paths = std::collections::BTreeSet::new();
    for write in leader.writes(mark) {
        assert_eq!((write.verb, write.told, &write.subresource), (Verb::Apply, Some(200), &None), "{write}");
        assert!(paths.insert(write.path.clone()), "{write} comes twice");
    }
    assert_eq!(paths.len(), before.versions().len(), "{paths:?}");
    Ok(())
}

#[tokio::test]
async fn g1_another_leads_when_the_lease_of_a_killed_leader_has_run_out() {
    in_namespace(async |space| {
        let (mut leader, other) = two(&space).await?;
        leader.edit("s", json!({"spec": {"image": "localhost/server:2"}})).await?;
        assert_idle(&other, Mark::default());
        let (before, mark) = (leader.children().await?, other.recorder.mark());

        leader.subject.kill().await?;
        let old = lease(&space).await?;
        let new = successor(&space, &old).await?;
        assert!(acquired(&new).duration_since(renewed(&old)) >= DURATION, "{old:?} {new:?}");
        assert_eq!(new.lease_transitions, old.lease_transitions.map(|count| count + 1));
        finds_all_as_it_should_be(&other, mark, &before).await?;

        // It does the work from then on.
        other.edit("s", json!({"spec": {"image": "localhost/server:3"}})).await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn g1_a_leader_that_stood_still_writes_nothing_before_it_leads_again() {
    in_namespace(async |space| {
        let (leader, mut other) = two(&space).await?;
        // It stands still in the middle of a pass, with writes left to do.
        let first = Pattern::verb(Verb::Apply).of("configmaps").named("s-runconfig");
        let mut breakpoint = leader.recorder.breakpoint(first, 0, Moment::AfterCommit);
        let image = |tag: &str| json!({"spec": {"image": format!("localhost/server:{tag}")}});
        let edit = kube::api::Patch::Merge(image("2"));
        leader.servers().patch("s", &kube::api::PatchParams::default(), &edit).await?;
        breakpoint.hit().await?;
        leader.subject.pause()?;
        let old = lease(&space).await?;
        let new = successor(&space, &old).await?;
        assert!(acquired(&new).duration_since(renewed(&old)) >= DURATION, "{old:?} {new:?}");
        // The other one ends what was begun, and does something of its own.
        other.edit("s", image("3")).await?;
        let before = other.children().await?;

        let mark = leader.recorder.mark();
        breakpoint.release();
        leader.subject.resume()?;
        looks_at_the_lease(&leader.recorder, mark).await?;
        assert_idle(&leader, mark);
        other.edit("s", image("4")).await?;
        other.edit("s", image("3")).await?;
        looks_at_the_lease(&leader.recorder, leader.recorder.mark()).await?;
        assert_idle(&leader, mark);
        assert_eq!(lease(&space).await?.holder_identity, new.holder_identity);
        let mut left = before.changes(&other.children().await?);
        left.retain(|place| !place.contains("revision") && !place.contains("REVISION"));
        left.retain(|place| !place.contains("generation") && !place.contains("checksum"));
        assert_eq!(left, places([]));

        // When it is its turn again, it works again.
        other.subject.kill().await?;
        successor(&space, &new).await?;
        leader.edit("s", image("5")).await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn g1_a_leader_that_is_asked_to_end_gives_the_lease_back() {
    in_namespace(async |space| {
        let (mut leader, other) = two(&space).await?;
        let (before, mark) = (leader.children().await?, other.recorder.mark());
        let old = lease(&space).await?;
        leader.subject.terminate()?;
        assert!(leader.subject.exit().await?.success(), "{}", leader.subject.output());
        let last = leader.recorder.log().only(&Pattern::write()).iter().last().cloned();
        let last = last.context("it has written nothing")?;
        assert_eq!((last.resource.as_str(), last.told), ("leases", Some(200)), "{last}");
        assert_eq!(last.body.context("it has sent nothing")?["spec"]["holderIdentity"], "");

        let new = successor(&space, &old).await?;
        assert_tells_the_host(&old);
        assert_tells_the_host(&new);
        let waited = acquired(&new).duration_since(renewed(&old));
        assert!(waited < SignedDuration::from_secs(10), "{waited:?}: {old:?} {new:?}");
        finds_all_as_it_should_be(&other, mark, &before).await
    })
    .await;
}
