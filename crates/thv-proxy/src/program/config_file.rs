//! The configuration file.

use std::path::{Path, PathBuf};

use thv_config::RunConfig;
use thv_config::run_config::ParseError;

/// Where the file is looked for. The first that exists counts, even if it cannot be used.
pub const PLACES: [&str; 3] =
    ["/etc/runconfig/runconfig.json", "/etc/toolhive/runconfig.json", "runconfig.json"];

/// A configuration file.
#[derive(Clone)]
pub struct ConfigFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
    /// No file is there.
    #[error("there is no configuration: none of {} exists", PLACES.join(", "))]
    Absent,
    /// A file is there and cannot be read.
    #[error("cannot read the configuration {path}: {error}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// A file is there and says nothing that makes sense.
    #[error("cannot understand the configuration: {0}")]
    Malformed(#[from] ParseError),
}

impl ConfigFile {
    /// Reads the first of the `places` that exists.
    pub fn find(places: &[impl AsRef<Path>]) -> Result<Self, ConfigFileError> {
        for place in places {
            let path = place.as_ref();
            match path.try_exists() {
                Ok(false) => {}
                Ok(true) => return Self::read(path),
                Err(error) => return Err(ConfigFileError::Unreadable { path: path.to_owned(), error }),
            }
        }
        Err(ConfigFileError::Absent)
    }

    fn read(path: &Path) -> Result<Self, ConfigFileError> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Self { path: path.to_owned(), bytes }),
            Err(error) => Err(ConfigFileError::Unreadable { path: path.to_owned(), error }),
        }
    }
}

/// What a file says, with what it may leave out filled in.
pub fn understand(bytes: &[u8]) -> Result<RunConfig, ConfigFileError> {
    let decoded = RunConfig::parse(bytes)?;
    for key in decoded.unknown {
        tracing::warn!(key, "a key of the configuration that nobody knows is ignored");
    }
    let mut config = decoded.value;
    config.normalise();
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str =
        r#"{"schema_version":"v0.1.0","transport":"sse","name":"a","host":"","port":8080}"#;

    #[test]
    fn the_first_file_that_exists_counts() {
        let folder = tempfile::tempdir().unwrap();
        let places = ["one.json", "two.json"].map(|name| folder.path().join(name));
        std::fs::write(&places[1], DOCUMENT).unwrap();
        let found = ConfigFile::find(&places).unwrap();
        assert_eq!(found.path, places[1]);
        assert_eq!(understand(&found.bytes).unwrap().name, "a");

        std::fs::write(&places[0], "{").unwrap();
        let broken = ConfigFile::find(&places).unwrap();
        assert_eq!(broken.path, places[0]);
        assert!(matches!(understand(&broken.bytes), Err(ConfigFileError::Malformed(_))));
    }

    #[test]
    fn no_file_and_an_unreadable_one_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("none.json");
        assert!(matches!(ConfigFile::find(&[&missing]), Err(ConfigFileError::Absent)));
        std::fs::create_dir(&missing).unwrap();
        assert!(matches!(ConfigFile::find(&[&missing]), Err(ConfigFileError::Unreadable { .. })));
    }
}
