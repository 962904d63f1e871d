//! What we rely on Kubernetes for, one fact a test: custom resources, and what `kubectl` does to them.

use kube::Api;
use kube::ResourceExt;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use thv_testbed::{Space, in_namespace};

use crate::fixture::{Things, apply, apply_status, kubectl, resource_version};

fn condition(things: &Things, kind: &str) -> Value {
    things.thing("t", json!({"status": {"conditions": [{"type": kind, "status": "True"}]}}))
}

fn condition_types(thing: &DynamicObject) -> Vec<String> {
    let conditions = thing.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().map(|condition| condition["type"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn f04_two_managers_own_their_conditions_separately() {
    in_namespace(async |space| {
        let things = Things::install(&space).await?;
        apply(&things.api, "t", "user", &things.thing("t", json!({"spec": {}}))).await?;
        apply_status(&things.api, "t", "a", &condition(&things, "A")).await?;
        let both = apply_status(&things.api, "t", "b", &condition(&things, "B")).await?;
        assert_eq!(condition_types(&both), ["A", "B"]);
        let changed = apply_status(&things.api, "t", "a", &condition(&things, "C")).await?;
        assert_eq!(condition_types(&changed), ["B", "C"]);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f05_a_status_apply_that_changes_nothing_moves_nothing() {
    in_namespace(async |space| {
        let things = Things::install(&space).await?;
        apply(&things.api, "t", "user", &things.thing("t", json!({"spec": {}}))).await?;
        let first = apply_status(&things.api, "t", "a", &condition(&things, "A")).await?;
        let second = apply_status(&things.api, "t", "a", &condition(&things, "A")).await?;
        assert_eq!(resource_version(&second), resource_version(&first));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f12_an_applied_finalizer_goes_when_its_applier_omits_it_and_anothers_stays() {
    in_namespace(async |space| {
        let things = Things::install(&space).await?;
        let with = |finalizer: &str| things.thing("t", json!({"metadata": {"finalizers": [finalizer]}}));
        let only_annotation = things.thing("t", json!({"metadata": {"annotations": {"example.com/a": "1"}}}));

        apply(&things.api, "t", "operator", &with("example.com/f")).await?;
        let omitted = apply(&things.api, "t", "operator", &only_annotation).await?;
        assert!(omitted.finalizers().is_empty(), "{:?}", omitted.finalizers());

        // What an operator written in Go leaves behind: the finalizer under its `Update` manager as well.
        let update = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/f"]}}));
        let by_go = PatchParams { field_manager: Some("go-operator".to_owned()), ..PatchParams::default() };
        things.api.patch("t", &by_go, &update).await?;
        apply(&things.api, "t", "operator", &with("example.com/f")).await?;
        let kept = apply(&things.api, "t", "operator", &only_annotation).await?;
        assert_eq!(kept.finalizers(), ["example.com/f"]);

        let clear = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        things.api.patch("t", &PatchParams::default(), &clear).await?;
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn f15_kubectl_apply_keeps_what_it_does_not_mention_and_replace_drops_it() {
    in_namespace(async |space| {
        let things = Things::install(&space).await?;
        for version in ["v1alpha1", "v1beta1"] {
            for server_side in [false, true] {
                let name = format!("t-{version}-{server_side}");
                let kept = marked_after(
                    &space,
                    &things,
                    &name,
                    version,
                    &["apply", &format!("--server-side={server_side}")],
                )
                .await?;
                assert_eq!(kept, (true, true), "apply, {version}, server side: {server_side}");
            }
            let dropped =
                marked_after(&space, &things, &format!("r-{version}"), version, &["replace"]).await?;
            assert_eq!(dropped, (false, false), "replace, {version}");
        }
        Ok(())
    })
    .await;
}

/// A user's Thing gets an annotation and a finalizer from us, and then the user changes it with `kubectl`.
/// Whether each of the two is still there.
async fn marked_after(
    space: &Space,
    things: &Things,
    name: &str,
    version: &str,
    command: &[&str],
) -> anyhow::Result<(bool, bool)> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(&things.group, version, "Thing"));
    let api: Api<DynamicObject> = Api::namespaced_with(space.client(), space.namespace(), &resource);
    let manifest = |value: u32| {
        json!({
            "apiVersion": format!("{}/{version}", things.group), "kind": "Thing",
            "metadata": {"name": name}, "spec": {"value": value},
        })
    };
    let first = if command[0] == "apply" { command } else { &["apply"] };
    kubectl(space, first, &manifest(1)).await?;
    let mark = Patch::Merge(json!({
        "metadata": {"annotations": {"example.com/mark": "1"}, "finalizers": ["example.com/mark"]},
    }));
    api.patch(name, &PatchParams::default(), &mark).await?;
    kubectl(space, command, &manifest(2)).await?;

    let after = api.get(name).await?;
    assert_eq!(after.data["spec"]["value"], 2, "the user's change arrived");
    let marked = (after.annotations().contains_key("example.com/mark"), !after.finalizers().is_empty());
    let clear = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    api.patch(name, &PatchParams::default(), &clear).await?;
    Ok(marked)
}
