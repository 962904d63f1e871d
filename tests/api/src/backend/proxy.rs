//! A proxy, as far as its backend is concerned.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use kube::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use thv_config::{Checksum, RunConfig};
use thv_testbed::{Pattern, Recorder, wait};
use thv_workload::{Birth, Connection, Document, Instances, Kubernetes, Platform, Standing, Token};
use tokio::sync::watch;

use super::stage::{NAME, image_of};

/// What a proxy is started with.
#[derive(Clone)]
pub(super) struct Sketch {
    /// Without, it is a proxy of the Go operator's making.
    pub(super) number: Option<u64>,
    pub(super) image: String,
    pub(super) config: Value,
    /// The file that it finds, if it is not the one that it was made for.
    pub(super) file: Option<Vec<u8>>,
    pub(super) patch: Option<Value>,
}

/// A proxy of a revision, with the image of that revision.
pub(super) fn revision(number: u64) -> Sketch {
    let config = json!({
        "schema_version": "v0.1.0", "image": image_of(number), "name": NAME, "container_name": NAME,
        "transport": "streamable-http", "host": "0.0.0.0", "port": 8080, "target_port": 3000,
        "container_labels": {"toolhive": "true", "toolhive-name": NAME},
        "mcpserver_generation": number,
    });
    Sketch { number: Some(number), image: image_of(number), config, file: None, patch: None }
}

/// A proxy of the Go operator's making, for a generation.
pub(super) fn of_go(generation: i64) -> Sketch {
    let sketch = Sketch { number: None, image: "localhost/server:go".to_owned(), ..revision(1) };
    sketch.with("mcpserver_generation", generation.into())
}

impl Sketch {
    /// With another image.
    pub(super) fn image(mut self, image: &str) -> Self {
        image.clone_into(&mut self.image);
        self
    }

    /// With something else in its configuration.
    pub(super) fn with(mut self, key: &str, value: Value) -> Self {
        self.config[key] = value;
        self
    }

    /// With this many replicas.
    pub(super) fn replicas(self, count: i32) -> Self {
        self.with("scaling_config", json!({"backend_replicas": count}))
    }

    /// The file that it was made for.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.config.to_string().into_bytes()
    }
}

/// A proxy, as far as its backend is concerned.
pub(super) struct Proxy {
    pub(super) recorder: Recorder,
    pub(super) backend: Kubernetes,
    pub(super) file: PathBuf,
    standing: watch::Receiver<Standing>,
    _folder: TempDir,
}

impl Proxy {
    /// Starts one with the rights of `client`, whose requests are in the log of `recorder`.
    pub(super) fn start(
        recorder: Recorder,
        client: Client,
        namespace: &str,
        uid: &str,
        sketch: &Sketch,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("runconfig.json");
        std::fs::write(&file, sketch.file.clone().unwrap_or_else(|| sketch.bytes()))?;
        let birth = Birth {
            image: sketch.image.clone(),
            pod_patch: sketch.patch.as_ref().map(Value::to_string),
            token: sketch.number.map(|number| Token { uid: uid.to_owned(), number }),
            checksum: sketch.number.map(|_| Checksum::of(&sketch.bytes()).to_string()),
        };
        let read = |bytes: &[u8]| {
            RunConfig::parse(bytes).map(|decoded| decoded.value).map_err(|error| error.to_string())
        };
        let config = read(&sketch.bytes()).map_err(anyhow::Error::msg)?;
        let document = Document { path: file.clone(), read: Arc::new(read) };
        let connection = Connection { client, namespace: namespace.to_owned() };
        let backend = Kubernetes::start(connection, Some(Platform::Kubernetes), &config, birth, document)?;
        Ok(Self { recorder, standing: backend.state(), backend, file, _folder: folder })
    }

    /// Waits until it stands like this towards its backend.
    pub(super) async fn until(&mut self, word: &str) -> Result<()> {
        let reached = self.standing.wait_for(|standing| standing.word() == word);
        let Ok(result) = tokio::time::timeout(wait::DEADLINE, reached).await else {
            let standing = self.backend.state().borrow().clone();
            anyhow::bail!("it is not {word} but {standing:?}; it sent:\n{}", self.recorder.log())
        };
        result.map(drop).context("it has ended")
    }

    /// Waits until it waits for this.
    pub(super) async fn waits_for(&mut self, what: &str) -> Result<()> {
        let reached = self
            .standing
            .wait_for(|standing| matches!(standing, Standing::Waiting { why } if why.contains(what)));
        let reached = tokio::time::timeout(wait::DEADLINE, reached).await.map(|result| result.map(drop));
        let standing = self.backend.state().borrow().clone();
        Ok(reached.with_context(|| format!("it is {standing:?}"))??)
    }

    /// Waits until its instances are like this.
    pub(super) async fn instances(&self, done: impl FnMut(&Instances) -> bool) -> Result<Instances> {
        let mut instances = self.backend.instances();
        let reached = tokio::time::timeout(wait::DEADLINE, instances.wait_for(done)).await;
        let last = self.backend.instances().borrow().clone();
        Ok(reached.with_context(|| format!("the instances are {last:?}"))??.clone())
    }

    /// Asserts that it has sent no write at all.
    pub(super) fn assert_wrote_nothing(&self) {
        self.recorder.log().only(&Pattern::write()).assert_empty("write");
    }
}
