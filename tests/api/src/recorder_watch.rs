//! The recording endpoint: watches that are cut, delayed and robbed of events.

use std::pin::Pin;

use futures::{FutureExt, Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{WatchEvent, WatchParams};
use thv_testbed::{Pattern, Recorder, Space, Verb, WatchGate, in_namespace, wait};

use crate::fixture::{apply, config_map};

type Events = Pin<Box<dyn Stream<Item = kube::Result<WatchEvent<ConfigMap>>> + Send>>;

/// A watch of the ConfigMaps named `c-…` through a recorder that can disturb it.
struct Watched {
    space: Space,
    /// Kept, because the endpoint stops with it.
    _recorder: Recorder,
    gate: WatchGate,
    events: Events,
}

impl Watched {
    async fn start(space: &Space) -> anyhow::Result<Self> {
        let recorder = Recorder::start(space.bed()).await?;
        let gate = recorder.gate(Pattern::verb(Verb::Watch).of("configmaps"));
        let api: Api<ConfigMap> = Api::namespaced(recorder.admin_client().await?, space.namespace());
        let start = api.list(&kube::api::ListParams::default()).await?.metadata.resource_version.unwrap();
        let events = api.watch(&WatchParams::default(), &start).await?.boxed();
        Ok(Self { space: space.clone(), _recorder: recorder, gate, events })
    }

    async fn make(&self, name: &str) -> anyhow::Result<()> {
        apply(&self.space.api::<ConfigMap>(), name, "test", &config_map(name, "1")).await?;
        Ok(())
    }

    /// The name of the next object of ours that is reported, or nothing at the end of the watch.
    async fn next(&mut self) -> anyhow::Result<Option<String>> {
        let search = async {
            while let Some(event) = self.events.try_next().await? {
                if let WatchEvent::Added(object) = event
                    && let Some(name) = object.metadata.name.filter(|name| name.starts_with("c-"))
                {
                    return Ok(Some(name));
                }
            }
            anyhow::Ok(None)
        };
        tokio::time::timeout(wait::DEADLINE, search).await?
    }
}

#[tokio::test]
async fn events_that_are_held_arrive_when_released_and_in_order() {
    in_namespace(async |space| {
        let mut watched = Watched::start(&space).await?;
        watched.make("c-1").await?;
        assert_eq!(watched.next().await?.as_deref(), Some("c-1"));
        watched.gate.hold();
        watched.make("c-2").await?;
        watched.make("c-3").await?;
        watched.gate.clone().holds_one().await?;
        assert!(watched.next().now_or_never().is_none(), "an event arrived though events are held");
        watched.gate.release();
        assert_eq!(watched.next().await?.as_deref(), Some("c-2"));
        assert_eq!(watched.next().await?.as_deref(), Some("c-3"));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn events_that_are_lost_never_arrive() {
    in_namespace(async |space| {
        let mut watched = Watched::start(&space).await?;
        watched.gate.lose(|event| event["object"]["metadata"]["name"] == "c-1");
        watched.make("c-1").await?;
        watched.make("c-2").await?;
        assert_eq!(watched.next().await?.as_deref(), Some("c-2"));
        assert_eq!(watched.gate.lost(), 1);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_watch_that_is_cut_ends() {
    in_namespace(async |space| {
        let mut watched = Watched::start(&space).await?;
        watched.make("c-1").await?;
        assert_eq!(watched.next().await?.as_deref(), Some("c-1"));
        watched.gate.cut();
        assert_eq!(watched.next().await?, None);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_watch_that_expires_ends_with_a_410_and_loses_what_was_held() {
    in_namespace(async |space| {
        let mut watched = Watched::start(&space).await?;
        watched.gate.hold();
        watched.make("c-1").await?;
        watched.gate.holds_one().await?;
        watched.gate.expire();
        let event = tokio::time::timeout(wait::DEADLINE, watched.events.try_next()).await??;
        assert!(matches!(&event, Some(WatchEvent::Error(status)) if status.code == 410), "{event:?}");
        assert_eq!(watched.next().await?, None);
        Ok(())
    })
    .await;
}
