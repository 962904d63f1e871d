//! Document to bytes.

use super::RunConfig;
use crate::checksum::Checksum;
use crate::json::to_pretty;
use crate::middleware::MiddlewareConfig;
use crate::secret::REFUSAL;

/// Why a document cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The document holds a credential.
    #[error("{path}: {REFUSAL}")]
    Secret {
        /// The object in the document that holds it.
        path: String,
    },

    /// The document has no form in JSON or YAML.
    #[error("{path}: {problem}")]
    Encode {
        /// The place in the document.
        path: String,
        /// What is wrong there.
        problem: String,
    },
}

impl WriteError {
    pub(crate) fn new(path: String, error: &dyn std::fmt::Display) -> Self {
        let problem = error.to_string();
        if problem.contains(REFUSAL) { Self::Secret { path } } else { Self::Encode { path, problem } }
    }
}

impl RunConfig {
    /// The document as Go writes it: indented by two spaces, keys in their order, maps sorted. The same
    /// document always gives the same bytes. A document that holds a credential is not written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WriteError> {
        check_parameters("middleware_configs", &self.middleware_configs)?;
        check_parameters("additional_middleware_configs", &self.additional_middleware_configs)?;
        to_pretty(self).map_err(|error| WriteError::new(error.path().to_string(), error.inner()))
    }

    /// The checksum of the bytes that [`Self::to_bytes`] gives. Whoever has read a document from a file wants
    /// [`Checksum::of`] that file.
    pub fn checksum(&self) -> Result<Checksum, WriteError> {
        self.to_bytes().map(|bytes| Checksum::of(&bytes))
    }
}

/// Looks for credentials in parameters that were read and never looked into.
fn check_parameters(key: &str, configs: &[MiddlewareConfig]) -> Result<(), WriteError> {
    for (index, config) in configs.iter().enumerate() {
        // What cannot be understood cannot be checked, and no proxy will start with it.
        if let Ok(decoded) = config.decode() {
            let path = format!("{key}[{index}].parameters");
            decoded.value.parameters_at(&path)?;
        }
    }
    Ok(())
}
