//! Secrets that a server gets as environment variables.

use thv_api::kinds::SecretEnv;
use thv_api::shared::SecretKeyRef;

use super::need::{Need, check};
use super::outcome::Outcome;
use crate::reference::References;

/// The keys that have to be there.
pub(crate) fn needs(secrets: &[SecretEnv]) -> Vec<Need> {
    let keys = secrets.iter().map(|SecretEnv { name, key, target_env_name: _ }| {
        let secret = SecretKeyRef { name: name.clone(), key: key.clone() };
        Need::secret(format!("secrets[{name:?}]"), &secret)
    });
    keys.collect()
}

/// Whether they are there.
pub(crate) fn resolve(path: &str, secrets: Option<&[SecretEnv]>, references: &References) -> Outcome<()> {
    let some = secrets.filter(|secrets| !secrets.is_empty());
    Outcome::of(some, |secrets| check(path, &needs(secrets), references))
}
