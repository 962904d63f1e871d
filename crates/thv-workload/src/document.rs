//! The configuration file, which is refreshed under a running pod.

use std::path::PathBuf;
use std::sync::Arc;

use thv_config::{Checksum, RunConfig};

use crate::birth::Birth;
use crate::render::Blueprint;

/// How a file becomes a configuration, with everything that a proxy adds to it. The text says why it does not.
pub type ReadConfig = Arc<dyn Fn(&[u8]) -> Result<RunConfig, String> + Send + Sync>;

/// The configuration file, and how it is read.
#[derive(Clone)]
pub struct Document {
    /// Where it is.
    pub path: PathBuf,
    /// How it is read.
    pub read: ReadConfig,
}

/// What a proxy may apply.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// The file is the one that this proxy was made for, and this is the backend that it asks for.
    Bound(Arc<Blueprint>),
    /// It is another one: older, since the kubelet is late, or newer, since this proxy is.
    Unbound,
    /// It is the right one, and cannot be used.
    Useless(String),
}

/// Watches whether the file is the one that a proxy was made for.
pub(crate) struct Binder {
    document: Document,
    birth: Birth,
    /// The backend of the file that this proxy was made for. There is one such file, so it is read once.
    blueprint: Option<Arc<Blueprint>>,
}

impl Binder {
    /// A proxy that does not know which file it was made for takes the one that it was started with.
    pub(crate) fn new(document: Document, birth: Birth, started_with: Arc<Blueprint>) -> Self {
        let blueprint = birth.checksum.is_none().then_some(started_with);
        Self { document, birth, blueprint }
    }

    /// Looks at the file as it is now.
    pub(crate) async fn look(&mut self) -> Binding {
        let Some(expected) = self.birth.checksum.as_deref() else {
            return self.blueprint.clone().map_or(Binding::Unbound, Binding::Bound);
        };
        let bytes = match tokio::fs::read(&self.document.path).await {
            Ok(bytes) => bytes,
            Err(error) => {
                // While the kubelet swaps the file it is not there for a moment.
                tracing::debug!(%error, path = %self.document.path.display(), "cannot read the configuration");
                return Binding::Unbound;
            }
        };
        if Checksum::of(&bytes) != *expected {
            return Binding::Unbound;
        }
        match &self.blueprint {
            Some(blueprint) => Binding::Bound(blueprint.clone()),
            None => self.draw(&bytes),
        }
    }

    fn draw(&mut self, bytes: &[u8]) -> Binding {
        let config = match (self.document.read)(bytes) {
            Ok(config) => config,
            Err(why) => return Binding::Useless(why),
        };
        match Blueprint::new(&config, &self.birth) {
            Ok(blueprint) => {
                let blueprint = Arc::new(blueprint);
                self.blueprint = Some(blueprint.clone());
                Binding::Bound(blueprint)
            }
            Err(error) => Binding::Useless(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(generation: i64) -> Vec<u8> {
        let text =
            json!({"name": "s", "transport": "stdio", "image": "i", "mcpserver_generation": generation});
        text.to_string().into_bytes()
    }

    fn read(bytes: &[u8]) -> Result<RunConfig, String> {
        RunConfig::parse(bytes).map(|decoded| decoded.value).map_err(|error| error.to_string())
    }

    fn binder(path: PathBuf, checksum: Option<&[u8]>) -> Binder {
        let checksum = checksum.map(|bytes| Checksum::of(bytes).to_string());
        let birth = Birth { image: "i".to_owned(), pod_patch: None, token: None, checksum };
        let first = Blueprint::new(&read(&config(1)).unwrap(), &birth).unwrap();
        Binder::new(Document { path, read: Arc::new(read) }, birth, Arc::new(first))
    }

    #[tokio::test]
    async fn s0_03_only_the_file_that_a_proxy_was_made_for_binds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runconfig.json");
        let mut binder = binder(path.clone(), Some(&config(2)));
        assert!(matches!(binder.look().await, Binding::Unbound), "there is no file");
        for (generation, is_bound) in [(1, false), (2, true), (3, false), (2, true)] {
            std::fs::write(&path, config(generation)).unwrap();
            match binder.look().await {
                Binding::Bound(blueprint) => {
                    // Of the file that it was made for, not of the one that it was started with.
                    assert!(is_bound && blueprint.generation() == 2);
                }
                other => assert!(!is_bound, "{other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_proxy_that_knows_no_checksum_keeps_what_it_was_started_with() {
        let mut binder = binder(PathBuf::from("/nowhere"), None);
        let Binding::Bound(blueprint) = binder.look().await else { panic!("it is bound") };
        assert_eq!(blueprint.generation(), 1);
    }

    #[tokio::test]
    async fn a_file_that_makes_no_sense_is_not_taken_for_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runconfig.json");
        std::fs::write(&path, b"{}").unwrap();
        assert!(matches!(binder(path, Some(b"{}")).look().await, Binding::Useless(_)));
    }
}
