//! Document to files.

use std::collections::BTreeMap;

use serde::Serialize;

use super::problem::Invalid;
use super::{VmcpConfig, refill};
use crate::checksum::Checksum;
use crate::json::Json;
use crate::run_config;
use crate::yaml::{self, YamlError};

/// The files of a configuration, as a ConfigMap holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files(BTreeMap<String, String>);

impl Files {
    /// The file with the configuration.
    pub const CONFIG: &str = "config.yaml";
    /// The file with the embedded authorization server, if there is one.
    pub const AUTH_SERVER: &str = "authserver-config.yaml";

    /// Contents by name.
    pub const fn data(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// Contents by name.
    pub fn into_data(self) -> BTreeMap<String, String> {
        self.0
    }

    /// The checksum of names and contents, and of nothing else.
    pub fn checksum(&self) -> Checksum {
        Checksum::of_content(&self.0, &BTreeMap::new(), &BTreeMap::new(), "")
    }
}

/// Why a configuration cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// No virtual server could run by it.
    #[error(transparent)]
    Invalid(#[from] Invalid),

    /// A part of it must not or cannot be written.
    #[error("{file}: {error}")]
    Content {
        /// Name of the file.
        file: &'static str,
        /// What is wrong.
        error: run_config::WriteError,
    },

    /// The file would not be readable.
    #[error("{file}: {error}")]
    Yaml {
        /// Name of the file.
        file: &'static str,
        /// What is wrong.
        error: YamlError,
    },
}

impl VmcpConfig {
    /// The files, with everything filled in and checked. The same document always gives the same files. A
    /// document that holds a credential is not written.
    pub fn to_files(&self) -> Result<Files, WriteError> {
        let mut document = self.clone();
        document.normalise();
        document.validate()?;
        let mut config = tree(Files::CONFIG, &document)?;
        refill::nest(&mut config);
        let mut files = BTreeMap::from([(Files::CONFIG.to_owned(), text(Files::CONFIG, &config)?)]);
        if let Some(server) = &document.auth_server {
            let server = tree(Files::AUTH_SERVER, server)?;
            files.insert(Files::AUTH_SERVER.to_owned(), text(Files::AUTH_SERVER, &server)?);
        }
        Ok(Files(files))
    }
}

/// The document as a tree, with its keys in their order and its numbers as they are.
fn tree<T: Serialize>(file: &'static str, document: &T) -> Result<Json, WriteError> {
    let text = yaml::render(document).map_err(|error| WriteError::Content { file, error })?;
    yaml::read(text.as_bytes()).map_err(|error| WriteError::Yaml { file, error })
}

fn text(file: &'static str, json: &Json) -> Result<String, WriteError> {
    yaml::write(json).map_err(|error| WriteError::Yaml { file, error })
}
