//! Programs under test, with `kubectl` as one.

use k8s_openapi::api::core::v1::ConfigMap;
use thv_testbed::{Mark, Moment, Pattern, Recorder, Space, SubjectBuilder, in_namespace, wait};

use crate::fixture::config_map;

/// `kubectl apply --server-side` of a ConfigMap named `c`, through `recorder`, ready to be started.
fn apply_c(space: &Space, recorder: &Recorder, folder: &std::path::Path) -> anyhow::Result<SubjectBuilder> {
    let file = folder.join("c.json");
    std::fs::write(&file, config_map("c", "1").to_string())?;
    Ok(SubjectBuilder::new(space.bed().program("kubectl")?)
        .args([
            "apply",
            "--server-side",
            "--field-manager",
            "kubectl",
            "--namespace",
            space.namespace(),
            "--filename",
        ])
        .args([file.as_os_str()])
        .env("KUBECONFIG", recorder.admin_kubeconfig()?)
        .env("HOME", folder))
}

#[tokio::test]
async fn a_program_that_is_killed_before_its_write_has_not_written_and_can_start_again() {
    in_namespace(async |space| {
        let (recorder, folder) = (Recorder::start(space.bed()).await?, tempfile::tempdir()?);
        let mut breakpoint = recorder.breakpoint(Pattern::write().named("c"), 0, Moment::Before);
        let mut kubectl = apply_c(&space, &recorder, folder.path())?.start()?;
        breakpoint.hit().await?;
        kubectl.kill().await?;
        drop(breakpoint);
        assert!(space.api::<ConfigMap>().get_opt("c").await?.is_none());

        kubectl.restart().await?;
        assert!(kubectl.exit().await?.success(), "{}", kubectl.output());
        let write = recorder.log().only(&Pattern::write().named("c"));
        assert_eq!(write.iter().map(|exchange| exchange.answered).collect::<Vec<_>>(), [None, Some(201)]);
        assert_eq!(write.iter().next().unwrap().field_manager(), Some("kubectl"));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_program_that_is_killed_after_its_write_has_written() {
    in_namespace(async |space| {
        let (recorder, folder) = (Recorder::start(space.bed()).await?, tempfile::tempdir()?);
        let mut breakpoint = recorder.breakpoint(Pattern::write().named("c"), 0, Moment::AfterCommit);
        let mut kubectl = apply_c(&space, &recorder, folder.path())?.start()?;
        breakpoint.hit().await?;
        kubectl.kill().await?;
        assert!(!kubectl.is_running()?);
        assert!(space.api::<ConfigMap>().get_opt("c").await?.is_some());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_program_that_is_paused_takes_no_step_until_resumed() {
    in_namespace(async |space| {
        let (recorder, folder) = (Recorder::start(space.bed()).await?, tempfile::tempdir()?);
        let mut breakpoint = recorder.breakpoint(Pattern::write().named("c"), 0, Moment::Before);
        let mut kubectl = apply_c(&space, &recorder, folder.path())?.start()?;
        breakpoint.hit().await?;
        kubectl.pause()?;
        breakpoint.release();
        // Its write arrives, but it does not learn so: it is still there when everybody else has seen the object.
        wait::until(&space.api::<ConfigMap>(), "c", "it exists", |_| true).await?;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", kubectl.id().unwrap()))?;
        assert!(stat.contains(") T "), "{stat}");
        kubectl.resume()?;
        assert!(kubectl.exit().await?.success(), "{}", kubectl.output());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_program_that_is_asked_to_end_ends() {
    in_namespace(async |space| {
        let recorder = Recorder::start(space.bed()).await?;
        let mut kubectl = SubjectBuilder::new(space.bed().program("kubectl")?)
            .args(["get", "configmaps", "--watch", "--namespace", space.namespace()])
            .env("KUBECONFIG", recorder.admin_kubeconfig()?)
            .start()?;
        recorder.seen(Mark::default(), &Pattern::verb(thv_testbed::Verb::Watch)).await?;
        assert!(kubectl.is_running()?);
        kubectl.terminate()?;
        assert!(!kubectl.exit().await?.success());
        Ok(())
    })
    .await;
}
