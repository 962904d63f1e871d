//! What others write survives, and nobody fights over it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use thv_api::names::field_managers::OPERATOR;
use thv_testbed::{Space, wait};

use super::case::{Case, start};
use super::world::{Place, World, applies, looked_at, outlast_all, tail, worlds};
use crate::fixture::{apply, apply_status, json_of, managers};
use crate::operator::{Operator, unknown_field};

const FINALIZER: &str = "example.com/theirs";

pub(super) async fn rule(space: &Space, cases: &[&'static Case]) -> Result<()> {
    let mut operator = start(space, cases, &[]).await?;
    for case in cases {
        unknown_field::install(space, &case.manifest("dry", &(case.minimal)())?).await?;
    }
    let worlds = worlds(space, cases)?;
    live_together(&worlds, &mut operator).await.with_context(|| tail(&operator))
}

/// A part of an object that somebody else has written.
struct Theirs {
    place: Place,
    /// Who, unless the API server does not write that down.
    manager: Option<&'static str>,
    part: Value,
}

impl Theirs {
    /// Whether all of it is there, and still belongs to its writer.
    async fn check(&self, when: &str) -> Result<()> {
        let Self { place: (api, name), manager, part } = self;
        let live = api.get(name).await.with_context(|| format!("{name}, {when}"))?;
        let body = json_of(&live);
        assert!(holds(&body, part), "{when}, {name} does not hold {part} by {manager:?}: {body}");
        let all = managers(&live);
        let is_known = manager.is_none_or(|manager| all.iter().any(|one| one == manager));
        assert!(is_known, "{when}, {manager:?} has lost {name} to {all:?}");
        Ok(())
    }
}

/// Whether everything that is in `part` is in `live`, in lists anywhere.
fn holds(live: &Value, part: &Value) -> bool {
    match (live, part) {
        (Value::Object(live), Value::Object(part)) => {
            part.iter().all(|(key, part)| live.get(key).is_some_and(|live| holds(live, part)))
        }
        (Value::Array(live), Value::Array(part)) => {
            part.iter().all(|part| live.iter().any(|live| holds(live, part)))
        }
        _ => live == part,
    }
}

async fn live_together(worlds: &[World], operator: &mut Operator) -> Result<()> {
    let mut all = Vec::new();
    for world in worlds {
        let owner = make_without_theirs(world).await?;
        all.extend(write_on_children(world, &owner).await?);
        all.extend(write_on_owner(world).await?);
        world.converged(world.case.name).await?;
    }
    let check_all = async |when: &str| {
        for theirs in &all {
            theirs.check(when).await?;
        }
        anyhow::Ok(())
    };
    outlast_all(worlds).await?;
    check_all("once all is written").await?;
    assert_quiet(worlds, operator, "others").await?;

    // Now the user changes something that makes us write again.
    for World { case, own, .. } in worlds {
        own.patch(case.name, &PatchParams::default(), &Patch::Merge((case.edit)())).await?;
    }
    for world in worlds {
        world.converged(world.case.name).await?;
    }
    outlast_all(worlds).await?;
    check_all("after an edit").await?;
    assert_quiet(worlds, operator, "edit").await?;

    // A new operator knows nothing of what was there before it.
    let mark = operator.recorder.mark();
    operator.subject.restart().await?;
    looked_at(worlds, operator, mark).await?;
    check_all("after a restart").await?;
    let again = applies(operator, mark);
    assert!(again.values().all(|count| *count == 1), "{again:?}");
    assert_quiet(worlds, operator, "restart").await?;

    // The objects go as far as others let them.
    for world in worlds {
        world.own.delete(world.case.name, &DeleteParams::default()).await?;
        world.be_forgotten().await?;
    }
    for world in worlds {
        let left = |object: &DynamicObject| object.finalizers() == [FINALIZER];
        wait::until(&world.own, world.case.name, "only the other finalizer is left", left).await?;
        for theirs in all.iter().filter(|theirs| is_on_owner(theirs, world)) {
            theirs.check("after the end").await?;
        }
    }
    operator.recorder.log().assert_no_put();
    Ok(())
}

/// Makes the object of the example without what others are to write, and all that it lives among.
async fn make_without_theirs(world: &World) -> Result<DynamicObject> {
    let case = world.case;
    world.refer().await?;
    let mut spec = case.full()?["spec"].clone();
    if let Some(fields) = spec.as_object_mut() {
        fields.retain(|field, _| !case.left.contains(&field.as_str()));
    }
    let owner = world.make(case.name, &spec).await?;
    world.be_referred_to().await?;
    Ok(owner)
}

fn is_on_owner(theirs: &Theirs, world: &World) -> bool {
    theirs.place.0.resource_url() == world.own.resource_url()
}

/// Whether the operator says how many pods a workload has, so that nobody else can.
fn is_counted_by_us(workload: &DynamicObject) -> bool {
    let ours = workload.managed_fields().iter().filter(|entry| entry.manager.as_deref() == Some(OPERATOR));
    let mut fields = ours.filter_map(|entry| Some(&entry.fields_v1.as_ref()?.0));
    fields.any(|fields| fields.pointer("/f:spec/f:replicas").is_some())
}

/// Others label and annotate every child, scale workloads, restart them, and give them sidecars.
async fn write_on_children(world: &World, owner: &DynamicObject) -> Result<Vec<Theirs>> {
    let (mut all, mut workloads) = (Vec::new(), 0);
    for (resource, child) in world.children(owner).await? {
        let place = (world.api(&resource), child.name_any());
        let (api, name) = &place;
        let mut write = |manager, part| {
            let place = place.clone();
            all.push(Theirs { place, manager, part });
        };
        let marks = json!({"metadata": {
            "labels": {"theirs": "1"}, "annotations": {"example.com/theirs": "1"},
        }});
        api.patch(name, &by("marker"), &Patch::Merge(&marks)).await?;
        write(Some("marker"), marks);
        if child.data["spec"]["template"].is_null() {
            continue;
        }
        workloads += 1;
        if !is_counted_by_us(&child) {
            let count = json!({"spec": {"replicas": 3}});
            api.patch_scale(name, &by("scaler"), &Patch::Merge(&count)).await?;
            // Of a count that belonged to nobody the API server does not say who has scaled it.
            write(None, count);
        }
        let inject = json!({"spec": {"template": {
            "metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-11-15T10:00:00Z"}},
            "spec": {"containers": [{"name": "sidecar", "image": "localhost/sidecar:1"}]},
        }}});
        api.patch(name, &by("injector"), &Patch::Strategic(&inject)).await?;
        write(Some("injector"), inject);
    }
    ensure!(workloads == world.case.workloads, "there are {workloads} workloads");
    Ok(all)
}

/// Others label and annotate the object, hold it by a finalizer, have a condition on it, apply a part of its spec that
/// we know, and one that we do not.
async fn write_on_owner(world: &World) -> Result<Vec<Theirs>> {
    let (case, own) = (world.case, &world.own);
    let place = || (own.clone(), case.name.to_owned());
    let marks = json!({"metadata": {"labels": {"theirs": "1"}, "annotations": {"example.com/theirs": "1"}}});
    own.patch(case.name, &by("marker"), &Patch::Merge(&marks)).await?;
    let has_finalizers = !own.get_metadata(case.name).await?.finalizers().is_empty();
    let add = if has_finalizers {
        json!([{"op": "add", "path": "/metadata/finalizers/-", "value": FINALIZER}])
    } else {
        json!([{"op": "add", "path": "/metadata/finalizers", "value": [FINALIZER]}])
    };
    own.patch(case.name, &by("holder"), &Patch::Json::<()>(serde_json::from_value(add)?)).await?;
    let mut all = vec![
        Theirs { place: place(), manager: Some("marker"), part: marks },
        Theirs {
            place: place(),
            manager: Some("holder"),
            part: json!({"metadata": {"finalizers": [FINALIZER]}}),
        },
    ];

    let condition = json!({"conditions": [{
        "type": "Theirs", "status": "True", "reason": "R", "message": "m",
        "lastTransitionTime": "2026-11-15T10:00:00Z",
    }]});
    let mut body = case.manifest(case.name, &Value::Null)?;
    body["status"] = condition.clone();
    if let Some(fields) = body.as_object_mut() {
        fields.remove("spec");
    }
    apply_status(own, case.name, "judge", &body).await?;
    all.push(Theirs { place: place(), manager: Some("judge"), part: json!({"status": condition}) });

    for (manager, part) in [("controller", (case.theirs)()), ("visionary", unknown_field::wish_of_spec())] {
        apply(own, case.name, manager, &case.manifest(case.name, &part)?).await?;
        all.push(Theirs { place: place(), manager: Some(manager), part: json!({"spec": part}) });
    }
    Ok(all)
}

fn by(manager: &str) -> PatchParams {
    PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() }
}

/// Has the objects looked at once more, and shows that nothing comes of it.
async fn assert_quiet(worlds: &[World], operator: &Operator, round: &str) -> Result<()> {
    let mark = operator.recorder.mark();
    let look = Patch::Merge(json!({"metadata": {"annotations": {"example.com/look": round}}}));
    for world in worlds {
        world.own.patch(world.case.name, &by("user"), &look).await?;
    }
    looked_at(worlds, operator, mark).await?;
    assert_eq!(applies(operator, mark), BTreeMap::new(), "{round}");
    Ok(())
}

#[test]
fn a_part_is_held_wherever_in_a_list_it_is() {
    let live = json!({"a": [{"name": "x"}, {"name": "y", "more": 1}], "b": {"c": 1, "d": 2}});
    let held: BTreeSet<bool> = [json!({"a": [{"name": "y"}]}), json!({"b": {"c": 1}}), json!({"a": []})]
        .iter()
        .map(|part| holds(&live, part))
        .collect();
    assert_eq!(held, BTreeSet::from([true]));
    for missing in [json!({"a": [{"name": "z"}]}), json!({"b": {"c": 2}}), json!({"e": null})] {
        assert!(!holds(&live, &missing), "{missing}");
    }
}
