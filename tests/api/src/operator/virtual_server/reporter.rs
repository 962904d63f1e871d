//! Two writers of one status: the operator, and the pods of the virtual server, which report how its backends do.

use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::kinds::{VirtualMCPServer, VirtualMCPServerPhase};
use thv_api::names::field_managers::{OPERATOR, VMCP};
use thv_testbed::{Exchange, Pattern, Verb, in_namespace};

use super::{NAME, Stage, condition, pair};
use crate::fixture::json_of;
use crate::operator::pods;

/// The conditions that pods write.
const THEIRS: [&str; 2] = ["BackendsDiscovered", "Degraded"];

/// What pods report of backends that are in these states.
fn report(states: &[(&str, &str)]) -> Value {
    let backend = |(name, state): &(&str, &str)| json!({"name": name, "status": state, "url": "http://b"});
    let said = |type_: &str, reason: &str| {
        json!({
            "type": type_, "status": "True", "reason": reason, "message": "by a pod",
            "lastTransitionTime": "2026-11-16T10:00:00Z",
        })
    };
    let ready = states.iter().filter(|(_, state)| *state == "ready").count();
    let mut conditions = vec![said("BackendsDiscovered", "BackendsDiscovered")];
    if ready < states.len() {
        conditions.push(said("Degraded", "BackendsDegraded"));
    }
    json!({
        "discoveredBackends": states.iter().map(backend).collect::<Vec<_>>(), "backendCount": ready,
        "conditions": conditions,
    })
}

impl Stage {
    /// Writes a report the way pods do: without force, as whoever fears to take something over.
    async fn report(&self, status: &Value) -> Result<VirtualMCPServer> {
        let body = json!({
            "apiVersion": VirtualMCPServer::api_version_text(), "kind": "VirtualMCPServer",
            "metadata": {"name": NAME}, "status": status,
        });
        Ok(self.servers().patch_status(NAME, &PatchParams::apply(VMCP), &Patch::Apply(&body)).await?)
    }

    /// Has every pod of the server ready.
    async fn run_pods(&self) -> Result<()> {
        for pod in pods::proxies(&self.space, NAME, |pods| !pods.is_empty()).await? {
            pods::report(&self.space, &pod.name_any(), pods::ready("vmcp")).await?;
        }
        Ok(())
    }

    /// The statuses that the operator has written.
    fn statuses(&self) -> Vec<Exchange> {
        let status = Pattern::verb(Verb::Apply).of("virtualmcpservers").named(NAME).subresource("status");
        self.operator.recorder.log().only(&status).iter().cloned().collect()
    }

    /// Fails the test if the operator has ever written what is the pods'.
    fn assert_apart(&self) {
        let statuses = self.statuses();
        assert!(!statuses.is_empty());
        for write in statuses {
            let status = &write.body.as_ref().unwrap()["status"];
            assert!(status.get("discoveredBackends").is_none(), "{write}: {status}");
            assert!(status.get("backendCount").is_none(), "{write}: {status}");
            for condition in status["conditions"].as_array().into_iter().flatten() {
                assert!(!THEIRS.iter().any(|theirs| condition["type"] == *theirs), "{write}: {condition}");
            }
        }
    }
}

/// Who owns a part of a status.
fn owners(server: &VirtualMCPServer, pointer: &str) -> BTreeSet<String> {
    let entries = server.managed_fields().iter().filter(|entry| entry.subresource.is_some());
    let owned = entries
        .filter(|entry| entry.fields_v1.as_ref().is_some_and(|fields| fields.0.pointer(pointer).is_some()));
    owned.filter_map(|entry| entry.manager.clone()).collect()
}

/// Fails the test unless both have all that they have written, and nothing of the other.
#[track_caller]
fn assert_both(server: &VirtualMCPServer, report: &Value) {
    let status = json_of(server)["status"].clone();
    assert_eq!(status["discoveredBackends"], report["discoveredBackends"]);
    assert_eq!(status["backendCount"], report["backendCount"]);
    let only = |who: &str| BTreeSet::from([who.to_owned()]);
    for field in ["discoveredBackends", "backendCount"] {
        assert_eq!(owners(server, &format!("/f:status/f:{field}")), only(VMCP), "{field}");
    }
    for field in ["phase", "message", "url", "observedGeneration"] {
        assert_eq!(owners(server, &format!("/f:status/f:{field}")), only(OPERATOR), "{field}");
    }
    let theirs: Vec<_> = report["conditions"].as_array().into_iter().flatten().collect();
    let all = status["conditions"].as_array().cloned().unwrap_or_default();
    assert!(theirs.iter().all(|one| all.contains(one)), "{all:?}");
    assert!(all.len() > theirs.len() + 3, "the operator has conditions too: {all:?}");
    for condition in &all {
        let type_ = condition["type"].as_str().unwrap_or_default();
        let expected = if THEIRS.contains(&type_) { VMCP } else { OPERATOR };
        let key = format!("k:{{\"type\":\"{type_}\"}}").replace('~', "~0").replace('/', "~1");
        assert_eq!(owners(server, &format!("/f:status/f:conditions/{key}")), only(expected), "{type_}");
    }
}

#[tokio::test]
async fn s3_06_s3_07_operator_and_pods_write_one_status_in_any_order_and_both_parts_survive() {
    in_namespace(async |space| {
        let stage = Stage::with(&space, json!({})).await?;
        let first = report(&[("a", "ready"), ("b", "unavailable")]);
        let edit = |team: &str| json!({"config": {"metadata": {"team": team}}});

        // The pods after the operator, and the operator after the pods.
        assert_both(&stage.report(&first).await?, &first);
        let server = stage.edit(edit("one")).await?;
        assert_both(&server, &first);
        let second = report(&[("a", "ready"), ("b", "ready")]);
        assert_both(&stage.report(&second).await?, &second);

        // A condition that pods stop reporting goes, and none of the operator's.
        assert_eq!(condition(&stage.servers().get(NAME).await?, "Degraded"), None);
        assert_both(&stage.edit(edit("two")).await?, &second);

        // Both at once, each from what it knew before.
        for round in 0..10 {
            let told = if round % 2 == 0 { &first } else { &second };
            let (reported, edited) =
                tokio::join!(stage.report(told), stage.edit(edit(&format!("round-{round}"))));
            reported?;
            edited?;
            assert_both(&stage.settled().await?, told);
        }
        stage.assert_apart();
        stage.operator.recorder.log().assert_no_put();
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn s3_06_the_phase_is_the_operators_and_follows_what_the_pods_report() {
    in_namespace(async |space| {
        let stage = Stage::with(&space, json!({})).await?;
        let until = async |phase: VirtualMCPServerPhase, ready: (&str, &str)| {
            stage
                .until(&format!("it is {phase:?} and says {ready:?}"), |server| {
                    server.status.as_ref().and_then(|status| status.phase) == Some(phase)
                        && condition(server, "Ready") == pair(ready.0, ready.1)
                })
                .await
        };
        // Whatever is reported, without pods nobody can be called.
        let good = report(&[("a", "ready"), ("b", "unauthenticated")]);
        stage.report(&good).await?;
        until(VirtualMCPServerPhase::Pending, ("False", "DeploymentNotReady")).await?;
        stage.run_pods().await?;
        until(VirtualMCPServerPhase::Ready, ("True", "DeploymentReady")).await?;
        for (states, reason) in [
            ([("a", "ready"), ("b", "unavailable")], "BackendsDegraded"),
            ([("a", "unavailable"), ("b", "degraded")], "BackendsUnavailable"),
            ([("a", "unknown"), ("b", "unknown")], "BackendsUnknown"),
        ] {
            let told = report(&states);
            stage.report(&told).await?;
            assert_both(&until(VirtualMCPServerPhase::Degraded, ("False", reason)).await?, &told);
        }
        // A report restarts nothing.
        stage.report(&good).await?;
        until(VirtualMCPServerPhase::Ready, ("True", "DeploymentReady")).await?;
        assert_eq!(stage.operator.rollouts(NAME).await?, 1);
        let is_theirs = |pod: &Pod| pod.owner_references().iter().any(|owner| owner.kind == "ReplicaSet");
        assert!(pods::proxies(&space, NAME, |pods| pods.iter().all(is_theirs)).await?.len() == 1);
        stage.assert_apart();
        Ok(())
    })
    .await;
}
