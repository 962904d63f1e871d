//! What this process remembers of migrations that are under way. It saves requests; nothing depends on it.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use tokio::time::Instant;
use uuid::Uuid;

use super::definition::Migration;

/// How many objects of one kind are remembered, at some 30 bytes each. Those beyond are asked for again by every pass.
const REMEMBERED: usize = 100_000;

/// Of each CRD that is being migrated.
#[derive(Default)]
pub(super) struct Migrations(BTreeMap<String, MigrationProgress>);

/// Of one CRD, with the spec that it has.
pub(super) struct MigrationProgress {
    uid: String,
    generation: i64,
    /// When this spec was first seen.
    since: Instant,
    /// Whether the begin was told.
    is_told: bool,
    /// The objects that are stored in the storage version, by uid, and the resourceVersion at which they are.
    stored: BTreeMap<Uuid, u64>,
    /// How many of them were stored otherwise before.
    rewritten: usize,
}

impl Migrations {
    /// What is remembered of a CRD. A change of its spec makes everything else void.
    pub(super) fn of(&mut self, migration: &Migration) -> &mut MigrationProgress {
        let Migration { crd, uid, generation, resource_version: _, resource: _, former: _ } = migration;
        let new = || MigrationProgress {
            uid: uid.clone(),
            generation: *generation,
            since: Instant::now(),
            is_told: false,
            stored: BTreeMap::new(),
            rewritten: 0,
        };
        let progress = self.0.entry(crd.clone()).or_insert_with(new);
        if (&progress.uid, progress.generation) != (uid, *generation) {
            *progress = new();
        }
        progress
    }

    /// Nothing is to be done about this CRD any more.
    pub(super) fn forget(&mut self, crd: &str) {
        self.0.remove(crd);
    }

    /// The uid of a CRD that is being migrated.
    pub(super) fn uid(&self, crd: &str) -> Option<&str> {
        self.0.get(crd).map(|progress| progress.uid.as_str())
    }
}

impl MigrationProgress {
    /// How long to wait until the spec has been seen for a whole grace period.
    pub(super) fn wait(&self, grace: Duration) -> Option<Duration> {
        grace.checked_sub(self.since.elapsed()).filter(|wait| !wait.is_zero())
    }

    /// Whether the begin was not told yet; from now on it was.
    pub(super) fn is_news(&mut self) -> bool {
        !std::mem::replace(&mut self.is_told, true)
    }

    /// Whether this very version of an object is known to be stored in the storage version.
    pub(super) fn contains(&self, metadata: &ObjectMeta) -> bool {
        identity(metadata).is_some_and(|(uid, version)| self.stored.get(&uid) == Some(&version))
    }

    /// An object is stored in the storage version. `is_rewritten` says that it was not before.
    pub(super) fn remember(&mut self, metadata: &ObjectMeta, is_rewritten: bool) {
        self.rewritten += usize::from(is_rewritten);
        if let Some((uid, version)) = identity(metadata)
            && (self.stored.len() < REMEMBERED || self.stored.contains_key(&uid))
        {
            self.stored.insert(uid, version);
        }
    }

    /// How many objects were stored in a former version.
    pub(super) fn rewritten(&self) -> usize {
        self.rewritten
    }
}

/// What tells one version of one object from all others, small. Nothing for what Kubernetes itself does not write.
fn identity(metadata: &ObjectMeta) -> Option<(Uuid, u64)> {
    let uid = metadata.uid.as_deref()?.parse().ok()?;
    Some((uid, metadata.resource_version.as_deref()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use kube::api::ApiResource;
    use kube::core::GroupVersionKind;

    use super::*;

    const GRACE: Duration = Duration::from_secs(90);

    fn migration(generation: i64) -> Migration {
        Migration {
            crd: "relics.toolhive.stacklok.dev".to_owned(),
            uid: "u".to_owned(),
            generation,
            resource_version: "1".to_owned(),
            resource: ApiResource::from_gvk(&GroupVersionKind::gvk(
                "toolhive.stacklok.dev",
                "v1beta1",
                "Relic",
            )),
            former: vec!["v1alpha1".to_owned()],
        }
    }

    fn object(uid: u128, version: &str) -> ObjectMeta {
        ObjectMeta {
            uid: Some(Uuid::from_u128(uid).to_string()),
            resource_version: Some(version.to_owned()),
            ..ObjectMeta::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn every_change_of_the_spec_begins_a_new_grace_period() {
        let mut migrations = Migrations::default();
        assert_eq!(migrations.of(&migration(1)).wait(GRACE), Some(GRACE));
        tokio::time::advance(GRACE / 3).await;
        assert_eq!(migrations.of(&migration(1)).wait(GRACE), Some(GRACE * 2 / 3));
        assert_eq!(migrations.of(&migration(2)).wait(GRACE), Some(GRACE));
        tokio::time::advance(GRACE).await;
        assert_eq!(migrations.of(&migration(2)).wait(GRACE), None);
        migrations.forget(&migration(2).crd);
        assert_eq!(migrations.of(&migration(2)).wait(GRACE), Some(GRACE), "somebody else may have been here");
    }

    #[tokio::test]
    async fn an_object_is_remembered_at_one_version_only_and_until_the_spec_changes() {
        let mut migrations = Migrations::default();
        let progress = migrations.of(&migration(1));
        assert!(progress.is_news() && !progress.is_news());
        progress.remember(&object(1, "7"), true);
        progress.remember(&object(2, "8"), false);
        assert!(progress.contains(&object(1, "7")) && progress.contains(&object(2, "8")));
        assert!(!progress.contains(&object(1, "8")) && !progress.contains(&object(3, "7")));
        assert_eq!(progress.rewritten(), 1);
        let progress = migrations.of(&migration(2));
        assert!(progress.is_news() && !progress.contains(&object(1, "7")));
    }

    #[tokio::test]
    async fn memory_is_bounded_and_an_identity_that_cannot_be_read_is_not_remembered() {
        let mut migrations = Migrations::default();
        let progress = migrations.of(&migration(1));
        for number in 0..=REMEMBERED as u128 {
            progress.remember(&object(number, "7"), true);
        }
        assert_eq!((progress.stored.len(), progress.rewritten()), (REMEMBERED, REMEMBERED + 1));
        progress.remember(&object(0, "9"), true);
        assert!(progress.contains(&object(0, "9")), "what is known is kept up to date");
        let odd = ObjectMeta { uid: Some("odd".to_owned()), ..object(0, "9") };
        progress.remember(&odd, true);
        assert!(!progress.contains(&odd));
    }
}
