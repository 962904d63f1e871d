//! The changes to the backend's pods that the proxy is started with: `--k8s-pod-patch=<json>`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thv_api::kinds::SecretEnv;
use thv_api::names::{annotations, containers};
use thv_api::value::RawObject;

use crate::digest::canonical;
use crate::json::{list, object};
use crate::overrides::{IgnoredOverrides, RESERVED};
use crate::pod_template::FIELD;

/// What is added to the user's template.
#[derive(Clone, Copy, Debug)]
pub(super) struct Additions<'a> {
    /// The ServiceAccount of the pods. Empty for that of the namespace.
    pub(super) service_account: &'a str,
    /// The Secrets that become variables of the server.
    pub(super) secrets: &'a [SecretEnv],
    /// Credentials that the ServiceAccount does not bring.
    pub(super) pull_secrets: &'a [String],
    /// Digest of content that is rotated behind its name, if the pods are to restart for that.
    pub(super) rotated_content: Option<&'a str>,
}

/// The argument, if there is anything to change.
pub(super) fn argument(
    template: Option<&RawObject>,
    additions: Additions<'_>,
    ignored: &mut IgnoredOverrides,
) -> Option<String> {
    let mut patch = template.map(|raw| raw.0.clone()).unwrap_or_default();
    protect_stamp(&mut patch, ignored);
    let Additions { service_account, secrets, pull_secrets, rotated_content } = additions;
    if let Some(digest) = rotated_content {
        object(&mut patch, "metadata", |metadata| {
            object(metadata, "annotations", |all| {
                all.insert(annotations::ROTATED_CONTENT.to_owned(), digest.into());
            });
        });
    }
    if !(service_account.is_empty() && secrets.is_empty() && pull_secrets.is_empty()) {
        object(&mut patch, "spec", |spec| {
            if !service_account.is_empty() {
                set_service_account(spec, service_account, ignored);
            }
            if !secrets.is_empty() {
                list(spec, "containers", |containers| add_secrets(containers, secrets, ignored));
            }
            if !pull_secrets.is_empty() {
                list(spec, "imagePullSecrets", |all| add_pull_secrets(all, pull_secrets));
            }
        });
    }
    (!patch.is_empty()).then(|| format!("--k8s-pod-patch={}", canonical(&Value::Object(patch))))
}

/// The proxy stamps the pods of the backend. A value of the user's would be taken for the proxy's.
fn protect_stamp(patch: &mut Map<String, Value>, ignored: &mut IgnoredOverrides) {
    let metadata = patch.get_mut("metadata").and_then(Value::as_object_mut);
    let Some(all) = metadata.and_then(|all| all.get_mut("annotations")).and_then(Value::as_object_mut) else {
        return;
    };
    if all.remove(annotations::MCP_SERVER_GENERATION).is_some() {
        let key = annotations::MCP_SERVER_GENERATION;
        ignored.ignore(format!("{FIELD}.metadata.annotations[{key}]"), RESERVED);
    }
}

fn set_service_account(spec: &mut Map<String, Value>, account: &str, ignored: &mut IgnoredOverrides) {
    let before = spec.insert("serviceAccountName".to_owned(), account.into());
    if before.is_some_and(|value| !value.is_null() && value != account) {
        ignored.ignore(format!("{FIELD}.spec.serviceAccountName"), "set spec.serviceAccount instead");
    }
}

/// Adds the variables to the container of the server. They win over variables of the same name in the template.
fn add_secrets(all: &mut Vec<Value>, secrets: &[SecretEnv], ignored: &mut IgnoredOverrides) {
    let variables = variables(secrets, ignored);
    let is_server = |container: &Value| container.get("name").is_some_and(|name| name == containers::MCP);
    let index = all.iter().position(is_server).unwrap_or_else(|| {
        all.push(json!({ "name": containers::MCP }));
        all.len() - 1
    });
    let Some(server) = all.get_mut(index).and_then(Value::as_object_mut) else { return };
    list(server, "env", |env| {
        env.retain(|entry| {
            let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
            let displaced = variables.contains_key(name);
            if displaced {
                ignored.ignore(format!("{FIELD}.spec.containers[mcp].env[{name}]"), "set by spec.secrets");
            }
            !displaced
        });
        env.extend(variables.into_values());
    });
}

/// The variables that Secrets become, by name. Of several Secrets for one variable, the first by name is taken.
fn variables(secrets: &[SecretEnv], ignored: &mut IgnoredOverrides) -> BTreeMap<String, Value> {
    let mut sorted: Vec<&SecretEnv> = secrets.iter().collect();
    sorted.sort_by_key(|secret| &secret.name);
    let mut variables = BTreeMap::new();
    for SecretEnv { name, key, target_env_name } in sorted {
        let variable = target_env_name.as_deref().filter(|target| !target.is_empty()).unwrap_or(key);
        if variables.contains_key(variable) {
            ignored.ignore(format!("spec.secrets[{name}]"), "another Secret becomes the same variable");
            continue;
        }
        let source = json!({ "secretKeyRef": { "name": name, "key": key } });
        variables.insert(variable.to_owned(), json!({ "name": variable, "valueFrom": source }));
    }
    variables
}

fn add_pull_secrets(all: &mut Vec<Value>, names: &[String]) {
    for name in names {
        if !all.iter().any(|entry| entry.get("name").is_some_and(|there| there == name.as_str())) {
            all.push(json!({ "name": name }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(value: Value) -> RawObject {
        serde_json::from_value(value).unwrap()
    }

    fn secret(name: &str, key: &str, target: Option<&str>) -> SecretEnv {
        SecretEnv { name: name.to_owned(), key: key.to_owned(), target_env_name: target.map(str::to_owned) }
    }

    fn made(template: Option<Value>, additions: Additions<'_>) -> (Option<Value>, IgnoredOverrides) {
        let mut ignored = IgnoredOverrides::default();
        let template = template.map(raw);
        let argument = argument(template.as_ref(), additions, &mut ignored);
        let patch = argument.map(|argument| {
            serde_json::from_str(argument.strip_prefix("--k8s-pod-patch=").unwrap()).unwrap()
        });
        (patch, ignored)
    }

    const NOTHING: Additions<'_> =
        Additions { service_account: "", secrets: &[], pull_secrets: &[], rotated_content: None };

    #[test]
    fn nothing_to_change_is_no_argument() {
        assert_eq!(made(None, NOTHING).0, None);
        assert_eq!(made(Some(json!({})), NOTHING).0, None);
    }

    #[test]
    fn what_we_do_not_know_survives_and_so_do_directives() {
        let template = json!({
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "futureField": {"x": [1, null]},
                "hostNetwork": true,
                "containers": [
                    {"name": "mcp", "env": [{"$patch": "replace"}, {"name": "A", "value": "1"}]},
                    {"name": "old", "$patch": "delete"},
                ],
                "$setElementOrder/containers": [{"name": "mcp"}],
            },
        });
        assert_eq!(made(Some(template.clone()), NOTHING).0, Some(template));
    }

    #[test]
    fn account_and_secrets_are_added() {
        let secrets = [secret("t", "TOKEN", None), secret("api", "key", Some("API_KEY"))];
        let additions = Additions {
            service_account: "web-sa",
            secrets: &secrets,
            pull_secrets: &[],
            rotated_content: None,
        };
        let env = json!([
            {"name": "API_KEY", "valueFrom": {"secretKeyRef": {"name": "api", "key": "key"}}},
            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "t", "key": "TOKEN"}}},
        ]);
        let expected =
            json!({"spec": {"serviceAccountName": "web-sa", "containers": [{"name": "mcp", "env": env}]}});
        let (patch, ignored) = made(Some(json!({"spec": null})), additions);
        assert_eq!(patch, Some(expected));
        assert!(ignored.is_empty());
    }

    #[test]
    fn what_is_overridden_in_the_template_is_reported_as_ignored() {
        let template = json!({
            "metadata": {"annotations": {"toolhive.stacklok.dev/mcpserver-generation": "99", "mine": "1"}},
            "spec": {
                "serviceAccountName": "mine",
                "containers": [{"name": "mcp", "env": [{"name": "K", "value": "1"}, {"name": "L", "value": "2"}]}],
            },
        });
        let secrets = [secret("b", "x", Some("K")), secret("a", "y", Some("K"))];
        let additions = Additions {
            service_account: "web-sa",
            secrets: &secrets,
            pull_secrets: &[],
            rotated_content: None,
        };
        let (patch, ignored) = made(Some(template), additions);
        let patch = patch.unwrap();
        assert_eq!(patch["metadata"]["annotations"], json!({"mine": "1"}));
        assert_eq!(patch["spec"]["serviceAccountName"], "web-sa");
        let env = json!([
            {"name": "L", "value": "2"},
            {"name": "K", "valueFrom": {"secretKeyRef": {"name": "a", "key": "y"}}},
        ]);
        assert_eq!(patch["spec"]["containers"][0]["env"], env);
        for field in ["mcpserver-generation", "serviceAccountName", "env[K]", "secrets[b]"] {
            assert!(ignored.message().contains(field), "{field}: {}", ignored.message());
        }
    }

    #[test]
    fn rotated_content_is_on_the_pods_beside_the_annotations_of_the_user() {
        let additions = Additions { rotated_content: Some("abc"), ..NOTHING };
        let (patch, _) = made(Some(json!({"metadata": {"annotations": {"mine": "1"}}})), additions);
        let expected = json!({"mine": "1", "toolhive.stacklok.dev/rotated-content": "abc"});
        assert_eq!(patch.unwrap()["metadata"]["annotations"], expected);
    }

    #[test]
    fn pull_secrets_are_there_once() {
        let names = ["a".to_owned(), "b".to_owned()];
        let additions =
            Additions { service_account: "", secrets: &[], pull_secrets: &names, rotated_content: None };
        let (patch, _) = made(Some(json!({"spec": {"imagePullSecrets": [{"name": "b"}]}})), additions);
        assert_eq!(patch.unwrap()["spec"]["imagePullSecrets"], json!([{"name": "b"}, {"name": "a"}]));
    }
}
