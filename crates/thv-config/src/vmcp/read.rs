//! Files to document.

use serde::de::DeserializeOwned;

use super::problem::Invalid;
use super::write::Files;
use super::{VmcpConfig, refill};
use crate::auth_server::AuthServerConfig;
use crate::json::{Decoded, Json, Malformed};
use crate::yaml::{self, YamlError};

/// Why files are not a configuration that a virtual server can run by. Quotes keys but no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A file is not what it should be.
    #[error("{file}: {error}")]
    File {
        /// Name of the file.
        file: &'static str,
        /// What is wrong with it.
        error: ParseError,
    },

    /// What the files say cannot be done.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// Why a file is not what it should be. Quotes keys but no values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// It is not YAML, or too much of it.
    #[error(transparent)]
    Yaml(#[from] YamlError),

    /// A value is not what it should be.
    #[error(transparent)]
    Malformed(#[from] Malformed),

    /// It has keys that nobody knows. To ignore them could mean to run without what they ask for.
    #[error("has keys that are not known: {}: correct or remove them", .0.join(", "))]
    Unknown(Vec<String>),
}

impl VmcpConfig {
    /// Reads the files of a configuration, fills in what they may leave out, and checks it all.
    pub fn parse(config: &[u8], auth_server: Option<&[u8]>) -> Result<Self, ReadError> {
        let in_file = |file| move |error| ReadError::File { file, error };
        let mut document = Self::parse_document(config).map_err(in_file(Files::CONFIG))?;
        document.auth_server = auth_server
            .map(|bytes| decode::<AuthServerConfig>(&yaml::read(bytes)?))
            .transpose()
            .map_err(in_file(Files::AUTH_SERVER))?;
        document.normalise();
        document.validate()?;
        Ok(document)
    }

    fn parse_document(bytes: &[u8]) -> Result<Self, ParseError> {
        let mut json = yaml::read(bytes)?;
        refill::flatten(&mut json);
        decode(&json)
    }
}

fn decode<T: DeserializeOwned>(json: &Json) -> Result<T, ParseError> {
    let Decoded { value, unknown } = json.decode()?;
    if unknown.is_empty() { Ok(value) } else { Err(ParseError::Unknown(unknown)) }
}
