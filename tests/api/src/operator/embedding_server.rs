//! What cannot be changed in the StatefulSet of an embedding server.

use anyhow::Result;
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_testbed::{Pattern, Space, Verb, in_namespace, wait};

use super::Operator;
use super::rules::api_of;
use crate::fixture::{apply, json_of};

fn manifest(spec: &Value) -> Value {
    json!({
        "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "EmbeddingServer", "metadata": {"name": "e"},
        "spec": spec,
    })
}

/// Waits until the status is about the object as it is.
async fn dealt_with(servers: &Api<DynamicObject>) -> Result<DynamicObject> {
    wait::until(servers, "e", "the operator has dealt with it", |server| {
        server.data["status"]["observedGeneration"].as_i64() == server.metadata.generation
    })
    .await
}

async fn edit(servers: &Api<DynamicObject>, spec: Value) -> Result<DynamicObject> {
    servers.patch("e", &PatchParams::default(), &Patch::Merge(json!({ "spec": spec }))).await?;
    dealt_with(servers).await
}

fn message(server: &DynamicObject, type_: &str) -> String {
    let mut all = server.data["status"]["conditions"].as_array().into_iter().flatten();
    let found = all.find(|condition| condition["type"] == type_);
    found.and_then(|condition| condition["message"].as_str()).unwrap_or_default().to_owned()
}

/// The claims of the StatefulSet, as the API server has them.
async fn claims(space: &Space) -> Result<(StatefulSet, Value)> {
    let set = space.api::<StatefulSet>().get("e").await?;
    let claims = json_of(&set)["spec"]["volumeClaimTemplates"].clone();
    Ok((set, claims))
}

#[tokio::test]
async fn a_field_that_nobody_can_change_is_named_and_everything_else_is_applied() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let servers = api_of(&space, &manifest(&json!({})));
        apply(&servers, "e", "user", &manifest(&json!({"modelCache": {"size": "5Gi"}}))).await?;
        let server = dealt_with(&servers).await?;
        assert!(wait::has_condition(&server, "FullyApplied", "True"), "{}", server.data["status"]);
        let (made, before) = claims(&space).await?;
        let mark = operator.recorder.mark();

        // The same amount, written in another way, is no change.
        let server = edit(&servers, json!({"modelCache": {"size": "5120Mi"}})).await?;
        assert!(wait::has_condition(&server, "FullyApplied", "True"), "{}", server.data["status"]);

        let cache = json!({"size": "50Gi", "storageClassName": "fast", "accessMode": "ReadWriteMany"});
        let overrides = json!({"persistentVolumeClaim": {"labels": {"team": "a"}}});
        let image = "localhost/embeddings:2";
        let more =
            json!({"modelCache": cache, "image": image, "replicas": 2, "resourceOverrides": overrides});
        let server = edit(&servers, more).await?;
        assert!(wait::has_condition(&server, "FullyApplied", "False"), "{}", server.data["status"]);
        let told = message(&server, "FullyApplied");
        for place in
            ["modelCache.size", "modelCache.storageClassName", "modelCache.accessMode", "Claim.labels"]
        {
            assert!(told.contains(place), "{place}: {told}");
        }
        let (set, after) = claims(&space).await?;
        assert_eq!((set.uid(), &after), (made.uid(), &before));
        let set = json_of(&set);
        assert_eq!(set["spec"]["template"]["spec"]["containers"][0]["image"], image);
        assert_eq!(set["spec"]["replicas"], 2);

        // Without the cache its volume stays, and nobody mounts it.
        edit(&servers, json!({"modelCache": null})).await?;
        let (set, after) = claims(&space).await?;
        assert_eq!(after, before);
        assert_eq!(json_of(&set)["spec"]["template"]["spec"]["containers"][0].get("volumeMounts"), None);

        let log = operator.recorder.since(mark);
        log.only(&Pattern::verb(Verb::Delete)).assert_empty("deletion");
        let refused: Vec<_> =
            log.writes().iter().filter(|write| write.answered == Some(422)).cloned().collect();
        assert!(refused.is_empty(), "{refused:?}");

        // Who deletes the StatefulSet has it made anew, as it was asked for.
        edit(&servers, json!({"modelCache": cache})).await?;
        space.api::<StatefulSet>().delete("e", &DeleteParams::background()).await?;
        let is_new = |server: &DynamicObject| wait::has_condition(server, "FullyApplied", "True");
        wait::until(&servers, "e", "all of it is applied", is_new).await?;
        let (_, anew) = claims(&space).await?;
        assert_eq!(anew[0]["spec"]["resources"]["requests"]["storage"], "50Gi");
        assert_eq!(anew[0]["spec"]["storageClassName"], "fast");
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_edit_of_a_server_that_the_api_server_refuses_changes_nothing_of_it() {
    in_namespace(async |space| {
        let operator = Operator::start(&space).await?;
        let servers = api_of(&space, &manifest(&json!({})));
        apply(&servers, "e", "user", &manifest(&json!({}))).await?;
        dealt_with(&servers).await?;
        let mark = operator.recorder.mark();
        // The Service could have the other port, and no pod would listen there.
        let server = edit(
            &servers,
            json!({
                "port": 9999, "podTemplateSpec": {"spec": {"restartPolicy": "Sometimes"}},
            }),
        )
        .await?;
        assert_eq!(server.data["status"]["phase"], "Failed");
        assert!(message(&server, "Ready").contains("restartPolicy"), "{}", message(&server, "Ready"));
        let written = operator.recorder.since(mark).writes();
        let effective = written.iter().filter(|write| {
            write.resource != "events" && write.subresource.is_none() && !write.query.contains_key("dryRun")
        });
        assert_eq!(effective.count(), 0, "{written:?}");
        Ok(())
    })
    .await;
}
