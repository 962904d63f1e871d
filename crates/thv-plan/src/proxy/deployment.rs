//! The Deployment of the proxy.

use serde_json::{Value, json};

use super::Proxy;
use crate::child::{Child, ChildKind};
use crate::metadata::{Metadata, OnDeployment};

/// The Deployment. Without `replicas`, their number is not ours.
pub(crate) fn deployment(
    proxy: &Proxy<'_>,
    metadata: &Metadata<OnDeployment>,
    replicas: Option<i32>,
    template: Value,
) -> Child {
    let mut spec = json!({ "selector": { "matchLabels": proxy.labels() }, "template": template });
    if let (Some(replicas), Some(spec)) = (replicas, spec.as_object_mut()) {
        spec.insert("replicas".to_owned(), replicas.into());
    }
    let body = json!({ "metadata": metadata.render(), "spec": spec });
    proxy.child(ChildKind::Deployment, &proxy.names.deployment, body)
}
