//! What conditions say about pods and how many there are. Kinds have these conditions in common.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::common::{AutoscalerConflict, OverridesAccepted, SessionStorageWarning};
use thv_api::conditions::{Observation, Reason};
use thv_api::shared::{SessionProvider, SessionStorage};

use super::{Deployed, workload};
use crate::invalid::Invalid;
use crate::overrides::IgnoredOverrides;
use crate::snapshot::Snapshot;

/// Several pods that do not share sessions lose them. A Redis of the whole operator counts for objects that do not say
/// where sessions are to be kept.
pub(crate) fn session_storage<S: Deployed>(
    snapshot: &Snapshot<S>,
    storage: Option<&SessionStorage>,
    observe: &Observation<'_>,
) -> Condition {
    let shared = match storage.map(|storage| storage.provider) {
        Some(SessionProvider::Redis) => true,
        Some(SessionProvider::Memory) => false,
        None => snapshot.settings.default_redis.is_some(),
    };
    match snapshot.owner.spec.replicas() {
        Some(count) if count > 1 && shared => {
            observe.condition(SessionStorageWarning::Configured, "all replicas share the sessions in Redis")
        }
        Some(count) if count > 1 => observe.condition(
            SessionStorageWarning::Missing,
            format!(
                "{count} replicas do not share sessions: a client that reaches another one has to start over; set \
                 sessionStorage.provider to redis"
            ),
        ),
        Some(_) => observe.condition(
            SessionStorageWarning::NotApplicable,
            "there is one replica at most, which keeps its sessions itself",
        ),
        None => {
            observe.condition(SessionStorageWarning::NotApplicable, "the number of replicas is left to others")
        }
    }
}

/// Settings of Redis in a storage that is memory.
pub(crate) fn idle_redis(storage: Option<&SessionStorage>) -> Option<String> {
    let SessionStorage { provider, address, db, key_prefix, password_ref } = storage?;
    let any = address.is_some() || *db != 0 || key_prefix.is_some() || password_ref.is_some();
    let idle = any && *provider == SessionProvider::Memory;
    idle.then(|| {
        "spec.sessionStorage: settings of Redis have no effect on provider memory: remove them".to_owned()
    })
}

/// Whether autoscalers and the object disagree about the number of pods.
pub(crate) fn autoscalers<S: Deployed>(
    snapshot: &Snapshot<S>,
    observe: &Observation<'_>,
) -> Option<Condition> {
    let mut names = workload(snapshot).autoscalers.clone();
    if names.is_empty() {
        return None;
    }
    names.sort();
    let names = names.join(", ");
    let spec = &snapshot.owner.spec;
    match (spec.replicas(), spec.most_replicas()) {
        (Some(count), _) => Some(observe.condition(
            AutoscalerConflict::ReplicasSet,
            format!(
                "the autoscaler {names} targets the Deployment, and spec.replicas is {count}: what the autoscaler \
                 sets is set back; remove spec.replicas, or the autoscaler"
            ),
        )),
        (None, Some(_)) => Some(observe.condition(
            AutoscalerConflict::StdioTransport,
            format!(
                "the autoscaler {names} targets the Deployment of a stdio server, which has one proxy at most: \
                 remove the autoscaler, or use another transport"
            ),
        )),
        (None, None) => None,
    }
}

/// Whether all overrides were accepted. Without any there is nothing to say.
pub(crate) fn overrides(
    any: bool,
    ignored: &IgnoredOverrides,
    observe: &Observation<'_>,
) -> Option<Condition> {
    if !ignored.is_empty() {
        return Some(observe.condition(OverridesAccepted::ReservedNames, ignored.message()));
    }
    any.then(|| observe.condition(OverridesAccepted::Accepted, "nothing that was added had to be left out"))
}

/// Whether the pod template can be used. Without one there is nothing to say.
pub(crate) fn pod_template<R: Reason>(
    result: Option<&Result<(), Invalid>>,
    valid: R,
    invalid: R,
    observe: &Observation<'_>,
) -> Option<Condition> {
    Some(match result? {
        Ok(()) => observe.condition(valid, "podTemplateSpec is a pod template"),
        Err(why) => observe.condition(invalid, why.to_string()),
    })
}
