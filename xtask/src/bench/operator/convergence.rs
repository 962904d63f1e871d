//! Watching servers until all is done about them, and watching that nothing happens then.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::ListParams;
use kube::core::PartialObjectMeta;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Resource, ResourceExt};
use thv_api::kinds::{MCPServer, MCPServerPhase, VirtualMCPServer};
use thv_testbed::usage::computed;

use crate::bench::site::Site;
use crate::shell::Stopwatch;

/// How often progress is told.
const TELL: Duration = Duration::from_secs(5);

/// What a watch has seen.
enum Seen {
    /// It has begun to watch.
    Everything,
    /// A server, as it now is.
    Server { name: String, version: u64, is_observed: bool, phase: Option<MCPServerPhase> },
    /// A Deployment.
    Deployment(String),
    /// Something that is of no interest.
    Nothing,
}

/// How long it took until all servers were settled.
pub(super) struct Convergence {
    /// Until the last server was created.
    pub(super) created: Duration,
    /// Until the last server was settled.
    pub(super) settled: Duration,
    /// What the API server computed until then.
    pub(super) server_computed: Duration,
}

/// Follows all servers and their Deployments.
pub(super) struct Follower {
    events: BoxStream<'static, Result<Seen>>,
    servers: BTreeMap<String, Option<MCPServerPhase>>,
    observed: BTreeSet<String>,
    deployed: BTreeSet<String>,
    /// The resourceVersion of the last change that counts as none.
    quiet_since: u64,
    /// How often a server was seen to change after that.
    pub(super) stirs: usize,
    /// How often any server was seen in another phase than before.
    pub(super) phases: usize,
}

impl Follower {
    /// Begins to watch.
    pub(super) async fn start(site: &Site) -> Result<Self> {
        let config = watcher::Config::default;
        let (servers, gateways): (Api<MCPServer>, Api<VirtualMCPServer>) = (site.api(), site.api());
        let deployments: Api<PartialObjectMeta<Deployment>> = site.api();
        let servers = watcher(servers, config()).map(|event| see(event, server));
        let gateways = watcher(gateways, config()).map(|event| see(event, gateway));
        let servers = stream::select(servers, gateways);
        let deployed = |object: &PartialObjectMeta<Deployment>| Seen::Deployment(object.name_any());
        let deployments = watcher(deployments, config()).map(move |event| see(event, deployed));
        let mut follower = Self {
            events: stream::select(servers, deployments).boxed(),
            servers: BTreeMap::new(),
            observed: BTreeSet::new(),
            deployed: BTreeSet::new(),
            quiet_since: u64::MAX,
            stirs: 0,
            phases: 0,
        };
        let mut begun = 0;
        while begun < 3 {
            begun += usize::from(follower.step().await?);
        }
        Ok(follower)
    }

    /// Has `count` servers created and worked on, and waits until all of them are settled.
    pub(super) async fn converge(
        &mut self,
        site: &Site,
        count: usize,
        creating: impl Future<Output = Result<()>>,
        working: impl Future<Output = Result<()>>,
    ) -> Result<Convergence> {
        let (watch, before) = (Stopwatch::start(), computed(site.api_server)?);
        let creating = async {
            creating.await?;
            anyhow::Ok(watch.elapsed())
        };
        let (created, (), ()) = tokio::try_join!(creating, working, self.settled(count))?;
        let settled = watch.elapsed();
        println!("    that took {:.1} s", settled.as_secs_f64());
        let server_computed = computed(site.api_server)?.saturating_sub(before);
        Ok(Convergence { created, settled, server_computed })
    }

    /// Waits until `count` servers are settled: the status is about the current spec, and the Deployment is there.
    async fn settled(&mut self, count: usize) -> Result<()> {
        let limit = Duration::from_mins(1) + Duration::from_millis(500) * u32::try_from(count)?;
        let watch = Stopwatch::start();
        let mut told = Duration::ZERO;
        while self.settled_count() < count {
            let left = limit.saturating_sub(watch.elapsed());
            match tokio::time::timeout(left.min(TELL), self.step()).await {
                Ok(step) => drop(step?),
                Err(_) if left <= TELL => {
                    bail!("{} of {count} servers are settled after {}", self.settled_count(), watch.seconds())
                }
                Err(_) => {}
            }
            if watch.elapsed() >= told + TELL {
                told = watch.elapsed();
                println!(
                    "    {} of {count} servers are settled after {}",
                    self.settled_count(),
                    watch.seconds()
                );
            }
        }
        Ok(())
    }

    /// Watches for a while, and counts what changes from now on: not what has changed and is not seen yet.
    pub(super) async fn watch_for(&mut self, servers: &Api<MCPServer>, time: Duration) -> Result<()> {
        let now = servers.list_metadata(&ListParams::default().limit(1)).await?.metadata.resource_version;
        self.quiet_since = now.and_then(|version| version.parse().ok()).context("a list has no version")?;
        let watch = Stopwatch::start();
        while let Some(left) = time.checked_sub(watch.elapsed()).filter(|left| !left.is_zero()) {
            if let Ok(step) = tokio::time::timeout(left, self.step()).await {
                step?;
            }
        }
        Ok(())
    }

    /// Takes note of the next event; whether it tells that a watch has begun.
    async fn step(&mut self) -> Result<bool> {
        match self.events.try_next().await?.context("the watches have ended")? {
            Seen::Everything => return Ok(true),
            Seen::Nothing => {}
            Seen::Deployment(name) => drop(self.deployed.insert(name)),
            Seen::Server { name, version, is_observed, phase } => {
                self.stirs += usize::from(version > self.quiet_since);
                if is_observed {
                    self.observed.insert(name.clone());
                }
                let before = self.servers.insert(name, phase).flatten();
                self.phases += usize::from(before != phase);
            }
        }
        Ok(false)
    }

    fn settled_count(&self) -> usize {
        self.observed.intersection(&self.deployed).count()
    }
}

fn server(object: &MCPServer) -> Seen {
    let status = object.status.as_ref();
    let observed = status.and_then(|status| status.observed_generation);
    Seen::Server {
        name: object.name_any(),
        version: object.resource_version().and_then(|version| version.parse().ok()).unwrap_or_default(),
        is_observed: observed.is_some() && observed == object.meta().generation,
        phase: status.and_then(|status| status.phase),
    }
}

fn gateway(object: &VirtualMCPServer) -> Seen {
    let observed = object.status.as_ref().and_then(|status| status.observed_generation);
    Seen::Server {
        name: object.name_any(),
        version: object.resource_version().and_then(|version| version.parse().ok()).unwrap_or_default(),
        is_observed: observed.is_some() && observed == object.meta().generation,
        // Phases are counted of servers only.
        phase: None,
    }
}

fn see<K>(event: watcher::Result<Event<K>>, what: impl Fn(&K) -> Seen) -> Result<Seen> {
    // A watch that fails would miss changes and falsify what is measured, so there is no second try.
    Ok(match event.context("a watch failed")? {
        Event::InitDone => Seen::Everything,
        Event::Apply(object) | Event::InitApply(object) => what(&object),
        Event::Init | Event::Delete(_) => Seen::Nothing,
    })
}
