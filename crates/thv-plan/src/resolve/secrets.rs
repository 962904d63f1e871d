//! Secrets that a server gets as environment variables.

use thv_api::conditions::mcp_server::Ready;
use thv_api::kinds::SecretEnv;
use thv_api::shared::SecretKeyRef;

use super::need::{Need, check};
use super::outcome::{Outcome, outcome};
use crate::reference::References;

/// The keys that have to be there.
pub(super) fn needs(secrets: &[SecretEnv]) -> Vec<Need> {
    let keys = secrets.iter().map(|SecretEnv { name, key, target_env_name: _ }| {
        let secret = SecretKeyRef { name: name.clone(), key: key.clone() };
        Need::secret(format!("secrets[{name:?}]"), &secret)
    });
    keys.collect()
}

/// Whether they are there.
pub(super) fn resolve(secrets: Option<&[SecretEnv]>, references: &References) -> Outcome<(), Ready> {
    match secrets {
        None | Some([]) => Outcome::NotReferenced,
        Some(secrets) => outcome(check(&needs(secrets), references), Ready::NotReady, Ready::NotReady),
    }
}
