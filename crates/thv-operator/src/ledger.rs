//! What we have written, so that we need not write it again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thv_plan::{Backoff, Child, ChildKind, Contention};
use tokio::time::Instant;

use crate::facts::Facts;
use crate::key::Key;

/// What to do about a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is as we left it, and we want nothing else: nothing is to be sent.
    Skip,
    /// It is to be applied.
    Apply,
    /// Somebody keeps changing it. It is left alone for this long.
    Truce {
        /// How long.
        wait: Duration,
        /// Whether this has just been decided.
        is_news: bool,
    },
}

#[derive(Debug, Default)]
struct Entry {
    /// The digest of what we applied last, and the fingerprint of what that came to.
    applied: Option<(String, String)>,
    /// Whether we put right what somebody else changes.
    contention: Contention,
    /// Whether the next apply would be such a repair.
    is_repair: bool,
}

/// The memory of one process. After a restart it is empty, and every child is applied once more, which changes
/// nothing.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<BTreeMap<Place, Entry>>);

/// The owner of a child, its kind and its name.
type Place = (Key, ChildKind, String);

impl Ledger {
    /// Decides on a child that is there.
    pub(crate) fn judge(&self, owner: &Key, child: &Child, live: &Facts) -> Verdict {
        let mut entries = self.entries();
        let entry = entries.entry(place(owner, child)).or_default();
        entry.is_repair = false;
        let Some((digest, fingerprint)) = &entry.applied else { return Verdict::Apply };
        if *digest != child.digest() {
            return Verdict::Apply;
        }
        if *fingerprint == live.fingerprint(child) {
            return Verdict::Skip;
        }
        match entry.contention.back_off(Instant::now().into_std()) {
            None => {
                entry.is_repair = true;
                Verdict::Apply
            }
            Some(Backoff { wait, is_news }) => Verdict::Truce { wait, is_news },
        }
    }

    /// Notes what an apply came to. One that changed nothing has not repaired anything either: somebody has
    /// edited what is not ours. Nor has one that was refused, because somebody was faster, and never comes here.
    pub(crate) fn applied(&self, owner: &Key, child: &Child, result: &Facts, changed: bool) {
        let mut entries = self.entries();
        let entry = entries.entry(place(owner, child)).or_default();
        if std::mem::take(&mut entry.is_repair) && changed {
            entry.contention.repaired(Instant::now().into_std());
        }
        entry.applied = Some((child.digest(), result.fingerprint(child)));
    }

    /// Forgets the children of an owner that is gone.
    pub(crate) fn forget(&self, owner: &Key) {
        self.entries().retain(|(of, ..), _| of != owner);
    }

    /// Forgets everything, because somebody else may have led meanwhile.
    pub(crate) fn clear(&self) {
        self.entries().clear();
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<Place, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place(owner: &Key, child: &Child) -> Place {
    (owner.clone(), child.kind(), child.name().to_owned())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use serde_json::json;

    use super::*;

    fn live(version: &str) -> Facts {
        let metadata: ObjectMeta = serde_json::from_value(json!({
            "uid": "u", "resourceVersion": version,
            "ownerReferences": [{
                "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": "MCPServer", "name": "s", "uid": "o",
                "controller": true,
            }],
        }))
        .unwrap();
        Facts::read(&metadata).unwrap()
    }

    fn child(value: &str) -> Child {
        Child::new(ChildKind::ConfigMap, "c", json!({"data": {"key": value}}))
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_sent_when_nothing_has_changed() {
        let (ledger, key) = (Ledger::default(), Key::new("ns", "c"));
        assert_eq!(ledger.judge(&key, &child("1"), &live("5")), Verdict::Apply);
        ledger.applied(&key, &child("1"), &live("5"), true);
        assert_eq!(ledger.judge(&key, &child("1"), &live("5")), Verdict::Skip);
        assert_eq!(ledger.judge(&key, &child("2"), &live("5")), Verdict::Apply);
        assert_eq!(ledger.judge(&key, &child("1"), &live("6")), Verdict::Apply);
        ledger.clear();
        assert_eq!(ledger.judge(&key, &child("1"), &live("5")), Verdict::Apply);
    }

    #[tokio::test(start_paused = true)]
    async fn an_apply_that_changes_nothing_is_no_repair() {
        let (ledger, key) = (Ledger::default(), Key::new("ns", "c"));
        ledger.applied(&key, &child("1"), &live("0"), true);
        for round in 1..6 {
            assert_eq!(ledger.judge(&key, &child("1"), &live(&round.to_string())), Verdict::Apply);
            ledger.applied(&key, &child("1"), &live(&round.to_string()), false);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_apply_that_is_refused_is_no_repair() {
        let (ledger, key) = (Ledger::default(), Key::new("ns", "c"));
        ledger.applied(&key, &child("1"), &live("0"), true);
        for round in 1..6 {
            assert_eq!(ledger.judge(&key, &child("1"), &live(&round.to_string())), Verdict::Apply);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_third_repair_within_a_minute_is_a_fight_that_we_stay_out_of() {
        let (ledger, key) = (Ledger::default(), Key::new("ns", "c"));
        ledger.applied(&key, &child("1"), &live("0"), true);
        for round in 1..3 {
            assert_eq!(ledger.judge(&key, &child("1"), &live(&format!("{round}1"))), Verdict::Apply);
            ledger.applied(&key, &child("1"), &live(&format!("{round}2")), true);
        }
        assert_eq!(
            ledger.judge(&key, &child("1"), &live("99")),
            Verdict::Truce { wait: Duration::from_secs(30), is_news: true }
        );
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(ledger.judge(&key, &child("1"), &live("99")), Verdict::Apply);
    }
}
