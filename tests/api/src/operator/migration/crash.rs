//! A migration that is cut short goes on where it was, because the cluster is its only state.

use anyhow::{Context, Result};
use thv_testbed::{Moment, Pattern};

use super::super::alone::on_own_cluster;
use super::stage::{RELICS, Stage, looks_at};

const COUNT: usize = 2;

/// An Event that it begins, the relics, the CRD, and an Event that it is done.
const WRITES: usize = COUNT + 3;

#[tokio::test]
async fn g1_a_crash_after_any_write_of_a_migration_ends_in_the_same_state_and_stores_nothing_twice()
-> Result<()> {
    on_own_cluster(async |bed| {
        let (stage, mut operator) = Stage::with_relics(bed, COUNT).await?;
        // From one version to the other and back.
        for (crash, version) in (0..WRITES).zip(["v1beta1", "v1alpha1"].into_iter().cycle()) {
            let what = format!("crash after write {crash}, to {version}");
            let before = stage.versions().await?;
            let mark = operator.recorder.mark();
            let mut breakpoint = operator.recorder.breakpoint(Pattern::write(), crash, Moment::AfterCommit);
            stage.store_relics_as(version).await?;
            breakpoint.hit().await.with_context(|| what.clone())?;
            operator.subject.kill().await?;
            drop(breakpoint);
            let halfway = stage.versions().await?;
            let count = before.iter().zip(&halfway).filter(|(old, new)| old != new).count();
            assert_eq!(count, crash.min(COUNT), "{what}: each write is one relic");

            let restart = operator.recorder.mark();
            operator.subject.restart().await?;
            operator.trims(&stage, RELICS, version).await.with_context(|| what.clone())?;
            if crash < COUNT + 1 {
                operator.rests(restart, RELICS).await?;
            } else {
                // All was done: it looks at the CRD once, and at no object.
                operator.recorder.seen(restart, &looks_at(RELICS)).await?;
            }
            let after = stage.versions().await?;
            for ((old, halfway), new) in before.iter().zip(&halfway).zip(&after) {
                assert!(new != old && (halfway == old || halfway == new), "{what}: {old}, {halfway}, {new}");
            }
            operator.recorder.since(mark).assert_no_put();
        }
        Ok(())
    })
    .await
}
