//! What the API server refuses: it is told in its own words, and a server that runs is left as it is.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, ResourceQuota};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use thv_api::conditions::mcp_server::Ready;
use thv_api::kinds::{MCPServer, MCPServerPhase};
use thv_testbed::{Fault, Mark, Pattern, Space, Verb, in_namespace, wait};

use super::minimal;
use super::rollout::REVISION;
use super::scene::{NAME, Scene, assert_says, condition};
use crate::fixture::{apply, config_map, deployment};

/// More is asked for than is allowed.
fn greedy() -> Value {
    json!({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}})
}

/// What Kubernetes says of that.
const GREEDY: &str = "must be less than or equal to cpu limit of 1";

/// Fails the test unless the server says that the API server refuses it, with these words.
#[track_caller]
fn assert_refused(server: &MCPServer, words: &str) {
    let status = server.status.as_ref().unwrap();
    assert_eq!(status.phase, Some(MCPServerPhase::Failed));
    assert_eq!(status.observed_generation, server.metadata.generation);
    assert_says(server, Ready::NotReady);
    let message = condition::<Ready>(server).message;
    assert!(message.contains(words) && status.message.as_ref() == Some(&message), "{message}");
}

#[tokio::test]
async fn a_new_server_that_the_api_server_refuses_fails_with_its_words_until_it_is_mended() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({"image": "localhost/first:1"})).await?;
        // A 422 of Kubernetes itself.
        let mut spec = minimal();
        spec["resources"] = greedy()["resources"].clone();
        let server = scene.operator.server("greedy", spec).await?;
        assert_refused(&server, GREEDY);
        assert!(space.api::<Deployment>().get_opt("greedy").await?.is_none());

        // A 403 of a quota.
        let quota = json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
            "spec": {"hard": {"count/services": "1"}},
        });
        let quotas = space.api::<ResourceQuota>();
        apply(&quotas, "q", "administrator", &quota).await?;
        let is_counted = |quota: &ResourceQuota| quota.status.as_ref().is_some_and(|it| it.used.is_some());
        wait::until(&quotas, "q", "it is enforced", is_counted).await?;
        let server = scene.operator.server("many", minimal()).await?;
        assert_refused(&server, "exceeded quota: q");

        // The user mends the one, an administrator the other.
        quotas.delete("q", &DeleteParams::default()).await?;
        let mended = json!({"spec": {"resources": {"requests": {"cpu": "1"}}}});
        scene.operator.edit("greedy", mended).await?;
        for name in ["greedy", "many"] {
            wait::until(&scene.operator.servers(), name, "it is on its way", |server| {
                let status = server.status.as_ref();
                status.is_some_and(|status| status.phase == Some(MCPServerPhase::Pending))
            })
            .await?;
            scene.operator.deployment(name).await?;
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_edit_that_the_api_server_refuses_changes_nothing_of_a_server_that_runs() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        forbid(&space, "localhost/forbidden:1").await?;
        let before = scene.children().await?;
        let revision = scene.operator.servers().get(NAME).await?.annotations()[REVISION].clone();
        let cases = [
            (greedy(), json!({"resources": null}), 422, GREEDY),
            (
                json!({"image": "localhost/forbidden:1"}),
                json!({"image": minimal()["image"]}),
                403,
                "this image is not signed",
            ),
        ];
        for (edit, mending, code, words) in cases {
            let mark = scene.operator.recorder.mark();
            let server = scene.operator.edit(NAME, json!({ "spec": edit })).await?;
            assert_refused(&server, words);
            assert_only_tried(&scene, mark, code);
            // It does not become true that it runs because somebody writes so.
            let theirs = Patch::Merge(json!({"status": {"phase": "Ready"}}));
            scene.operator.servers().patch_status(NAME, &PatchParams::default(), &theirs).await?;
            let fails = |server: &MCPServer| {
                server.status.as_ref().and_then(|status| status.phase) == Some(MCPServerPhase::Failed)
            };
            wait::until(&scene.operator.servers(), NAME, "it is put right", fails).await?;
            assert_eq!(server.annotations()[REVISION], revision);
            let after = scene.children().await?;
            assert_eq!(before.versions(), after.versions());
            scene.assert_changed(&before, []).await?;

            // Another edit that does not mend it is told of as well, although it is the same story.
            let server = scene.operator.edit(NAME, json!({"spec": {"args": ["--another"]}})).await?;
            assert_refused(&server, words);

            let mut mending = mending;
            mending["args"] = Value::Null;
            scene.edit(mending).await?;
            scene.assert_changed(&before, []).await?;
        }
        // What is not refused goes through.
        let mark = scene.operator.recorder.mark();
        scene.edit(json!({"image": "localhost/server:2"})).await?;
        assert_eq!(scene.applies(mark).len(), 1);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_finalizer_that_the_api_server_refuses_is_told() {
    in_namespace(async |space| {
        let scene = Scene::empty(&space, &BTreeMap::new()).await?;
        let finalizer = Pattern::verb(Verb::JsonPatch).of("mcpservers").named(NAME);
        scene.operator.recorder.fail(finalizer, usize::MAX, Fault::Answer(422));
        let server = scene.operator.server(NAME, minimal()).await?;
        assert_refused(&server, "the API server refuses the finalizer of MCPServer");
        scene.operator.recorder.heal();
        let starts = |server: &MCPServer| {
            server.status.as_ref().and_then(|status| status.phase) == Some(MCPServerPhase::Pending)
        };
        wait::until(&scene.operator.servers(), NAME, "it is on its way", starts).await?;
        Ok(())
    })
    .await;
}

/// Fails the test unless the Deployment was tried without effect and refused, and nothing but the status was written.
#[track_caller]
fn assert_only_tried(scene: &Scene, mark: Mark, code: u16) {
    let log = scene.operator.recorder.since(mark);
    let tried = log.only(&Pattern::verb(Verb::DryRun));
    let answers: Vec<_> = tried.iter().map(|request| (request.resource.as_str(), request.answered)).collect();
    assert!(answers.contains(&("configmaps", Some(200))), "{tried}");
    assert!(answers.contains(&("deployments", Some(code))), "{tried}");
    let writes = scene.writes(mark);
    let is_status = |write: &thv_testbed::Exchange| {
        write.resource == "mcpservers" && write.subresource.as_deref() == Some("status")
    };
    assert!(writes.len() == 1 && writes.iter().all(is_status), "{writes:?}");
}

#[tokio::test]
async fn a_new_child_whose_name_is_taken_is_told_before_anything_of_a_server_that_runs_is_written() {
    in_namespace(async |space| {
        let scene = Scene::with(&space, json!({})).await?;
        let maps = space.api::<ConfigMap>();
        apply(&maps, "s-authz-inline", "somebody", &config_map("s-authz-inline", "1")).await?;
        let (before, mark) = (scene.children().await?, scene.operator.recorder.mark());
        let rules =
            json!({"type": "inline", "inline": {"policies": ["permit(principal, action, resource);"]}});
        let server = scene.operator.edit(NAME, json!({"spec": {"authzConfig": rules}})).await?;
        assert_refused(&server, "ConfigMap s-authz-inline exists");
        let writes = scene.writes(mark);
        assert!(writes.len() == 1 && writes[0].subresource.as_deref() == Some("status"), "{writes:?}");
        assert_eq!(before.versions(), scene.children().await?.versions());

        maps.delete("s-authz-inline", &DeleteParams::default()).await?;
        wait::until(&maps, "s-authz-inline", "the rules are there", |map| !map.owner_references().is_empty())
            .await?;
        Ok(())
    })
    .await;
}

/// Has the API server refuse Deployments in the test's namespace that have this argument.
async fn forbid(space: &Space, argument: &str) -> Result<()> {
    let name = space.namespace();
    let group = "admissionregistration.k8s.io/v1";
    let rule = json!({
        "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
        "resources": ["deployments"],
    });
    let refused = format!("c.args.exists(a, a == '{argument}')");
    let expression = format!("!object.spec.template.spec.containers.exists(c, has(c.args) && {refused})");
    let policy = json!({
        "apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [rule],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
            },
            "validations": [
                {"expression": expression, "message": "this image is not signed", "reason": "Forbidden"},
            ],
        },
    });
    let binding = json!({
        "apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    });
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(space.client());
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(space.client());
    apply(&policies, name, "administrator", &policy).await?;
    apply(&bindings, name, "administrator", &binding).await?;
    let removed = name.to_owned();
    space.finally(async move {
        bindings.delete(&removed, &DeleteParams::default()).await?;
        policies.delete(&removed, &DeleteParams::default()).await?;
        Ok(())
    });

    // A policy has no status that tells when the API server has it in force.
    let mut body = deployment("tried", json!({}));
    body["spec"]["template"]["spec"]["containers"][0]["args"] = json!([argument]);
    let params = PatchParams { dry_run: true, ..PatchParams::apply("administrator") };
    let in_force = async {
        while space.api::<Deployment>().patch("tried", &params, &Patch::Apply(&body)).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    Ok(tokio::time::timeout(wait::DEADLINE, in_force).await?)
}
