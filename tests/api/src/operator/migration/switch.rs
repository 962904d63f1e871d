//! Who migrates what: an operator that was told to, that looks after the whole cluster, and that leads; and the kinds that
//! have opted in.

use std::collections::BTreeMap;

use anyhow::Result;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use thv_api::names::{env, labels};
use thv_testbed::{Exchange, Mark, Pattern, Verb, in_namespace};

use super::super::alone::on_own_cluster;
use super::super::leadership::looks_at_the_lease;
use super::super::{Operator, minimal};
use super::stage::{ON, RELICS, RUINS, Stage, looks_at};
use crate::fixture::{store_as, stored_versions};

/// Everything that is about CRDs.
fn about_crds() -> Pattern {
    Pattern::any().of("customresourcedefinitions")
}

#[tokio::test]
async fn an_operator_of_some_namespaces_does_not_migrate_and_says_why() {
    in_namespace(async |space| {
        let operator = Operator::start_with(&space, &BTreeMap::from([ON])).await?;
        operator.server("s", minimal()).await?;
        operator.recorder.log().only(&about_crds()).assert_empty("request about CRDs");
        let output = operator.subject.output();
        assert!(output.contains("the storage-version migrator stays off"), "{output}");
        assert!(output.contains(env::WATCH_NAMESPACE), "{output}");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_operator_that_is_told_neither_yes_nor_no_does_not_start() {
    in_namespace(async |space| {
        let environment = BTreeMap::from([(env::ENABLE_STORAGE_VERSION_MIGRATOR, "maybe")]);
        let mut operator = Operator::start_with(&space, &environment).await?;
        assert!(!operator.subject.exit().await?.success());
        let output = operator.subject.output();
        assert!(
            output.contains(env::ENABLE_STORAGE_VERSION_MIGRATOR) && output.contains("maybe"),
            "{output}"
        );
        operator.recorder.log().assert_empty("request");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn only_kinds_that_have_opted_in_are_migrated_and_only_by_an_operator_that_is_told_to_and_leads()
-> Result<()> {
    on_own_cluster(async |bed| {
        let stage = Stage::new(bed).await?;
        stage.grant_test_kinds().await?;
        stage.define("ruins", "Ruin", "false").await?;
        stage.make_relics(1).await?;
        let mut leader = stage.start(&[ON], &["--leader-elect"]).await?;
        leader.recorder.seen(Mark::default(), &looks_at(RELICS)).await?;
        let other = stage.start(&[ON], &["--leader-elect"]).await?;
        looks_at_the_lease(&other.recorder, Mark::default()).await?;
        let untold = stage.start(&[], &[]).await?;
        untold.recorder.seen(Mark::default(), &Pattern::verb(Verb::Watch).of("mcpservers")).await?;

        let mark = leader.recorder.mark();
        store_as(&stage.definitions, RUINS, "v1beta1").await?;
        stage.store_relics_as("v1beta1").await?;
        leader.trims(&stage, RELICS, "v1beta1").await?;
        leader.rests(mark, RELICS).await?;
        let is_about_ruins = |it: &&Exchange| it.resource == "ruins" || it.name.as_deref() == Some(RUINS);
        assert_eq!(leader.recorder.log().iter().find(is_about_ruins).map(Exchange::to_string), None);
        looks_at_the_lease(&other.recorder, other.recorder.mark()).await?;
        for idle in [&other, &untold] {
            idle.recorder.log().only(&about_crds()).assert_empty("request about CRDs");
        }

        leader.subject.terminate()?;
        assert!(leader.subject.exit().await?.success(), "{}", leader.subject.output());
        assert_eq!(stored_versions(&stage.definitions.get(RUINS).await?), ["v1alpha1", "v1beta1"]);
        let label = json!({"metadata": {"labels": {labels::AUTO_MIGRATE_STORAGE_VERSION: "true"}}});
        stage.definitions.patch(RUINS, &PatchParams::default(), &Patch::Merge(label)).await?;
        other.trims(&stage, RUINS, "v1beta1").await?;
        untold.recorder.log().only(&about_crds()).assert_empty("request about CRDs");
        Ok(())
    })
    .await
}
