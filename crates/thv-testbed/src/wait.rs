//! Waiting by watching, with a deadline and a message that shows what was there instead.

use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::StreamExt;
use k8s_openapi::api::core::v1::{Event, Service, ServiceSpec};
use kube::api::ListParams;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::watch_object;
use kube::{Api, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How long a test waits for something that should take a moment.
pub const DEADLINE: Duration = Duration::from_mins(1);

/// How long one attempt to connect may take.
const ATTEMPT: Duration = Duration::from_millis(500);

/// Waits until the object named `name` exists and `done` says yes to it, and returns it as it then is.
/// `what` completes the sentence "waited until …".
pub async fn until<K>(api: &Api<K>, name: &str, what: &str, done: impl FnMut(&K) -> bool) -> Result<K>
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned + Send + 'static,
{
    until_within(DEADLINE, api, name, what, done).await
}

/// The same with a deadline of one's own.
pub async fn until_within<K>(
    deadline: Duration,
    api: &Api<K>,
    name: &str,
    what: &str,
    mut done: impl FnMut(&K) -> bool,
) -> Result<K>
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned + Send + 'static,
{
    match watch(deadline, api, name, |object| object.is_some_and(&mut done)).await {
        Ok(Some(object)) => Ok(object),
        Ok(None) => bail!("the watch of {name} reported an absent object as present"),
        Err(seen) => bail!("{}", seen.explain(api, name, what, deadline).await),
    }
}

/// Waits until no object named `name` exists.
pub async fn gone<K>(api: &Api<K>, name: &str) -> Result<()>
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned + Send + 'static,
{
    match watch(DEADLINE, api, name, |object| object.is_none()).await {
        Ok(_) => Ok(()),
        Err(seen) => bail!("{}", seen.explain(api, name, "it is gone", DEADLINE).await),
    }
}

/// Waits until a Service lets connections through to a pod, and returns its IP address.
///
/// That is later than the Service's making and its pods' readiness, by what kube-proxy needs to write its rules. A
/// connection that is begun before is lost for good: the kernel decides with its first packet where it goes.
pub async fn carries(services: &Api<Service>, name: &str) -> Result<String> {
    let Some(ServiceSpec { cluster_ip: Some(ip), ports: Some(ports), .. }) = services.get(name).await?.spec
    else {
        bail!("the Service {name} has no address");
    };
    let port = u16::try_from(ports.first().context("a Service has no port")?.port)?;
    let connecting = async {
        while !matches!(timeout(ATTEMPT, TcpStream::connect((ip.as_str(), port))).await, Ok(Ok(_))) {
            sleep(ATTEMPT / 5).await;
        }
    };
    timeout(DEADLINE, connecting)
        .await
        .with_context(|| format!("waited {DEADLINE:?} until the Service {name} carries at {ip}:{port}"))?;
    Ok(ip)
}

/// Whether an object's status has a condition of this type with this status.
pub fn has_condition<K: Serialize>(object: &K, kind: &str, status: &str) -> bool {
    let Ok(value) = serde_json::to_value(object) else { return false };
    let conditions = value.pointer("/status/conditions").and_then(|list| list.as_array());
    conditions.into_iter().flatten().any(|condition| {
        condition.get("type").is_some_and(|value| value == kind)
            && condition.get("status").is_some_and(|value| value == status)
    })
}

/// What a wait saw last, when it gave up.
struct Seen<K> {
    object: Option<K>,
    error: Option<kube::runtime::watcher::Error>,
}

async fn watch<K>(
    deadline: Duration,
    api: &Api<K>,
    name: &str,
    mut done: impl FnMut(Option<&K>) -> bool,
) -> Result<Option<K>, Box<Seen<K>>>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let mut seen = Box::new(Seen { object: None, error: None });
    let watching = async {
        let mut states = watch_object(api.clone(), name).default_backoff().boxed();
        while let Some(state) = states.next().await {
            match state {
                Ok(object) => {
                    let finished = done(object.as_ref());
                    *seen = Seen { object, error: None };
                    if finished {
                        return;
                    }
                }
                Err(error) => seen.error = Some(error),
            }
        }
    };
    match timeout(deadline, watching).await {
        Ok(()) => Ok(seen.object),
        Err(_) => Err(seen),
    }
}

impl<K> Seen<K>
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned,
{
    async fn explain(self, api: &Api<K>, name: &str, what: &str, deadline: Duration) -> String {
        let mut lines = vec![format!("waited {deadline:?} for {name} until {what}.")];
        lines.extend(self.error.map(|error| format!("The watch failed: {error}")));
        let Some(mut object) = self.object else {
            lines.push("There is no such object.".to_owned());
            return lines.join("\n");
        };
        object.meta_mut().managed_fields = None;
        lines.push(format!("It was:\n{}", yaml(&object)));
        if let Some(namespace) = object.namespace() {
            let events: Api<Event> = Api::namespaced(api.clone().into_client(), &namespace);
            let about = ListParams::default().fields(&format!("involvedObject.name={name}"));
            for event in events.list(&about).await.into_iter().flat_map(|list| list.items) {
                let (reason, message) = (event.reason.unwrap_or_default(), event.message.unwrap_or_default());
                lines.push(format!("Event {reason}: {message}"));
            }
        }
        lines.join("\n")
    }
}

/// An object the way people read it.
pub(crate) fn yaml<K: Serialize>(object: &K) -> String {
    serde_saphyr::to_string(object).unwrap_or_else(|error| format!("(cannot be shown: {error})"))
}
