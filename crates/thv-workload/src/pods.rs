//! The pods of the backend: who they are, and which of them stand in the way.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use thv_api::names::{containers, labels};
use thv_plan::Token;
use tokio::sync::watch;

use crate::fence::Mark;
use crate::instance::{Instance, Instances};
use crate::render::DraftKind;
use crate::seen::SeenPod;
use crate::standing::{Standing, Tally};
use crate::stuck::{SetSight, cannot_start, stands_in_the_way};
use crate::trouble::Trouble;
use crate::view::{self, is_of};
use crate::writer::Writer;

/// The label by which a StatefulSet tells its pods of one template from those of another.
const REVISION: &str = "controller-revision-hash";

/// How long we wait before we try again to delete a pod.
const AGAIN: Duration = Duration::from_secs(10);

/// What is kept of a pod: about two hundred bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodSight {
    pub(crate) uid: String,
    pub(crate) ordinal: u32,
    /// The uid of its StatefulSet.
    pub(crate) set: String,
    pub(crate) revision: Option<String>,
    pub(crate) ip: Option<IpAddr>,
    pub(crate) container: String,
    pub(crate) ready: bool,
    pub(crate) terminating: bool,
    pub(crate) cannot_start: bool,
}

/// Looks at a pod; nothing if it is not one of the StatefulSet of this name. Labels do not tell: a server that is called
/// `mcpserver` shares its own with the proxies of all servers.
pub(crate) fn sight(pod: &SeenPod, server: &str) -> Option<PodSight> {
    let SeenPod { metadata, status } = pod;
    let mut owners = metadata.owner_references.iter().flatten();
    let set = owners.find(|owner| owner.controller == Some(true))?;
    if !is_of(set, "apps", "StatefulSet") || set.name != server {
        return None;
    }
    let ordinal = metadata.name.as_deref()?.strip_prefix(server)?.strip_prefix('-')?.parse().ok()?;
    let server = status.container_statuses.iter().find(|container| container.name == containers::MCP);
    let is_ready =
        |condition: &crate::seen::SeenCondition| condition.type_ == "Ready" && condition.status == "True";
    Some(PodSight {
        uid: metadata.uid.clone()?,
        ordinal,
        set: set.uid.clone(),
        revision: metadata.labels.as_ref().and_then(|all| all.get(REVISION)).cloned(),
        ip: status.pod_ip.parse().ok(),
        container: server.map(|container| container.container_id.clone()).unwrap_or_default(),
        ready: status.conditions.iter().any(is_ready),
        terminating: metadata.deletion_timestamp.is_some(),
        cannot_start: cannot_start(pod),
    })
}

/// The instances among the pods of a StatefulSet: those whose container was started.
fn instances<'a>(pods: impl IntoIterator<Item = &'a PodSight>, set: &str, port: u16) -> Instances {
    let mut all: Vec<Instance> = pods
        .into_iter()
        .filter(|pod| pod.set == set && !pod.container.is_empty())
        .filter_map(|pod| {
            Some(Instance {
                ordinal: pod.ordinal,
                uid: Arc::from(pod.uid.as_str()),
                container: Arc::from(pod.container.as_str()),
                address: SocketAddr::new(pod.ip?, port),
                ready: pod.ready,
                terminating: pod.terminating,
            })
        })
        .collect();
    all.sort_by(|one, other| (one.ordinal, &one.uid).cmp(&(other.ordinal, &other.uid)));
    all.into()
}

/// What follows the pods.
pub(crate) struct Follower {
    pub(crate) writer: Writer,
    pub(crate) token: Option<Token>,
    pub(crate) port: u16,
    pub(crate) set: watch::Receiver<Option<SetSight>>,
    pub(crate) standing: watch::Receiver<Standing>,
    pub(crate) instances: watch::Sender<Instances>,
    pub(crate) tally: Arc<Tally>,
}

impl Follower {
    /// Follows the pods until somebody ends it.
    pub(crate) async fn run(mut self, client: Client, namespace: &str) {
        let api: Api<SeenPod> = Api::namespaced(client, namespace);
        let selector = format!("{}={}", labels::APP, self.writer.server());
        let mut events = watcher(api, watcher::Config::default().labels(&selector)).default_backoff().boxed();
        let mut pods = Pods::default();
        loop {
            let retry = async {
                match pods.again {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            let is_fine = tokio::select! {
                event = events.next() => match event {
                    Some(Ok(event)) => { pods.take(event, self.writer.server()); true }
                    Some(Err(error)) => { tracing::debug!(%error, "cannot watch the pods of the backend"); true }
                    None => false,
                },
                result = self.set.changed() => result.is_ok(),
                result = self.standing.changed() => result.is_ok(),
                () = retry => true,
            };
            if !is_fine {
                return;
            }
            if pods.is_known {
                self.publish(&pods);
                pods.again = self.clear_the_way(&mut pods).await;
            }
        }
    }

    fn publish(&self, pods: &Pods) {
        let all = match &*self.set.borrow() {
            Some(set) => instances(pods.all.values(), &set.uid, self.port),
            None => Instances::from([]),
        };
        self.instances.send_if_modified(|last| {
            let is_news = *last != all;
            if is_news {
                *last = all;
            }
            is_news
        });
    }

    /// Deletes one pod that stands in the way, if it is ours to do so. Returns when to try again.
    async fn clear_the_way(&self, pods: &mut Pods) -> Option<Duration> {
        let (token, set) = (self.token.as_ref()?, self.set.borrow().clone()?);
        if *self.standing.borrow() != Standing::Bound {
            return None;
        }
        let mut all = pods.all.iter();
        let (name, uid) = all
            .find(|(_, pod)| stands_in_the_way(pod, &set) && !pods.doomed.contains(&pod.uid))
            .map(|(name, pod)| (name.clone(), pod.uid.clone()))?;
        match self.delete(token, &set, &name, &uid).await {
            Ok(true) => {
                tracing::info!(pod = name, "deleted a pod that could not start, so that a newer one can");
                self.tally.count_replaced_pod();
                pods.doomed.insert(uid);
                // There may be more.
                Some(Duration::ZERO)
            }
            Ok(false) => Some(AGAIN),
            Err(trouble) => {
                tracing::warn!(%trouble, pod = name, "cannot delete a pod that stands in the way of newer ones");
                Some(AGAIN)
            }
        }
    }

    /// Deletes a pod, if the StatefulSet is still what it was thought to be.
    async fn delete(&self, token: &Token, set: &SetSight, name: &str, uid: &str) -> Result<bool, Trouble> {
        let Some(live) = self.writer.read(DraftKind::StatefulSet, self.writer.server()).await? else {
            return Ok(false);
        };
        let is_mine = matches!(view::mark(&live.metadata), Mark::Is(applied) if applied.token == *token);
        let revision = live.data.pointer("/status/updateRevision").and_then(|revision| revision.as_str());
        let is_same =
            live.metadata.uid.as_deref() == Some(&set.uid) && revision == set.update_revision.as_deref();
        if is_mine && is_same {
            self.writer.delete_pod(name, uid).await?;
        }
        Ok(is_mine && is_same)
    }
}

/// All pods that are there.
#[derive(Default)]
struct Pods {
    all: BTreeMap<String, PodSight>,
    /// Those of a list that is not complete yet.
    listed: BTreeMap<String, PodSight>,
    is_known: bool,
    /// The uids of those that were told to go.
    doomed: BTreeSet<String>,
    again: Option<Duration>,
}

impl Pods {
    fn take(&mut self, event: Event<SeenPod>, server: &str) {
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(pod) => put(&mut self.listed, &pod, server),
            Event::InitDone => {
                self.all = std::mem::take(&mut self.listed);
                self.is_known = true;
            }
            Event::Apply(pod) => put(&mut self.all, &pod, server),
            Event::Delete(pod) => {
                self.all.remove(pod.metadata.name.as_deref().unwrap_or_default());
            }
        }
        let Self { all, doomed, .. } = self;
        doomed.retain(|uid| all.values().any(|pod| pod.uid == *uid));
    }
}

fn put(pods: &mut BTreeMap<String, PodSight>, pod: &SeenPod, server: &str) {
    let name = pod.metadata.name.clone().unwrap_or_default();
    match sight(pod, server) {
        Some(sight) => drop(pods.insert(name, sight)),
        None => drop(pods.remove(&name)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(name: &str, owner: (&str, &str, &str), change: impl FnOnce(&mut Value)) -> SeenPod {
        let (api_version, kind, set) = owner;
        let mut pod = json!({
            "metadata": {
                "name": name, "uid": format!("uid-{name}"),
                "ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": set, "uid": "set", "controller": true}],
            },
            "status": {
                "phase": "Running", "podIP": "10.1.2.3",
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [
                    {"name": "side", "containerID": "containerd://side"}, {"name": "mcp", "containerID": "containerd://a"},
                ],
            },
        });
        change(&mut pod);
        serde_json::from_value(pod).unwrap()
    }

    const SET: (&str, &str, &str) = ("apps/v1", "StatefulSet", "mcpserver");

    #[test]
    fn instances_are_the_pods_of_the_set_that_have_started() {
        let seen = [
            pod("mcpserver-10", SET, |_| {}),
            pod("mcpserver-2", SET, |pod| {
                pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }),
            pod("mcpserver-0", SET, |pod| pod["status"]["conditions"][0]["status"] = json!("False")),
            pod("mcpserver-1", SET, |pod| pod["status"] = json!({"phase": "Pending"})),
            pod("mcpserver-3", SET, |pod| pod["status"]["podIP"] = json!("fd00::1")),
            pod("mcpserver-4", SET, |pod| pod["metadata"]["ownerReferences"][0]["uid"] = json!("former")),
        ];
        let sights: Vec<_> = seen.iter().filter_map(|pod| sight(pod, "mcpserver")).collect();
        let all = instances(&sights, "set", 3000);
        let told: Vec<_> =
            all.iter().map(|i| (i.ordinal, i.ready, i.terminating, i.address.to_string())).collect();
        assert_eq!(
            told,
            [
                (0, false, false, "10.1.2.3:3000".to_owned()),
                (2, true, true, "10.1.2.3:3000".to_owned()),
                (3, true, false, "[fd00::1]:3000".to_owned()),
                (10, true, false, "10.1.2.3:3000".to_owned()),
            ]
        );
        assert_eq!(&*all[0].key(), "0/uid-mcpserver-0/containerd://a");
    }

    #[test]
    fn pods_of_others_are_not_taken_for_ours() {
        for (name, owner) in [
            ("mcpserver-0", ("apps/v1", "ReplicaSet", "mcpserver")),
            ("mcpserver-0", ("apps/v1", "StatefulSet", "other")),
            ("mcpserver-0", ("example.com/v1", "StatefulSet", "mcpserver")),
            ("mcpserver-x", SET),
            ("other-0", SET),
        ] {
            assert_eq!(sight(&pod(name, owner, |_| {}), "mcpserver"), None, "{name} {owner:?}");
        }
        assert_eq!(
            sight(
                &pod("mcpserver-0", SET, |pod| pod["metadata"]["ownerReferences"] = json!([])),
                "mcpserver"
            ),
            None
        );
    }

    #[test]
    fn a_list_replaces_what_was_known_only_when_it_is_complete() {
        let mut pods = Pods::default();
        pods.take(Event::Apply(pod("mcpserver-0", SET, |_| {})), "mcpserver");
        assert!(!pods.is_known);
        pods.take(Event::Init, "mcpserver");
        pods.take(Event::InitApply(pod("mcpserver-1", SET, |_| {})), "mcpserver");
        assert!(pods.all.contains_key("mcpserver-0"));
        pods.take(Event::InitDone, "mcpserver");
        assert_eq!(pods.all.keys().collect::<Vec<_>>(), ["mcpserver-1"]);
        pods.take(Event::Delete(pod("mcpserver-1", SET, |_| {})), "mcpserver");
        assert!(pods.all.is_empty() && pods.is_known);
    }
}
