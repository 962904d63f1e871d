//! What a proxy is started with, put together from the command line, the environment and the file.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use thv_config::middleware::Middleware;
use thv_config::{Checksum, RunConfig};
use thv_workload::{Birth, Document, Token};

use super::config_file::{ConfigFile, understand};
use super::environment::Environment;
use super::middlewares::middlewares;
use super::options::Run;
use super::{env_files, generation, support};

/// What a proxy is started with.
pub struct Start {
    /// The configuration, with what the command line and the environment have to say about it.
    pub config: RunConfig,
    /// What requests pass through.
    pub middlewares: Vec<Middleware>,
    /// What this process was made with.
    pub birth: Birth,
    /// The file, which can change while this process runs.
    pub document: Document,
    /// Whether the configuration is that of the file that this process was made for. If not, the file is older, because
    /// the kubelet is late, or newer, because this process is.
    pub is_bound: bool,
}

impl Start {
    /// Puts it together. Fails with one clear sentence if anything is missing, malformed or more than this program can
    /// do.
    pub fn prepare(places: &[impl AsRef<Path>], run: &Run, environment: &Environment) -> Result<Self> {
        let file = ConfigFile::find(places)?;
        let invocation = Invocation { image: run.image.clone(), generation: environment.generation.clone() };
        let config = invocation.complete(&file.bytes).with_context(|| file.path.display().to_string())?;
        config.validate()?;
        support::check(&config)?;
        let middlewares = middlewares(&config, environment)?;
        let token = environment.revision.as_deref().map(str::parse::<Token>).transpose();
        let birth = Birth {
            image: run.image.clone(),
            pod_patch: run.k8s_pod_patch.clone().filter(|patch| !patch.is_empty()),
            token: token.context("THV_MCPSERVER_REVISION cannot be understood: the operator sets it")?,
            checksum: environment.checksum.clone(),
        };
        let is_bound = birth.checksum.as_ref().is_none_or(|expected| Checksum::of(&file.bytes) == **expected);
        let read = move |bytes: &[u8]| invocation.complete(bytes).map_err(|error| format!("{error:#}"));
        let document = Document { path: file.path, read: Arc::new(read) };
        Ok(Self { config, middlewares, birth, document, is_bound })
    }
}

/// What is fixed when the process starts, and stronger than the file.
struct Invocation {
    image: String,
    generation: Option<String>,
}

impl Invocation {
    /// The configuration in a file, with what is stronger in place.
    fn complete(&self, bytes: &[u8]) -> Result<RunConfig> {
        let mut config = understand(bytes)?;
        config.mcpserver_generation =
            generation::settle(self.generation.as_deref(), config.mcpserver_generation);
        if !config.is_remote() {
            self.image.clone_into(&mut config.image);
        }
        if !config.env_file_dir.is_empty() {
            let variables = env_files::read(Path::new(&config.env_file_dir))
                .with_context(|| format!("cannot read the folder {} (env_file_dir)", config.env_file_dir))?;
            config.env_vars.extend(variables);
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn prepare(config: &Value, patch: Option<&str>, environment: &[(&str, &str)]) -> Result<Start> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("runconfig.json");
        std::fs::write(&path, config.to_string())?;
        let run =
            Run { k8s_pod_patch: patch.map(str::to_owned), image: "birth:1".to_owned(), rest: Vec::new() };
        let variables = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Start::prepare(&[path], &run, &Environment::read(variables))
    }

    fn config() -> Value {
        json!({
            "schema_version": "v0.1.0", "name": "s", "image": "file:2", "transport": "streamable-http", "host": "0.0.0.0",
            "port": 8080, "target_port": 8080, "mcpserver_generation": 5, "k8s_pod_template_patch": "{}",
        })
    }

    #[test]
    fn s0_17_what_a_pod_was_born_with_is_stronger_than_the_file() {
        let start = prepare(&config(), Some(r#"{"spec":{}}"#), &[("THV_MCPSERVER_GENERATION", "3")]).unwrap();
        assert_eq!(start.config.image, "birth:1");
        assert_eq!(start.birth.image, "birth:1");
        assert_eq!(start.birth.pod_patch.as_deref(), Some(r#"{"spec":{}}"#));
        assert_eq!(start.config.mcpserver_generation, 3);

        // The same holds for every later version of the file.
        let mut later = config();
        later["mcpserver_generation"] = json!(9);
        let read = (start.document.read)(later.to_string().as_bytes()).unwrap();
        assert_eq!((read.image.as_str(), read.mcpserver_generation), ("birth:1", 3));
    }

    #[test]
    fn s0_07_an_override_that_is_none_leaves_the_generation_of_the_file() {
        for (value, expected) in [("", 5), ("0", 0), ("-1", 5), ("not-a-number", 5), ("3", 3)] {
            let start = prepare(&config(), None, &[("THV_MCPSERVER_GENERATION", value)]).unwrap();
            assert_eq!(start.config.mcpserver_generation, expected, "{value:?}");
        }
    }

    #[test]
    fn a_revision_that_cannot_be_understood_stops_the_start() {
        let error = prepare(&config(), None, &[("THV_MCPSERVER_REVISION", "nonsense")]).err().unwrap();
        assert!(format!("{error:#}").contains("THV_MCPSERVER_REVISION"), "{error:#}");
        let start = prepare(&config(), None, &[("THV_MCPSERVER_REVISION", "u-1/7")]).unwrap();
        assert_eq!(start.birth.token, Some(Token { uid: "u-1".to_owned(), number: 7 }));
    }

    #[test]
    fn what_is_asked_for_and_cannot_be_done_stops_the_start_with_its_name() {
        let cases = [
            (json!({"remote_url": "https://x", "remote_auth_config": {}}), "remote_auth_config"),
            (json!({"transport": "stdio"}), "stdio"),
            (json!({"port": 0}), "port"),
            (json!({"transport": null}), "transport"),
        ];
        for (change, named) in cases {
            let mut config = config();
            for (key, value) in change.as_object().unwrap() {
                config[key] = value.clone();
            }
            let error = prepare(&config, None, &[]).err().unwrap();
            assert!(format!("{error:#}").contains(named), "{change}: {error:#}");
        }
    }

    #[test]
    fn s0_03_a_file_that_the_process_was_not_made_for_is_noticed() {
        let right = Checksum::of(config().to_string().as_bytes()).to_string();
        for (checksum, is_bound) in [("", true), (right.as_str(), true), ("other", false)] {
            let start = prepare(&config(), None, &[("THV_RUNCONFIG_CHECKSUM", checksum)]).unwrap();
            assert_eq!(start.is_bound, is_bound, "{checksum}");
        }
    }

    #[test]
    fn a_broken_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runconfig.json");
        std::fs::write(&path, "{").unwrap();
        let run = Run { k8s_pod_patch: None, image: "i".to_owned(), rest: Vec::new() };
        let error = Start::prepare(&[&path], &run, &Environment::read([])).err().unwrap();
        let error = format!("{error:#}");
        assert!(error.contains("runconfig.json") && error.contains("line 1"), "{error}");
    }

    #[test]
    fn variables_from_files_reach_the_backend() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("vault"), "TOKEN=hush\n").unwrap();
        let mut config = config();
        config["env_file_dir"] = json!(folder.path());
        config["env_vars"] = json!({"A": "1"});
        let start = prepare(&config, None, &[]).unwrap();
        assert_eq!(start.config.env_vars["TOKEN"], "hush");
        assert_eq!(start.config.env_vars["A"], "1");
    }
}
