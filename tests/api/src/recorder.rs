//! The recording endpoint: what it writes down, and the faults it can play.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::json;
use thv_testbed::{Fault, Moment, Pattern, Recorder, Space, Verb, in_namespace};

use crate::fixture::{apply, config_map, refusal};

/// ConfigMaps of the test's namespace, through `recorder`.
async fn through(recorder: &Recorder, space: &Space) -> anyhow::Result<Api<ConfigMap>> {
    Ok(Api::namespaced(recorder.admin_client().await?, space.namespace()))
}

#[tokio::test]
async fn requests_are_recorded_with_verb_path_manager_and_body() {
    in_namespace(async |space| {
        let recorder = Recorder::start(space.bed()).await?;
        let api = through(&recorder, &space).await?;
        apply(&api, "c", "operator", &config_map("c", "1")).await?;
        let merge = Patch::Merge(json!({"data": {"key": "2"}}));
        api.patch("c", &PatchParams::default(), &merge).await?;
        api.get("c").await?;
        api.list(&ListParams::default()).await?;
        api.delete("c", &DeleteParams::default()).await?;

        let log = recorder.log();
        let verbs: Vec<_> = log.iter().map(|exchange| exchange.verb).collect();
        assert_eq!(verbs, [Verb::Apply, Verb::MergePatch, Verb::Get, Verb::List, Verb::Delete]);
        let first = log.iter().next().unwrap();
        assert_eq!(first.path, format!("/api/v1/namespaces/{}/configmaps/c", space.namespace()));
        assert_eq!((first.resource.as_str(), first.name.as_deref()), ("configmaps", Some("c")));
        assert_eq!(first.field_manager(), Some("operator"));
        assert_eq!(first.body, Some(config_map("c", "1")));
        assert_eq!((first.answered, first.told), (Some(201), Some(201)));
        assert_eq!(log.writes().len(), 3);
        log.assert_no_put();
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_put_a_late_read_and_a_write_in_a_quiet_window_are_caught() {
    in_namespace(async |space| {
        let recorder = Recorder::start(space.bed()).await?;
        let api = through(&recorder, &space).await?;
        let mut object =
            api.create(&PostParams::default(), &serde_json::from_value(config_map("c", "1"))?).await?;
        let quiet = recorder.mark();
        api.get("c").await?;
        recorder.since(quiet).writes().assert_empty("write");
        object.data.get_or_insert_default().insert("key".to_owned(), "2".to_owned());
        #[expect(clippy::disallowed_methods, reason = "a PUT is what the log has to catch here")]
        api.replace("c", &PostParams::default(), &object).await?;

        let complains =
            |check: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err();
        let log = recorder.log();
        assert!(complains(&|| log.assert_no_put()));
        assert!(complains(&|| log.assert_reads_before_writes()));
        assert!(complains(&|| recorder.since(quiet).writes().assert_empty("write")));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_program_keeps_its_own_rights_behind_the_recorder() {
    in_namespace(async |space| {
        thv_testbed::wait::until(
            &space.api::<k8s_openapi::api::core::v1::ServiceAccount>(),
            "default",
            "the account exists",
            |_| true,
        )
        .await?;
        let recorder = Recorder::start(space.bed()).await?;
        let kubeconfig = recorder.kubeconfig_for(&space.token_of("default").await?)?;
        let client = thv_testbed::client_for(&kubeconfig).await?;
        let api: Api<ConfigMap> = Api::namespaced(client, space.namespace());
        assert_eq!(refusal(api.list(&ListParams::default()).await).0, 403);
        assert_eq!(recorder.log().iter().next().unwrap().answered, Some(403));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn refusals_strike_as_often_as_asked_and_never_reach_the_server() {
    in_namespace(async |space| {
        let recorder = Recorder::start(space.bed()).await?;
        let api = through(&recorder, &space).await?;
        for code in [409, 429, 500] {
            recorder.fail(Pattern::verb(Verb::Apply).of("configmaps").named("c"), 2, Fault::Answer(code));
            for _ in 0..2 {
                assert_eq!(refusal(apply(&api, "c", "operator", &config_map("c", "1")).await).0, code);
            }
            assert!(api.get_opt("c").await?.is_none());
        }
        apply(&api, "c", "operator", &config_map("c", "1")).await?;
        let refused = recorder.log();
        assert_eq!(refused.iter().filter(|exchange| exchange.answered.is_none()).count(), 6);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_is_lost_after_the_commit_leaves_the_write_in_place() {
    in_namespace(async |space| {
        let recorder = Recorder::start(space.bed()).await?;
        let api = through(&recorder, &space).await?;
        for (name, fault) in [("cut", Fault::CommitThenCut), ("late", Fault::CommitThenAnswer(504))] {
            recorder.fail(Pattern::verb(Verb::Apply), 1, fault);
            assert!(apply(&api, name, "operator", &config_map(name, "1")).await.is_err());
            assert!(api.get_opt(name).await?.is_some(), "the server carried it out");
            let write = recorder.log().only(&Pattern::write().named(name));
            let write = write.iter().next().unwrap().clone();
            assert_eq!(write.answered, Some(201));
            assert_ne!(write.told, Some(201));
        }
        recorder.fail(Pattern::write(), 1, Fault::Cut);
        assert!(apply(&api, "never", "operator", &config_map("never", "1")).await.is_err());
        assert!(api.get_opt("never").await?.is_none());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_breakpoint_holds_the_chosen_request_before_or_after_the_commit() {
    in_namespace(async |space| {
        let recorder = Recorder::start(space.bed()).await?;
        let api = through(&recorder, &space).await?;
        let direct = space.api::<ConfigMap>();
        for (moment, exists) in [(Moment::Before, false), (Moment::AfterCommit, true)] {
            let name = format!("c-{exists}");
            // The first write passes, the second is held.
            let mut breakpoint = recorder.breakpoint(Pattern::write(), 1, moment);
            apply(&api, "first", "operator", &config_map("first", "1")).await?;
            let body = config_map(&name, "1");
            let held = apply(&api, &name, "operator", &body);
            let look = async {
                assert_eq!(breakpoint.hit().await?.name, Some(name.clone()));
                assert_eq!(direct.get_opt(&name).await?.is_some(), exists);
                breakpoint.release();
                anyhow::Ok(())
            };
            let (held, look) = tokio::join!(held, look);
            look?;
            held?;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_breakpoint_that_is_dropped_ends_the_request() {
    in_namespace(async |space| {
        let recorder = Recorder::start(space.bed()).await?;
        let api = through(&recorder, &space).await?;
        drop(recorder.breakpoint(Pattern::write(), 0, Moment::Before));
        assert!(apply(&api, "c", "operator", &config_map("c", "1")).await.is_err());
        assert!(api.get_opt("c").await?.is_none());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_stale_list_is_what_was_there_before() {
    in_namespace(async |space| {
        let recorder = Recorder::start(space.bed()).await?;
        let api = through(&recorder, &space).await?;
        let stale = recorder.stale_lists(Pattern::verb(Verb::List).of("configmaps"));
        let count = async |api: &Api<ConfigMap>| {
            anyhow::Ok(api.list(&ListParams::default().labels("x=y")).await?.items.len())
        };
        assert_eq!(count(&api).await?, 0);
        let mut body = config_map("c", "1");
        body["metadata"]["labels"] = json!({"x": "y"});
        apply(&api, "c", "operator", &body).await?;
        stale.serve();
        assert_eq!(count(&api).await?, 0, "served from memory");
        stale.stop();
        assert_eq!(count(&api).await?, 1);
        Ok(())
    })
    .await;
}
