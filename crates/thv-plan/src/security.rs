//! Security contexts of the pods that we make: those of the restricted Pod Security profile.

use serde_json::{Value, json};

use crate::settings::Platform;

/// The user and the group that our pods run as, where the platform does not choose them.
const NOBODY_IN_PARTICULAR: i64 = 1000;

/// The security context of a pod.
pub fn pod(platform: Platform) -> Value {
    let mut context = json!({
        "runAsNonRoot": true,
        "seccompProfile": { "type": "RuntimeDefault" },
    });
    choose_ids(&mut context, platform, &["runAsUser", "runAsGroup", "fsGroup"]);
    context
}

/// The security context of a container.
pub fn container(platform: Platform) -> Value {
    let mut context = json!({
        "privileged": false,
        "runAsNonRoot": true,
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "seccompProfile": { "type": "RuntimeDefault" },
        "capabilities": { "drop": ["ALL"] },
    });
    choose_ids(&mut context, platform, &["runAsUser", "runAsGroup"]);
    context
}

/// OpenShift gives every namespace a range of ids and refuses pods that name others.
fn choose_ids(context: &mut Value, platform: Platform, fields: &[&str]) {
    match platform {
        Platform::OpenShift => {}
        Platform::Kubernetes => {
            if let Some(context) = context.as_object_mut() {
                for field in fields {
                    context.insert((*field).to_owned(), NOBODY_IN_PARTICULAR.into());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_named_on_kubernetes_only() {
        let ids = |context: &Value| {
            ["runAsUser", "runAsGroup", "fsGroup"].map(|field| context.get(field).and_then(Value::as_i64))
        };
        assert_eq!(ids(&pod(Platform::Kubernetes)), [Some(1000); 3]);
        assert_eq!(ids(&pod(Platform::OpenShift)), [None; 3]);
        assert_eq!(ids(&container(Platform::Kubernetes)), [Some(1000), Some(1000), None]);
        assert_eq!(ids(&container(Platform::OpenShift)), [None; 3]);
    }

    #[test]
    fn everything_else_is_the_same_everywhere() {
        for platform in [Platform::Kubernetes, Platform::OpenShift] {
            let context = container(platform);
            for (field, expected) in [
                ("privileged", json!(false)),
                ("runAsNonRoot", json!(true)),
                ("allowPrivilegeEscalation", json!(false)),
                ("readOnlyRootFilesystem", json!(true)),
                ("seccompProfile", json!({"type": "RuntimeDefault"})),
                ("capabilities", json!({"drop": ["ALL"]})),
            ] {
                assert_eq!(context[field], expected, "{field}");
            }
            let context = pod(platform);
            assert_eq!(context["runAsNonRoot"], json!(true));
            assert_eq!(context["seccompProfile"], json!({"type": "RuntimeDefault"}));
        }
    }
}
