//! The Service in front of the proxy.

use serde_json::json;
use thv_api::kinds::ServiceType;
use thv_api::shared::SessionAffinity;
use thv_api::value::Port;

use super::Proxy;
use crate::child::{Child, ChildKind};
use crate::metadata::{Metadata, OnService, Pairs, UserMetadata};
use crate::overrides::IgnoredOverrides;
use crate::service::spec;

/// How long a client stays with one pod, in seconds: what the API server would choose.
const AFFINITY_SECONDS: i32 = 10_800;

/// The Service of the proxy. Without a type, that is not ours.
///
/// How long affinity lasts is set although it is the default, so that it is ours and goes when affinity is switched
/// off.
pub(crate) fn service(
    proxy: &Proxy<'_>,
    type_: Option<ServiceType>,
    port: Port,
    affinity: SessionAffinity,
    user: &UserMetadata<'_, OnService>,
    ignored: &mut IgnoredOverrides,
) -> Child {
    let metadata = Metadata::<OnService>::new(proxy.labels(), Pairs::new()).with(user, ignored);
    let mut spec = spec(&proxy.labels(), port);
    if let Some(spec) = spec.as_object_mut() {
        if let Some(type_) = type_ {
            spec.insert("type".to_owned(), json!(type_));
        }
        spec.insert("sessionAffinity".to_owned(), json!(affinity));
        if affinity == SessionAffinity::ClientIP {
            let config = json!({ "clientIP": { "timeoutSeconds": AFFINITY_SECONDS } });
            spec.insert("sessionAffinityConfig".to_owned(), config);
        }
    }
    let body = json!({ "metadata": metadata.render(), "spec": spec });
    proxy.child(ChildKind::Service, &proxy.names.service, body)
}
