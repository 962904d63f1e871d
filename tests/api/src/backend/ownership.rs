//! Whom a backend belongs to.

use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::names::annotations::APPLIED_REVISION;
use thv_testbed::{Pattern, Recorder, in_namespace, wait};

use super::proxy::{Proxy, of_go, revision};
use super::stage::{NAME, Stage, image_of};
use crate::fixture::{apply, json_of, stateful_set};

#[tokio::test]
async fn a_backend_belongs_to_its_server_and_services_to_the_backend() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let _proxy = stage.bound(&revision(1)).await?;
        let set = json_of(&stage.backend().await?);
        let owner = json!([{
            "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPServer", "name": NAME, "uid": stage.uid,
            "controller": true,
        }]);
        assert_eq!(set["metadata"]["ownerReferences"], owner);
        for name in ["mcp-web", "mcp-web-headless"] {
            let service = json_of(&stage.services().get(name).await?);
            let owner = json!([{
                "apiVersion": "apps/v1", "kind": "StatefulSet", "name": NAME, "uid": set["metadata"]["uid"],
                "controller": true,
            }]);
            assert_eq!(service["metadata"]["ownerReferences"], owner);
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_backend_of_a_server_that_goes_is_not_brought_back() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let mut proxy = stage.bound(&revision(1)).await?;
        let finalizers = |names: Value| Patch::Merge(json!({"metadata": {"finalizers": names}}));
        let params = PatchParams::default();
        let servers = stage.servers();
        servers.patch_metadata(NAME, &params, &finalizers(json!(["toolhive.test/wait"]))).await?;
        servers.delete(NAME, &DeleteParams::default()).await?;
        let mark = proxy.recorder.mark();
        stage.sets().delete(NAME, &DeleteParams::background()).await?;
        proxy.until("superseded").await?;
        proxy.recorder.since(mark).writes().assert_empty("write");
        assert!(stage.sets().get_opt(NAME).await?.is_none());
        servers.patch_metadata(NAME, &params, &finalizers(Value::Null)).await?;
        wait::gone(&servers, NAME).await?;

        // Nor by one that is started when the server is gone.
        let mut late = stage.start(&revision(1)).await?;
        late.until("superseded").await?;
        late.assert_wrote_nothing();
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_backend_goes_with_its_server() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        let mut proxy = stage.bound(&revision(1)).await?;
        stage.servers().delete(NAME, &DeleteParams::background()).await?;
        wait::gone(&stage.sets(), NAME).await?;
        for name in ["mcp-web", "mcp-web-headless"] {
            wait::gone(&stage.services(), name).await?;
        }
        proxy.until("superseded").await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn what_a_former_server_of_the_name_has_left_is_made_anew() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        stage.bound(&revision(9)).await?.backend.stop().await;
        // What belongs to nobody is not collected.
        let orphan = Patch::Merge(json!({"metadata": {"ownerReferences": null}}));
        let former = stage.sets().patch(NAME, &PatchParams::default(), &orphan).await?;
        let stage = stage.anew().await?;
        let mut proxy = stage.bound(&revision(1)).await?;
        let set = stage.backend().await?;
        assert_ne!(set.uid(), former.uid());
        assert!(set.annotations()[APPLIED_REVISION].starts_with(&format!("{}/1/", stage.uid)));
        proxy.until("bound").await?;
        assert_eq!(stage.image().await?, image_of(1));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn what_belongs_to_somebody_else_is_refused_and_left_alone() {
    in_namespace(async |space| {
        let stage = Stage::set(&space).await?;
        // The server `web-headless` has a Service of the name that we need.
        let other = apply(&stage.sets(), "web-headless", "other", &stateful_set("web-headless", "i")).await?;
        let theirs = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "mcp-web-headless", "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web-headless", "uid": other.uid(),
                "controller": true,
            }]},
            "spec": {"selector": {"app": "web-headless"}, "ports": [{"port": 1}]},
        });
        let before = json_of(&apply(&stage.services(), "mcp-web-headless", "other", &theirs).await?);
        for sketch in [revision(1), of_go(1)] {
            let mut proxy = stage.start(&sketch).await?;
            proxy.until("refused").await?;
            let about_it = Pattern::write().of("services").named("mcp-web-headless");
            proxy.recorder.log().only(&about_it).assert_empty("write");
            proxy.backend.stop().await;
            stage.sets().delete(NAME, &DeleteParams::background()).await?;
            wait::gone(&stage.sets(), NAME).await?;
        }
        assert_eq!(json_of(&stage.services().get("mcp-web-headless").await?), before);

        // When it is gone, ours comes.
        let mut proxy = stage.start(&revision(1)).await?;
        proxy.until("refused").await?;
        stage.services().delete("mcp-web-headless", &DeleteParams::default()).await?;
        proxy.until("bound").await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_namespace_that_is_being_deleted_is_no_error() {
    in_namespace(async |space| {
        let namespaces: kube::Api<Namespace> = kube::Api::all(space.client());
        // A namespace of its own, since the test's own is deleted at the end.
        let name = format!("{}-ending", space.namespace());
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "finalizers": ["toolhive.test/wait"]}});
        apply(&namespaces, &name, "test", &body).await?;
        namespaces.delete(&name, &DeleteParams::default()).await?;
        wait::until(&namespaces, &name, "it is ending", |namespace| {
            namespace.status.as_ref().is_some_and(|status| status.phase.as_deref() == Some("Terminating"))
        })
        .await?;
        let recorder = Recorder::start(space.bed()).await?;
        // No role of its own can be made there any more.
        let client = recorder.admin_client().await?;
        let mut proxy = Proxy::start(recorder, client, &name, "", &of_go(1))?;
        proxy.waits_for("the namespace is being deleted").await?;
        proxy.backend.stop().await;
        let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        namespaces.patch(&name, &PatchParams::default(), &none).await?;
        wait::gone(&namespaces, &name).await
    })
    .await;
}
