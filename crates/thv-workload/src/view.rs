//! What counts of an object, for the fence and for noticing changes.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::DynamicObject;
use serde_json::{Value, json};
use thv_api::Kind;
use thv_api::kinds::MCPServerSpec;
use thv_api::names::{GROUP, annotations};
use thv_plan::{Identity, digest};

use crate::fence::{Belonging, Mark, ObjectView, Present, Stamp};
use crate::render::{Draft, DraftKind};

/// The object as the fence sees it.
pub(crate) fn object(found: Option<&DynamicObject>, kind: DraftKind, server: &str) -> ObjectView {
    let Some(found) = found else { return ObjectView::Absent };
    ObjectView::Present(Present {
        mark: mark(&found.metadata),
        stamp: stamp(&found.data),
        belongs: belonging(&found.metadata, kind, server),
        is_going: found.metadata.deletion_timestamp.is_some(),
    })
}

/// What was applied last.
pub(crate) fn mark(metadata: &ObjectMeta) -> Mark {
    match annotation(metadata, annotations::APPLIED_REVISION) {
        None => Mark::Absent,
        Some(text) => text.parse().map_or(Mark::Unreadable, Mark::Is),
    }
}

/// The generation on the pod template, as it stands there.
pub(crate) fn stamp_text(data: &Value) -> Option<&str> {
    let annotations = data.pointer("/spec/template/metadata/annotations")?;
    annotations.get(annotations::MCP_SERVER_GENERATION)?.as_str().filter(|text| !text.is_empty())
}

fn stamp(data: &Value) -> Stamp {
    match stamp_text(data) {
        None => Stamp::Absent,
        Some(text) => text.parse().map_or(Stamp::Unreadable, Stamp::Generation),
    }
}

/// Whom an object belongs to. A StatefulSet belongs to a server, and a Service to a StatefulSet, of the same name.
///
/// Which StatefulSet of the name a Service belongs to does not matter: one that was made again gets the Services of the
/// former one.
pub(crate) fn belonging(metadata: &ObjectMeta, kind: DraftKind, server: &str) -> Belonging {
    let mut owners = metadata.owner_references.iter().flatten();
    let Some(owner) = owners.find(|owner| owner.controller == Some(true)) else { return Belonging::Open };
    let is = |group: &str, kind: &str| is_of(owner, group, kind) && owner.name == server;
    match kind {
        DraftKind::StatefulSet if is(GROUP, MCPServerSpec::KIND) => Belonging::Server(owner.uid.clone()),
        DraftKind::Service if is("apps", "StatefulSet") => Belonging::Open,
        DraftKind::StatefulSet | DraftKind::Service => {
            Belonging::Foreign(format!("{} {}", owner.kind, owner.name))
        }
    }
}

/// Whether an owner is of a kind, in whatever version.
pub(crate) fn is_of(owner: &OwnerReference, group: &str, kind: &str) -> bool {
    owner.kind == kind && owner.api_version.split_once('/').map(|(group, _)| group) == Some(group)
}

/// Which object, and which version of it.
pub(crate) fn identity(metadata: &ObjectMeta) -> Option<Identity> {
    Some(Identity { uid: metadata.uid.clone()?, resource_version: metadata.resource_version.clone()? })
}

/// What would be different if anybody had edited what we own: for a StatefulSet, whose status changes all the time, the
/// count of changes of its spec and the metadata that we own; for a Service, any change at all.
pub(crate) fn fingerprint(metadata: &ObjectMeta, draft: &Draft) -> String {
    match draft.kind() {
        DraftKind::Service => format!("{:?} {:?}", metadata.uid, metadata.resource_version),
        DraftKind::StatefulSet => {
            let owned = draft.body().get("metadata").and_then(|metadata| metadata.get("labels"));
            let labels = metadata.labels.as_ref();
            let label = |key: &String| labels.and_then(|all| all.get(key));
            let labels: Vec<_> =
                owned.and_then(Value::as_object).into_iter().flat_map(|all| all.keys()).map(label).collect();
            digest(&json!([
                metadata.uid,
                metadata.generation,
                labels,
                annotation(metadata, annotations::APPLIED_REVISION),
                metadata.owner_references,
                metadata.deletion_timestamp.is_some(),
            ]))
        }
    }
}

/// An annotation.
pub(crate) fn annotation<'a>(metadata: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use thv_plan::{Applied, Token};

    use super::*;

    fn read(value: Value) -> DynamicObject {
        serde_json::from_value(value).unwrap()
    }

    fn owned(api_version: &str, kind: &str, name: &str) -> DynamicObject {
        read(json!({"metadata": {"ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"},
            {"apiVersion": api_version, "kind": kind, "name": name, "uid": "u", "controller": true},
        ]}}))
    }

    fn belongs(object: &DynamicObject, kind: DraftKind) -> Belonging {
        belonging(&object.metadata, kind, "web")
    }

    #[test]
    fn an_object_is_read_as_it_is() {
        let text = "u/7/d";
        let object_of = |mark: &str, stamp: &str| {
            read(json!({
                "metadata": {"annotations": {annotations::APPLIED_REVISION: mark}, "deletionTimestamp": "2026-01-01T00:00:00Z"},
                "spec": {"template": {"metadata": {"annotations": {annotations::MCP_SERVER_GENERATION: stamp}}}},
            }))
        };
        let view = object(Some(&object_of(text, "5")), DraftKind::StatefulSet, "web");
        let applied = Applied { token: Token { uid: "u".to_owned(), number: 7 }, digest: "d".to_owned() };
        let expected = Present {
            mark: Mark::Is(applied),
            stamp: Stamp::Generation(5),
            belongs: Belonging::Open,
            is_going: true,
        };
        assert_eq!(view, ObjectView::Present(expected));
        let odd = object_of("x", "y");
        assert_eq!((mark(&odd.metadata), stamp(&odd.data)), (Mark::Unreadable, Stamp::Unreadable));
        assert_eq!(stamp(&object_of("x", "").data), Stamp::Absent);
        assert_eq!(object(None, DraftKind::Service, "web"), ObjectView::Absent);
    }

    #[test]
    fn owners_are_told_by_group_kind_and_name() {
        for version in ["v1alpha1", "v1beta1"] {
            let mine = owned(&format!("toolhive.stacklok.dev/{version}"), "MCPServer", "web");
            assert_eq!(belongs(&mine, DraftKind::StatefulSet), Belonging::Server("u".to_owned()));
        }
        let set = owned("apps/v1", "StatefulSet", "web");
        assert_eq!(belongs(&set, DraftKind::Service), Belonging::Open);
        // The server `a` has a Service that is called as one of the server `a-headless`.
        let other = owned("apps/v1", "StatefulSet", "web-headless");
        assert_eq!(
            belongs(&other, DraftKind::Service),
            Belonging::Foreign("StatefulSet web-headless".to_owned())
        );
        for (api_version, kind) in [("apps/v1", "Deployment"), ("example.com/v1", "MCPServer"), ("v1", "Pod")]
        {
            let theirs = owned(api_version, kind, "web");
            assert!(matches!(belongs(&theirs, DraftKind::StatefulSet), Belonging::Foreign(_)), "{kind}");
        }
        assert_eq!(belongs(&read(json!({"metadata": {}})), DraftKind::Service), Belonging::Open);
    }
}
