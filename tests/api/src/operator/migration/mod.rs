//! The storage-version migrator, on clusters of its own: it works on all of a cluster.

mod crash;
mod disturbed;
mod rights;
mod stage;
mod switch;

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use kube::api::{DynamicObject, ListParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_testbed::{Fault, Moment, Pattern, RequestLog, Verb};

use self::stage::{GRACE, Operator, RELICS, Stage, looks_at, relic, rewrites, trimming};
use super::alone::{NAMESPACE, on_own_cluster};

/// More than fit on one page of a list.
const MANY: usize = 120;

/// Objects by name, without their resourceVersion.
async fn content(api: &Api<DynamicObject>) -> Result<BTreeMap<String, Value>> {
    let list = api.list(&ListParams::default()).await?;
    let content = list.items.into_iter().map(|mut object| {
        object.metadata.resource_version = None;
        Ok((object.name_any(), serde_json::to_value(object)?))
    });
    content.collect()
}

fn lists() -> Pattern {
    Pattern::verb(Verb::List).of("relics")
}

#[tokio::test]
async fn s3_04_objects_in_a_former_version_are_stored_anew_by_patches_of_nothing_but_their_resource_version()
-> Result<()> {
    on_own_cluster(async |bed| {
        let (stage, operator) = Stage::with_relics(bed, MANY).await?;
        let relics = stage.relics("v1alpha1");
        let (before, versions) = (content(&relics).await?, stage.versions().await?);
        let mark = operator.recorder.mark();
        stage.store_relics_as("v1beta1").await?;
        operator.trims(&stage, RELICS, "v1beta1").await?;
        operator.rests(mark, RELICS).await?;

        let after = stage.versions().await?;
        assert!(versions.iter().zip(&after).all(|(old, new)| old != new), "each is stored anew");
        assert_eq!(content(&relics).await?, before, "nothing but the resourceVersions has changed");
        let log = operator.recorder.since(mark);
        assert_rewritten_once(&log, &versions);
        assert_trimmed_and_told(&log)?;
        let looked = log.only(&looks_at(RELICS)).iter().next().context("no look")?.at;
        let first = log.only(&rewrites()).iter().next().context("no rewrite")?.at;
        assert!(first.duration_since(looked) >= GRACE, "it has not waited for other API servers");

        comes_back_although_a_list_expires(&stage, &operator).await?;
        // Now a release can drop the version that nothing is stored in any more.
        stage.serve_relics_only_as("v1alpha1").await?;
        assert_eq!(content(&relics).await?, before);
        Ok(())
    })
    .await
}

/// Fails the test unless each relic was stored anew by one patch of its resourceVersion, and found on pages of metadata.
#[track_caller]
fn assert_rewritten_once(log: &RequestLog, versions: &[String]) {
    log.assert_no_put();
    for (number, version) in versions.iter().enumerate() {
        let name = relic(number);
        let path = format!("/apis/toolhive.stacklok.dev/v1beta1/namespaces/{NAMESPACE}/relics/{name}");
        let empty = json!({"metadata": {"resourceVersion": version}});
        let sent = log.only(&rewrites().named(&name));
        let sent: Vec<_> = sent.iter().map(|it| (&it.path, it.body.as_ref(), it.answered)).collect();
        assert_eq!(sent, [(&path, Some(&empty), Some(200))], "{name}");
    }
    let lists = log.only(&lists());
    assert_eq!(lists.len(), 2, "{lists}");
    for list in lists.iter() {
        assert!(list.accept.contains("as=PartialObjectMetadataList"), "{}", list.accept);
        assert_eq!(list.query.get("limit").map(String::as_str), Some("100"));
    }
}

/// Fails the test unless all that was written beyond the relics is an Event at the begin, the trimmed CRD, and an Event at
/// the end.
fn assert_trimmed_and_told(log: &RequestLog) -> Result<()> {
    let others: Vec<_> = log.writes().iter().filter(|it| it.resource != "relics").cloned().collect();
    let [begun, trimmed, ended] = others.as_slice() else { anyhow::bail!("{others:?}") };
    assert!(trimming(RELICS).matches(trimmed), "{trimmed}");
    let body = trimmed.body.as_ref().context("no body")?;
    assert!(body["metadata"]["resourceVersion"].is_string(), "{body}");
    assert_eq!(body["status"], json!({"storedVersions": ["v1beta1"]}));
    let notes = [
        (begun, "Started", "120 objects may be stored in v1alpha1 and are being stored in v1beta1"),
        (ended, "Succeeded", "all objects are stored in v1beta1; 120 were not before"),
    ];
    for (event, reason, note) in notes {
        assert_eq!(
            (event.path.as_str(), event.told),
            ("/apis/events.k8s.io/v1/namespaces/default/events", Some(201))
        );
        let event = event.body.as_ref().context("no body")?;
        assert_eq!(event["reason"], format!("StorageVersionMigration{reason}"));
        assert_eq!((&event["note"], &event["type"]), (&json!(note), &json!("Normal")));
        assert_eq!((&event["action"], &event["regarding"]["name"]), (&json!("Migrate"), &json!(RELICS)));
        assert_eq!(event["reportingController"], "storageversionmigrator-controller");
    }
    Ok(())
}

/// Has all relics stored in v1alpha1 again, while the API server forgets where a list was: it is begun anew, and what is
/// remembered takes no request.
async fn comes_back_although_a_list_expires(stage: &Stage, operator: &Operator) -> Result<()> {
    let mark = operator.recorder.mark();
    let mut halfway = operator.recorder.breakpoint(rewrites(), MANY / 2, Moment::Before);
    stage.store_relics_as("v1alpha1").await?;
    halfway.hit().await?;
    operator.recorder.fail(lists(), 1, Fault::Answer(410));
    halfway.release();
    operator.trims(stage, RELICS, "v1alpha1").await?;
    let told: Vec<_> = operator.recorder.since(mark).only(&lists()).iter().map(|it| it.told).collect();
    assert_eq!(told, [200, 410, 200, 200].map(Some));
    for number in 0..MANY {
        assert_eq!(operator.rewrites(mark, &relic(number)), [Some(200)], "{number}");
    }
    Ok(())
}
