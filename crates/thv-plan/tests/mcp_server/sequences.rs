//! Whatever happens, and wherever a pass is cut off: a revision names one content, and stamps do not go back.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use thv_api::names::annotations;
use thv_plan::{ChildKind, Decision, Token};

use crate::support::{Scene, UID, child, deployment, template};

/// Something that happens to a server.
#[derive(Clone, Debug)]
enum Happening {
    /// Its user changes something that pods see.
    Image(u8),
    /// Its user changes something that only the configuration sees.
    Argument(u8),
    /// Its user changes something that no pod sees.
    Replicas(u8),
    /// The operator is upgraded, or goes back.
    Runner(u8),
    /// Someone removes the annotation with the revision.
    LoseAnnotation,
    /// Someone brings back an annotation from before.
    RestoreAnnotation,
    /// Someone deletes the Deployment.
    DeleteDeployment,
    /// A pass that ends after the revision was minted.
    CrashAfterMint,
    /// A whole pass.
    Pass,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        1 => (0..2_u8).prop_map(Happening::Image),
        1 => (0..2_u8).prop_map(Happening::Argument),
        1 => (1..4_u8).prop_map(Happening::Replicas),
        1 => (0..2_u8).prop_map(Happening::Runner),
        1 => Just(Happening::LoseAnnotation),
        1 => Just(Happening::RestoreAnnotation),
        1 => Just(Happening::DeleteDeployment),
        1 => Just(Happening::CrashAfterMint),
        3 => Just(Happening::Pass),
    ]
}

/// What a revision names: pods and configuration, without what tells one revision from another.
fn content(plan: &thv_plan::Plan<thv_api::kinds::MCPServerSpec>) -> Value {
    let mut pods = template(plan).clone();
    pods["metadata"].as_object_mut().unwrap().remove("annotations");
    let env = pods["spec"]["containers"][0]["env"].as_array_mut().unwrap();
    env.retain(|entry| entry["name"] != "THV_MCPSERVER_REVISION");
    let config =
        child(plan, ChildKind::ConfigMap, "web-runconfig")["data"]["runconfig.json"].as_str().unwrap();
    let mut config: Value = serde_json::from_str(config).unwrap();
    config.as_object_mut().unwrap().remove("mcpserver_generation");
    json!([pods, config])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_revision_names_one_content_and_stamps_do_not_go_back(
        happenings in proptest::collection::vec(happening(), 1..24),
    ) {
        let mut scene = Scene::of(json!({"transport": "sse"}));
        let mut contents: BTreeMap<u64, Value> = BTreeMap::new();
        let mut old_annotation: Option<String> = None;
        let (mut last_stamp, mut last_number) = (0, 0);
        for happening in happenings.into_iter().chain([Happening::Pass]) {
            match happening {
                Happening::Image(version) => scene.set("image", json!(format!("web:{version}"))),
                Happening::Argument(value) => scene.set("args", json!([format!("--level={value}")])),
                Happening::Replicas(count) => scene.set("replicas", json!(count)),
                Happening::Runner(version) => scene.settings().runner_image = format!("runner:{version}"),
                Happening::LoseAnnotation => scene.owner().metadata.annotations = None,
                Happening::RestoreAnnotation => {
                    if let Some(text) = &old_annotation {
                        scene.annotate(annotations::REVISION, text);
                    }
                }
                Happening::DeleteDeployment => scene.snapshot.live.proxy.deployment = None,
                Happening::CrashAfterMint => {
                    if let Some(Decision::Mint(revision)) = scene.plan().revision {
                        scene.annotate(annotations::REVISION, &revision.to_string());
                    }
                }
                Happening::Pass => {
                    let plan = scene.plan();
                    let number = plan.revision.as_ref().unwrap().revision().number;
                    let known = contents.entry(number).or_insert_with(|| content(&plan));
                    prop_assert_eq!(&*known, &content(&plan), "revision {}", number);
                    prop_assert!(number >= last_number, "{} after {}", number, last_number);
                    scene.carry_out(&plan);
                    // The proxy brings its backend up, which remembers the number.
                    scene.with_backend(1, 1);
                    scene.snapshot.live.backend.as_mut().unwrap().applied = Some(Token { uid: UID.to_owned(), number });
                    let stamp = scene.snapshot.live.proxy.deployment.as_ref().unwrap().stamp.unwrap();
                    prop_assert!(stamp >= last_stamp, "{} after {}", stamp, last_stamp);
                    prop_assert!(stamp <= scene.snapshot.generation());
                    (last_stamp, last_number) = (stamp, number);
                    let noted = deployment(&plan)["metadata"]["annotations"][annotations::REVISION].as_str();
                    old_annotation.get_or_insert_with(|| noted.unwrap().to_owned());
                    prop_assert!(matches!(scene.plan().revision, Some(Decision::Keep(_))));
                }
            }
        }
    }
}
