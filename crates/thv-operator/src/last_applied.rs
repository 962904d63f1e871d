//! What we have applied last, so that we need not apply it again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thv_plan::{Backoff, Child, ChildKind, Contention};
use tokio::time::Instant;

use crate::hash::hash;
use crate::key::Key;
use crate::projection::child::ChildFacts;

/// What to do about a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is as we left it, and we want nothing else: nothing is to be sent.
    Skip,
    /// It is to be applied.
    Apply,
    /// Somebody keeps changing it. It is left alone for this long.
    Hold {
        /// How long.
        wait: Duration,
        /// Whether this has just been decided.
        is_news: bool,
    },
}

#[derive(Debug, Default)]
struct Entry {
    /// The digest of what we applied last, and the fingerprint of what that came to. There are many of them, so they are
    /// numbers.
    applied: Option<(u64, u64)>,
    /// Whether we put right what somebody else changes, once anybody does.
    contention: Option<Box<Contention>>,
    /// Whether the next apply would be such a repair.
    is_repair: bool,
    /// Whether it was told that this object is not ours to delete.
    is_told: bool,
}

/// The memory of one process. After a restart it is empty, and every child is applied once more, which changes
/// nothing.
#[derive(Default)]
pub(crate) struct LastApplied(Mutex<BTreeMap<Key, Children>>);

/// The children of one owner, by kind and name.
type Children = BTreeMap<(ChildKind, String), Entry>;

impl LastApplied {
    /// Decides on a child that is there.
    pub(crate) fn judge(&self, owner: &Key, child: &Child, live: &ChildFacts) -> Verdict {
        let mut all = self.all();
        let entry = entry(&mut all, owner, child.kind(), child.name());
        entry.is_repair = false;
        let Some((digest, fingerprint)) = entry.applied else { return Verdict::Apply };
        if digest != hash(child.digest()) {
            return Verdict::Apply;
        }
        if fingerprint == hash(live.fingerprint(child)) {
            return Verdict::Skip;
        }
        match entry.contention.get_or_insert_default().back_off(Instant::now().into_std()) {
            None => {
                entry.is_repair = true;
                Verdict::Apply
            }
            Some(Backoff { wait, is_news }) => Verdict::Hold { wait, is_news },
        }
    }

    /// Notes what an apply came to. One that changed nothing has not repaired anything either: somebody has
    /// edited what is not ours. Nor has one that was refused, because somebody was faster, and never comes here.
    pub(crate) fn applied(&self, owner: &Key, child: &Child, result: &ChildFacts, changed: bool) {
        let mut all = self.all();
        let entry = entry(&mut all, owner, child.kind(), child.name());
        if std::mem::take(&mut entry.is_repair) && changed {
            entry.contention.get_or_insert_default().repaired(Instant::now().into_std());
        }
        entry.applied = Some((hash(child.digest()), hash(result.fingerprint(child))));
    }

    /// Notes that an object is not ours to delete. Whether that is news.
    pub(crate) fn is_news(&self, owner: &Key, kind: ChildKind, name: &str) -> bool {
        let mut all = self.all();
        !std::mem::replace(&mut entry(&mut all, owner, kind, name).is_told, true)
    }

    /// Forgets what is not among these objects any more.
    pub(crate) fn keep_only(&self, owner: &Key, is_there: impl Fn(ChildKind, &str) -> bool) {
        if let Some(children) = self.all().get_mut(owner) {
            children.retain(|(kind, name), _| is_there(*kind, name));
        }
    }

    /// Forgets the children of an owner that is gone.
    pub(crate) fn forget(&self, owner: &Key) {
        self.all().remove(owner);
    }

    /// Forgets everything, because somebody else may have led meanwhile.
    pub(crate) fn clear(&self) {
        self.all().clear();
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, Children>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry<'a>(
    all: &'a mut BTreeMap<Key, Children>,
    owner: &Key,
    kind: ChildKind,
    name: &str,
) -> &'a mut Entry {
    all.entry(owner.clone()).or_default().entry((kind, name.to_owned())).or_default()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use serde_json::json;

    use super::*;

    fn live(version: &str) -> ChildFacts {
        let metadata: ObjectMeta = serde_json::from_value(json!({
            "uid": "u", "resourceVersion": version,
            "ownerReferences": [{
                "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPServer", "name": "s", "uid": "o",
                "controller": true,
            }],
        }))
        .unwrap();
        ChildFacts::read(&metadata).unwrap()
    }

    fn child(value: &str) -> Child {
        Child::new(ChildKind::ConfigMap, "c", json!({"data": {"key": value}}))
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_sent_when_nothing_has_changed() {
        let (last, key) = (LastApplied::default(), Key::new("MCPServer", "ns", "c"));
        assert_eq!(last.judge(&key, &child("1"), &live("5")), Verdict::Apply);
        last.applied(&key, &child("1"), &live("5"), true);
        assert_eq!(last.judge(&key, &child("1"), &live("5")), Verdict::Skip);
        assert_eq!(last.judge(&key, &child("2"), &live("5")), Verdict::Apply);
        assert_eq!(last.judge(&key, &child("1"), &live("6")), Verdict::Apply);
        last.clear();
        assert_eq!(last.judge(&key, &child("1"), &live("5")), Verdict::Apply);
    }

    #[tokio::test(start_paused = true)]
    async fn an_apply_that_changes_nothing_is_no_repair() {
        let (last, key) = (LastApplied::default(), Key::new("MCPServer", "ns", "c"));
        last.applied(&key, &child("1"), &live("0"), true);
        for round in 1..6 {
            assert_eq!(last.judge(&key, &child("1"), &live(&round.to_string())), Verdict::Apply);
            last.applied(&key, &child("1"), &live(&round.to_string()), false);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_apply_that_is_refused_is_no_repair() {
        let (last, key) = (LastApplied::default(), Key::new("MCPServer", "ns", "c"));
        last.applied(&key, &child("1"), &live("0"), true);
        for round in 1..6 {
            assert_eq!(last.judge(&key, &child("1"), &live(&round.to_string())), Verdict::Apply);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_third_repair_within_a_minute_is_a_fight_that_we_stay_out_of() {
        let (last, key) = (LastApplied::default(), Key::new("MCPServer", "ns", "c"));
        last.applied(&key, &child("1"), &live("0"), true);
        for round in 1..3 {
            assert_eq!(last.judge(&key, &child("1"), &live(&format!("{round}1"))), Verdict::Apply);
            last.applied(&key, &child("1"), &live(&format!("{round}2")), true);
        }
        assert_eq!(
            last.judge(&key, &child("1"), &live("99")),
            Verdict::Hold { wait: Duration::from_secs(30), is_news: true }
        );
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(last.judge(&key, &child("1"), &live("99")), Verdict::Apply);
    }
}
