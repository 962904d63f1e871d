//! What people are told of a migration: Events on the CRD, metrics and the log.

use std::fmt;

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::events::EventType;

use super::Migrator;
use super::definition::{Migration, reference};
use crate::engine::PassError;
use crate::rbac;
use crate::snapshot::ReadError;
use crate::write_error::WriteError;

/// So many objects are named when many have failed.
const NAMED: usize = 5;

/// Why a migration has not come to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum MigrationError {
    /// The CRD, or the list of its objects, could not be read.
    #[error("{0}{hint}", hint = hint(.0))]
    Read(PassError),
    /// Objects could not be stored anew.
    #[error(transparent)]
    Objects(#[from] Failures),
    /// All objects are stored in the storage version, and the CRD could not be changed to say so.
    #[error("{0}{hint}", hint = hint(.0))]
    Trim(PassError),
}

/// What to do about an error that does not pass by itself.
fn hint(error: &PassError) -> String {
    if error.is_forbidden() {
        format!(". The migrator needs the rights of the ClusterRole {}", rbac::MIGRATOR_ROLE)
    } else {
        String::new()
    }
}

impl MigrationError {
    pub(super) fn read(error: ReadError) -> Self {
        Self::Read(error.into())
    }

    pub(super) fn trim(error: WriteError) -> Self {
        Self::Trim(error.into())
    }

    /// What was being done, in the words of ToolHive's operator in Go.
    const fn action(&self) -> &'static str {
        match self {
            Self::Read(_) | Self::Objects(_) => "RestoreCRs",
            Self::Trim(_) => "PatchStoredVersions",
        }
    }

    /// After how many failures in a row an Event tells.
    fn told_after(&self) -> u32 {
        match self {
            Self::Read(error) | Self::Trim(error) => error.told_after(),
            Self::Objects(failures) => failures.told_after,
        }
    }

    /// The object that an Event is about beside the CRD. Another one makes another Event.
    fn related(&self) -> Option<ObjectReference> {
        match self {
            Self::Read(_) | Self::Trim(_) => None,
            Self::Objects(failures) => failures.first.clone(),
        }
    }

    /// How many requests have failed.
    const fn count(&self) -> usize {
        match self {
            Self::Read(_) | Self::Trim(_) => 1,
            Self::Objects(failures) => failures.count,
        }
    }
}

/// The objects of a kind that could not be stored anew: how many, and a few of them with what is wrong.
#[derive(Debug, Default, thiserror::Error)]
pub(super) struct Failures {
    count: usize,
    texts: Vec<String>,
    first: Option<ObjectReference>,
    /// That of the failure that is told soonest.
    told_after: u32,
}

impl Failures {
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// One more. What is told sooner, because it does not pass by itself, comes first.
    pub(super) fn add(&mut self, migration: &Migration, object: ObjectMeta, error: &PassError) {
        let told_after = error.told_after();
        if self.is_empty() || told_after < self.told_after {
            self.told_after = told_after;
            self.texts.insert(0, error.to_string());
            self.first = Some(ObjectReference {
                api_version: Some(migration.resource.api_version.clone()),
                kind: Some(migration.resource.kind.clone()),
                namespace: object.namespace,
                name: object.name,
                uid: object.uid,
                ..ObjectReference::default()
            });
        } else if self.texts.len() < NAMED {
            self.texts.push(error.to_string());
        }
        self.texts.truncate(NAMED);
        self.count += 1;
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "objects that could not be stored anew: {}. {}", self.count, self.texts.join("; "))?;
        if self.count > self.texts.len() {
            write!(f, "; and {} more", self.count - self.texts.len())?;
        }
        Ok(())
    }
}

impl Migrator {
    /// Objects are about to be stored anew.
    pub(super) async fn tell_begin(&self, migration: &Migration, objects: usize) {
        let note = format!(
            "{objects} objects may be stored in {} and are being stored in {}",
            migration.former.join(", "),
            migration.storage(),
        );
        tracing::info!(crd = migration.crd, "{note}");
        self.tell(migration, "StorageVersionMigrationStarted", &note).await;
    }

    /// The CRD says that all objects are stored in the storage version. So many of them were not.
    pub(super) async fn tell_success(&self, migration: &Migration, rewritten: usize) {
        let note = format!("all objects are stored in {}; {rewritten} were not before", migration.storage());
        tracing::info!(crd = migration.crd, "{note}");
        self.tell(migration, "StorageVersionMigrationSucceeded", &note).await;
    }

    async fn tell(&self, migration: &Migration, reason: &str, note: &str) {
        let regarding = reference(&migration.crd, Some(&migration.uid));
        self.events.tell(EventType::Normal, &regarding, reason, "Migrate", note, None).await;
    }

    /// A migration has failed, so many times in a row. An Event tells it unless it may pass by itself.
    pub(super) async fn tell_failure(
        &self,
        crd: &str,
        uid: Option<&str>,
        error: &MigrationError,
        failures: u32,
    ) {
        self.metrics.migration_failed(crd, error.count());
        if failures < error.told_after() {
            return;
        }
        let (regarding, note) = (reference(crd, uid), error.to_string());
        let reason = "StorageVersionMigrationFailed";
        self.events
            .tell(EventType::Warning, &regarding, reason, error.action(), &note, error.related())
            .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> PassError {
        let what = format!("Relic ns/{name}");
        WriteError::Refused { what, message: "no".to_owned(), code: 422 }.into()
    }

    #[test]
    fn many_failures_are_counted_and_a_few_are_named() {
        let mut failures = Failures::default();
        let conflict = WriteError::Conflict { what: "Relic ns/r".to_owned() }.into();
        let migration = Migration {
            crd: "relics.toolhive.stacklok.dev".to_owned(),
            uid: "u".to_owned(),
            generation: 1,
            resource_version: "1".to_owned(),
            resource: kube::api::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk(
                "g", "v1", "Relic",
            )),
            former: Vec::new(),
        };
        failures.add(&migration, ObjectMeta::default(), &conflict);
        let later = MigrationError::Objects(std::mem::take(&mut failures)).told_after();
        failures.add(&migration, ObjectMeta::default(), &conflict);
        for number in 0..NAMED + 2 {
            let object = ObjectMeta { name: Some(number.to_string()), ..ObjectMeta::default() };
            failures.add(&migration, object, &refused(&number.to_string()));
        }
        let text = failures.to_string();
        let start =
            "objects that could not be stored anew: 8. the API server refuses Relic ns/0: no; Relic ns/r has";
        assert!(text.starts_with(start) && text.ends_with("Relic ns/3: no; and 3 more"), "{text}");
        let error = MigrationError::Objects(failures);
        assert_eq!((error.count(), error.action(), error.told_after()), (8, "RestoreCRs", 1));
        assert_eq!(error.related().unwrap().name.as_deref(), Some("0"));
        assert!(later > 1, "what may pass by itself is not told at once");
    }
}
