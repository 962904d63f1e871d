//! What a registry becomes.

use serde_json::json;
use thv_api::kinds::MCPRegistrySpec;
use thv_api::names::children::{keys, mcp_registry};
use thv_api::names::{annotations, containers, labels};
use thv_api::value::Port;
use thv_config::Checksum;

use super::{pod, role};
use crate::child::{Child, ChildKind};
use crate::digest::digest;
use crate::invalid::Invalid;
use crate::json::object;
use crate::metadata::Pairs;
use crate::overrides::IgnoredOverrides;
use crate::owner::Owner;
use crate::pod_defaults::fill_in;
use crate::pod_template;
use crate::pull_secrets::PullSecrets;
use crate::rbac;
use crate::service;
use crate::snapshot::Snapshot;

/// What a registry becomes.
#[derive(Debug)]
pub(super) struct Content {
    /// The children, in the order in which they are applied.
    pub(super) children: Vec<Child>,
    /// The overrides that are ignored.
    pub(super) ignored: IgnoredOverrides,
    /// The digest of what the pods run, the configuration included.
    pub(super) hash: String,
}

/// What a registry becomes, or what is wrong with its pod template.
pub(super) fn content(snapshot: &Snapshot<MCPRegistrySpec>) -> Result<Content, Invalid> {
    let (name, spec, settings) = (snapshot.name(), &snapshot.owner.spec, snapshot.settings.as_ref());
    let owner = Owner::from(snapshot.owner.as_ref());
    let named = spec.image_pull_secrets.iter().flatten().map(|secret| secret.name.as_str());
    let pull_secrets = PullSecrets::new(named, settings);
    let mut ignored = IgnoredOverrides::default();

    let api = labels::registry(&mcp_registry::api(name), name);
    let template = pod::template(name, spec, &api, pull_secrets.all(), settings);
    let user = spec.pod_template_spec.as_ref();
    let mut template = pod_template::apply(template, user, containers::REGISTRY_API, &api, &mut ignored)?;
    pod::check_merged(name, spec, &template)?;
    fill_in(&mut template);
    // Pods read their configuration when they start, so another one takes other pods.
    let hash = digest(&json!([template, spec.config_yaml]));
    if let Some(template) = template.as_object_mut() {
        object(template, "metadata", |metadata| {
            object(metadata, "annotations", |all| {
                all.insert(annotations::CONFIG_HASH.to_owned(), hash.as_str().into());
            });
        });
    }
    let body = json!({
        "metadata": { "labels": api },
        "spec": { "selector": { "matchLabels": selector(&api) }, "template": template },
    });
    let deployment = owner.child(ChildKind::Deployment, &mcp_registry::api(name), body, api.clone());
    let body = json!({ "metadata": { "labels": api }, "spec": service::spec(&selector(&api), Port::HTTP) });
    let service = owner.child(ChildKind::Service, &mcp_registry::api(name), body, api);

    let mut children = vec![config_map(&owner, &spec.config_yaml).with_revision()];
    children.extend(rights(&owner, &pull_secrets));
    children.extend([service, deployment.with_revision()]);
    Ok(Content { children, ignored, hash })
}

/// The labels by which the pods are found. They never change.
fn selector(labels: &Pairs) -> Pairs {
    let finds = |key: &str| [labels::APP_NAME, labels::APP_COMPONENT].contains(&key);
    labels.iter().filter(|(key, _)| finds(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The configuration, as it was written.
fn config_map(owner: &Owner<'_>, text: &str) -> Child {
    let name = mcp_registry::config(owner.name);
    let labels = labels::registry(&name, owner.name);
    let checksum = Checksum::of(text.as_bytes()).to_string();
    let body = json!({
        "metadata": { "labels": labels, "annotations": { annotations::CONTENT_CHECKSUM: checksum } },
        "data": { keys::CONFIG: text },
    });
    owner.child(ChildKind::ConfigMap, &name, body, labels)
}

/// What the pods are and what they may do.
fn rights(owner: &Owner<'_>, pull_secrets: &PullSecrets) -> [Child; 3] {
    let name = mcp_registry::service_account(owner.name);
    let labels = labels::registry(&name, owner.name);
    [
        (ChildKind::ServiceAccount, rbac::account(&labels, pull_secrets.for_accounts())),
        (ChildKind::Role, rbac::role(&labels, role::rules())),
        (ChildKind::RoleBinding, rbac::role_binding(&labels, &name, owner.namespace)),
    ]
    .map(|(kind, body)| owner.child(kind, &name, body, labels.clone()))
}
