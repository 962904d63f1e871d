//! What brings the backend up and stays with it.

mod herald;
mod pass;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{BoxStream, SelectAll};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::watch_object;
use kube::{Api, Client};
use thv_api::names::children::mcp_server;
use thv_plan::{Contention, Platform, Token};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::document::{Binder, Binding};
use crate::fence::{Belonging, Mark};
use crate::render::{Draft, DraftKind};
use crate::seen::{SeenService, SeenSet};
use crate::standing::{Standing, Tally};
use crate::stuck::SetSight;
use crate::view;
use crate::writer::Writer;
use herald::Herald;

/// How often the configuration file is looked at: seldom while it is the right one.
const LOOK_WHEN_BOUND: Duration = Duration::from_secs(5);
const LOOK_WHEN_UNBOUND: Duration = Duration::from_secs(1);

/// Where a keeper tells what it knows.
pub(crate) struct Outlets {
    pub(crate) standing: watch::Sender<Standing>,
    pub(crate) set: watch::Sender<Option<SetSight>>,
    pub(crate) tally: Arc<Tally>,
}

/// Brings the backend up and stays with it.
pub(crate) struct Keeper {
    writer: Writer,
    token: Option<Token>,
    platform: Option<Platform>,
    binder: Binder,
    outlets: Outlets,
    herald: Herald,
    client: Client,
    namespace: String,
    /// What we have applied, by name.
    kept: BTreeMap<String, Kept>,
    /// How often in a row something went wrong.
    failures: u32,
    is_bound: bool,
}

/// An object that we have applied.
struct Kept {
    draft: Draft,
    /// What it came to.
    fingerprint: String,
    contention: Contention,
}

/// When to look again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// When something happens.
    Event,
    /// After a while, or when something happens.
    After(Duration),
    /// Never.
    Never,
}

/// Something that was seen of the backend's objects.
enum Sighting {
    Set(Option<Box<SeenSet>>),
    Service(String, Option<Box<ObjectMeta>>),
    Nothing,
}

impl Keeper {
    pub(crate) fn new(
        writer: Writer,
        token: Option<Token>,
        platform: Option<Platform>,
        binder: Binder,
        outlets: Outlets,
        client: Client,
        namespace: String,
    ) -> Self {
        let herald = Herald::new(client.clone(), &namespace, writer.server(), token.as_ref());
        Self {
            writer,
            token,
            platform,
            binder,
            outlets,
            herald,
            client,
            namespace,
            kept: BTreeMap::new(),
            failures: 0,
            is_bound: false,
        }
    }

    /// Runs until it is stopped. A pass is cut short then: whatever a request that is under way does, the fence holds.
    pub(crate) async fn run(self, has_services: bool, mut stopped: watch::Receiver<bool>) {
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => {}
            () = self.keep(has_services) => {}
        }
    }

    async fn keep(mut self, has_services: bool) {
        let mut sightings = self.watches(has_services);
        let mut due = Some(Instant::now());
        let mut look = Instant::now() + LOOK_WHEN_BOUND;
        let mut is_over = false;
        loop {
            let wait = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = wait => match self.pass().await {
                    Next::After(wait) => due = Some(Instant::now() + wait),
                    Next::Event => due = None,
                    Next::Never => {
                        (due, is_over) = (None, true);
                        // Others look after the Services now; which pods there are still matters.
                        sightings = self.watches(false);
                    }
                },
                sighting = sightings.next() => {
                    let Some(sighting) = sighting else { return };
                    if self.takes_notice(sighting) && !is_over {
                        due = Some(Instant::now());
                    }
                }
                () = tokio::time::sleep_until(look), if !is_over => {
                    let is_bound = matches!(self.binder.look().await, Binding::Bound(_));
                    if is_bound != self.is_bound {
                        due = Some(Instant::now());
                    }
                    look = Instant::now() + if is_bound { LOOK_WHEN_BOUND } else { LOOK_WHEN_UNBOUND };
                }
            }
        }
    }

    /// Everything that is watched. A role that is limited by names allows to watch just those.
    fn watches(&self, has_services: bool) -> SelectAll<BoxStream<'static, Sighting>> {
        let server = self.writer.server();
        let sets: Api<SeenSet> = Api::namespaced(self.client.clone(), &self.namespace);
        let set = watch_object(sets, &mcp_server::backend(server)).default_backoff().map(|seen| match seen {
            Ok(set) => Sighting::Set(set.map(Box::new)),
            Err(error) => missed(&error),
        });
        let mut all = SelectAll::new();
        all.push(set.boxed());
        if has_services {
            for name in [mcp_server::backend_service(server), mcp_server::backend_headless_service(server)] {
                let services: Api<SeenService> = Api::namespaced(self.client.clone(), &self.namespace);
                let service = watch_object(services, &name).default_backoff().map(move |seen| match seen {
                    Ok(service) => {
                        Sighting::Service(name.clone(), service.map(|service| Box::new(service.metadata)))
                    }
                    Err(error) => missed(&error),
                });
                all.push(service.boxed());
            }
        }
        all
    }

    /// Takes notice of what was seen. Whether it is other than what we left there.
    fn takes_notice(&self, sighting: Sighting) -> bool {
        match sighting {
            Sighting::Nothing => false,
            Sighting::Service(name, metadata) => self.is_changed(&name, metadata.as_deref()),
            Sighting::Set(set) => {
                let metadata = set.as_ref().map(|set| &set.metadata);
                let is_changed = self.is_changed(&mcp_server::backend(self.writer.server()), metadata);
                self.tell_of(set.as_deref());
                is_changed
            }
        }
    }

    /// Before the first apply there is nothing to compare with; a pass is due then anyway.
    fn is_changed(&self, name: &str, metadata: Option<&ObjectMeta>) -> bool {
        self.kept.get(name).is_none_or(|kept| match metadata {
            Some(metadata) => view::fingerprint(metadata, &kept.draft) != kept.fingerprint,
            None => true,
        })
    }

    /// Tells those who follow the pods. When the StatefulSet goes, its pods are still pods of that one.
    fn tell_of(&self, set: Option<&SeenSet>) {
        let sight = set.filter(|set| self.is_acceptable(&set.metadata)).map(|set| SetSight {
            uid: set.metadata.uid.clone().unwrap_or_default(),
            is_mine: match (&self.token, view::mark(&set.metadata)) {
                (Some(token), Mark::Is(applied)) => applied.token == *token,
                _ => false,
            },
            update_revision: set
                .status
                .update_revision
                .clone()
                .filter(|_| set.status.observed_generation == set.metadata.generation),
        });
        self.outlets.set.send_if_modified(|last| {
            let news = match (&sight, &mut *last) {
                (None, Some(gone)) => Some(SetSight { is_mine: false, ..gone.clone() }),
                (sight, _) => sight.clone(),
            };
            let is_news = news != *last;
            *last = news;
            is_news
        });
    }

    /// Whether the pods of a StatefulSet are those of our server, and not of a former one of the same name.
    fn is_acceptable(&self, metadata: &ObjectMeta) -> bool {
        let Some(token) = &self.token else { return true };
        let is_marked_ours = match view::mark(metadata) {
            Mark::Is(applied) => applied.token.uid == token.uid,
            Mark::Absent | Mark::Unreadable => true,
        };
        is_marked_ours
            && match view::belonging(metadata, DraftKind::StatefulSet, self.writer.server()) {
                Belonging::Open => true,
                Belonging::Server(uid) => uid == token.uid,
                Belonging::Foreign(_) => false,
            }
    }

    /// Tells how we stand, and logs it when it has turned.
    fn stand(&self, standing: Standing) {
        self.outlets.standing.send_if_modified(|last| {
            if *last == standing {
                return false;
            }
            match &standing {
                Standing::Bound => tracing::info!("the backend is what this proxy was made for"),
                Standing::Unbound => {
                    tracing::warn!(
                        "the configuration is not the one that this proxy was made for: it writes nothing"
                    );
                }
                Standing::Superseded { why } => tracing::info!(why, "this proxy writes nothing any more"),
                Standing::Waiting { why } => tracing::warn!(why, "the backend is not what it should be yet"),
                Standing::Refused { why } => tracing::error!(why, "the backend is left as it is"),
            }
            *last = standing;
            true
        });
    }
}

fn missed(error: &kube::runtime::watcher::Error) -> Sighting {
    tracing::debug!(%error, "cannot watch the backend");
    Sighting::Nothing
}
