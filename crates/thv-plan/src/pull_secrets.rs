//! Credentials to pull images with.

use std::collections::BTreeSet;

use crate::settings::{Platform, Settings};

/// The pull secrets of an object: the user's and those of the whole operator, each once. A node tries all of them, so
/// their order means nothing and is always the same.
#[derive(Clone, Debug)]
pub(crate) struct PullSecrets {
    all: Vec<String>,
    platform: Platform,
}

impl PullSecrets {
    /// The pull secrets of an object whose user names these.
    pub(crate) fn new<'a>(named: impl IntoIterator<Item = &'a str>, settings: &'a Settings) -> Self {
        let common = settings.image_pull_secrets.iter().map(String::as_str);
        let all: BTreeSet<&str> = named.into_iter().chain(common).filter(|name| !name.is_empty()).collect();
        Self { all: all.into_iter().map(str::to_owned).collect(), platform: settings.platform }
    }

    /// All of them, for pods.
    pub(crate) fn all(&self) -> &[String] {
        &self.all
    }

    /// Those for ServiceAccounts. OpenShift keeps credentials of its own there, in a list that has one owner.
    pub(crate) fn for_accounts(&self) -> &[String] {
        match self.platform {
            Platform::Kubernetes => &self.all,
            Platform::OpenShift => &[],
        }
    }

    /// Those for pods whose ServiceAccount is ours, beside what that brings.
    pub(crate) fn beside_account(&self) -> &[String] {
        match self.platform {
            Platform::Kubernetes => &[],
            Platform::OpenShift => &self.all,
        }
    }
}
