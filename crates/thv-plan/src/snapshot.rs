//! Everything that a plan is made from.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use thv_api::Object;

use crate::planned::Planned;
use crate::reference::References;
use crate::settings::Settings;

/// One object and all that bears on it, read once, before anything is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot<S: Planned> {
    /// The object.
    pub owner: Arc<Object<S>>,
    /// When each of [`Planned::REQUESTS`] was written on it, by the clock of the API server.
    pub requested: BTreeMap<String, Timestamp>,
    /// What it refers to, directly or through others.
    pub references: References,
    /// What is there of it.
    pub live: S::Live,
    /// What the operator was started with.
    pub settings: Arc<Settings>,
    /// The time.
    pub now: Timestamp,
}

impl<S: Planned> Snapshot<S> {
    /// The name of the object.
    pub fn name(&self) -> &str {
        self.owner.metadata.name.as_deref().unwrap_or_default()
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        self.owner.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// Its uid.
    pub fn uid(&self) -> &str {
        self.owner.metadata.uid.as_deref().unwrap_or_default()
    }

    /// Its generation.
    pub fn generation(&self) -> i64 {
        self.owner.metadata.generation.unwrap_or_default()
    }

    /// Its resourceVersion as a number, which the API server promises it to be.
    pub fn resource_version(&self) -> u64 {
        let text = self.owner.metadata.resource_version.as_deref().unwrap_or_default();
        text.parse().unwrap_or_default()
    }
}
