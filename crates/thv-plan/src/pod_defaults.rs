//! What the API server would put into a pod template by itself, in those places where it must not.
//!
//! A field that the API server fills in belongs to nobody. When its user chooses another alternative of a union, such as
//! another source of a volume, all that was ours of the old one goes and that field stays, and there would be two. So the
//! fields of alternatives are written out.

use serde_json::{Map, Value, json};

/// The rights of files.
const MODE: i32 = 0o644;

/// Sources of volumes, and what the API server fills in.
fn of_volume(source: &str) -> Value {
    match source {
        "configMap" | "secret" | "projected" | "downwardAPI" => json!({"defaultMode": MODE}),
        "hostPath" => json!({"type": ""}),
        "iscsi" => json!({"iscsiInterface": "default"}),
        "rbd" => json!({"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}),
        "azureDisk" => {
            json!({"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared", "readOnly": false})
        }
        "scaleIO" => json!({"storageMode": "ThinProvisioned", "fsType": "xfs"}),
        _ => json!({}),
    }
}

/// Fills it in everywhere in a pod template.
pub(crate) fn fill_in(template: &mut Value) {
    let Some(spec) = template.get_mut("spec") else { return };
    for volume in items(spec, "volumes") {
        for (source, settings) in volume.as_object_mut().into_iter().flatten() {
            complete(settings, of_volume(source));
        }
        for source in volume.get_mut("projected").into_iter().flat_map(|all| items(all, "sources")) {
            if let Some(token) = source.get_mut("serviceAccountToken") {
                complete(token, json!({"expirationSeconds": 3600}));
            }
            source.get_mut("downwardAPI").into_iter().for_each(downward);
        }
        volume.get_mut("downwardAPI").into_iter().for_each(downward);
    }
    for list in ["containers", "initContainers"] {
        items(spec, list).for_each(container);
    }
}

fn container(container: &mut Value) {
    for variable in items(container, "env") {
        variable.get_mut("valueFrom").into_iter().for_each(field);
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        container.get_mut(probe).into_iter().for_each(handler);
    }
    for hook in ["postStart", "preStop"] {
        let lifecycle = container.get_mut("lifecycle");
        lifecycle.and_then(|all| all.get_mut(hook)).into_iter().for_each(handler);
    }
}

/// What a probe or a hook does.
fn handler(handler: &mut Value) {
    if let Some(get) = handler.get_mut("httpGet") {
        complete(get, json!({"path": "/", "scheme": "HTTP"}));
    }
    if let Some(call) = handler.get_mut("grpc") {
        complete(call, json!({"service": ""}));
    }
}

fn downward(source: &mut Value) {
    items(source, "items").for_each(field);
}

/// What refers to a field of the pod.
fn field(place: &mut Value) {
    if let Some(reference) = place.get_mut("fieldRef") {
        complete(reference, json!({"apiVersion": "v1"}));
    }
}

/// The items of a list, if there is one.
fn items<'a>(of: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    of.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

/// Adds what an object does not say. What is no object is left to the API server to refuse.
fn complete(object: &mut Value, defaults: Value) {
    let (Some(object), Value::Object(defaults)) = (object.as_object_mut(), defaults) else { return };
    let missing: Map<String, Value> =
        defaults.into_iter().filter(|(key, _)| !object.contains_key(key)).collect();
    object.extend(missing);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_api_server_would_fill_in_is_written_out_and_what_is_said_stays() {
        let mut template = json!({"spec": {
            "volumes": [
                {"name": "a", "secret": {"secretName": "s"}},
                {"name": "b", "configMap": {"name": "c", "defaultMode": 256}},
                {"name": "c", "emptyDir": {}},
                {"name": "d", "projected": {"sources": [
                    {"serviceAccountToken": {"path": "t"}},
                    {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
                ]}},
            ],
            "containers": [{
                "name": "m", "livenessProbe": {"httpGet": {"port": 1}}, "readinessProbe": {"tcpSocket": {"port": 1}},
                "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                "lifecycle": {"preStop": {"httpGet": {"port": 1, "scheme": "HTTPS"}}},
            }],
        }});
        fill_in(&mut template);
        let reference = json!({"apiVersion": "v1", "fieldPath": "metadata.name"});
        let expected = json!({"spec": {
            "volumes": [
                {"name": "a", "secret": {"secretName": "s", "defaultMode": 420}},
                {"name": "b", "configMap": {"name": "c", "defaultMode": 256}},
                {"name": "c", "emptyDir": {}},
                {"name": "d", "projected": {"defaultMode": 420, "sources": [
                    {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}},
                    {"downwardAPI": {"items": [{"path": "n", "fieldRef": reference}]}},
                ]}},
            ],
            "containers": [{
                "name": "m", "livenessProbe": {"httpGet": {"port": 1, "path": "/", "scheme": "HTTP"}},
                "readinessProbe": {"tcpSocket": {"port": 1}},
                "env": [{"name": "N", "valueFrom": {"fieldRef": reference}}],
                "lifecycle": {"preStop": {"httpGet": {"port": 1, "path": "/", "scheme": "HTTPS"}}},
            }],
        }});
        assert_eq!(template, expected);
    }
}
