//! Leadership: one replica works, the others wait.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use thv_api::names::{LEADER_ELECTION_LEASE, field_managers};
use tokio::time::{Instant, sleep_until, timeout_at};
use uuid::Uuid;

use crate::clock;

/// A leader that has not renewed for this long is no leader any more.
const DURATION: Duration = Duration::from_secs(15);
/// A leader that could not renew for this long steps down. Sooner than others may step up, so that there is never
/// more than one.
const DEADLINE: Duration = Duration::from_secs(10);
/// How often a leader renews, and others look.
const RETRY: Duration = Duration::from_secs(2);

/// A candidate for the Lease.
pub struct Leader {
    api: Api<Lease>,
    identity: String,
    /// What we last saw of another leader's renewals, and when: their clock is not ours.
    seen: Option<(String, Instant)>,
    term: Term,
}

impl Leader {
    /// A candidate for the Lease in this namespace. `host` says to people which pod it is.
    pub fn new(client: Client, namespace: &str, host: &str) -> Self {
        let term = Term { renewed: Instant::now() };
        Self { api: Api::namespaced(client, namespace), identity: identity(host), seen: None, term }
    }

    /// Waits until we lead.
    pub async fn acquire(&mut self) {
        loop {
            let sent = Instant::now();
            // An attempt that takes longer than a leader may go without renewing would be lost as soon as it is won.
            match timeout_at(sent + DEADLINE, self.attempt()).await {
                Ok(Ok(true)) => {
                    self.term = Term { renewed: sent };
                    return;
                }
                Ok(Ok(false)) => {}
                Ok(Err(error)) => tracing::warn!(%error, "cannot acquire the lease; will try again"),
                Err(_) => {
                    tracing::warn!("cannot acquire the lease: the API server is too slow; will try again");
                }
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Renews for as long as that works; returns when we lead no longer.
    pub async fn keep(&mut self) {
        let term = self.term;
        term.last(async || self.attempt().await).await;
    }

    /// Gives the Lease back, so that nobody has to wait for it to run out.
    pub async fn release(&self) {
        let Ok(Some(lease)) = self.api.get_opt(LEADER_ELECTION_LEASE).await else { return };
        if holder(&lease) == Some(&self.identity) {
            let body = json!({
                "metadata": {"resourceVersion": lease.metadata.resource_version},
                "spec": {"holderIdentity": "", "leaseDurationSeconds": 1},
            });
            if let Err(error) =
                self.api.patch(LEADER_ELECTION_LEASE, &PatchParams::default(), &Patch::Merge(&body)).await
            {
                tracing::debug!(%error, "the lease was not given back and will run out");
            }
        }
    }

    /// Takes or renews the Lease if nobody else holds it: whether we hold it then.
    async fn attempt(&mut self) -> kube::Result<bool> {
        let Some(lease) = self.api.get_opt(LEADER_ELECTION_LEASE).await? else {
            let lease: Lease = serde_json::from_value(json!({
                "metadata": {"name": LEADER_ELECTION_LEASE}, "spec": self.spec(clock::now(), 0, true),
            }))
            .map_err(kube::Error::SerdeError)?;
            return won(self.api.create(&PostParams::default(), &lease).await);
        };
        let is_ours = holder(&lease) == Some(&self.identity);
        if !is_ours && !self.has_run_out(&lease) {
            return Ok(false);
        }
        let transitions = lease.spec.as_ref().and_then(|spec| spec.lease_transitions).unwrap_or_default();
        let transitions = if is_ours { transitions } else { transitions + 1 };
        let body = json!({
            "metadata": {"resourceVersion": lease.metadata.resource_version},
            "spec": self.spec(clock::now(), transitions, !is_ours),
        });
        let params = PatchParams {
            field_manager: Some(field_managers::OPERATOR.to_owned()),
            ..PatchParams::default()
        };
        won(self.api.patch(LEADER_ELECTION_LEASE, &params, &Patch::Merge(&body)).await)
    }

    /// Whether another leader has not renewed for as long as it promised to, by our own clock.
    fn has_run_out(&mut self, lease: &Lease) -> bool {
        if holder(lease).is_none_or(String::is_empty) {
            return true;
        }
        let version = lease.metadata.resource_version.clone().unwrap_or_default();
        match &self.seen {
            Some((seen, since)) if *seen == version => {
                let promised = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds);
                let promised =
                    promised.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs);
                since.elapsed() > promised.unwrap_or(DURATION)
            }
            _ => {
                self.seen = Some((version, Instant::now()));
                false
            }
        }
    }

    fn spec(&self, now: Timestamp, transitions: i32, is_new: bool) -> serde_json::Value {
        let time = format!("{now:.6}");
        let mut spec = json!({
            "holderIdentity": self.identity, "leaseDurationSeconds": DURATION.as_secs(),
            "renewTime": time, "leaseTransitions": transitions,
        });
        if let Some(fields) = spec.as_object_mut().filter(|_| is_new) {
            fields.insert("acquireTime".to_owned(), time.into());
        }
        spec
    }
}

/// A time of leading.
#[derive(Clone, Copy, Debug)]
struct Term {
    /// When the last renewal that succeeded was sent. Others count from when they see it, which is later: an answer
    /// that is slow to arrive shortens our time, and never lets us lead beside them.
    renewed: Instant,
}

impl Term {
    /// Renews by `attempt`, which says whether we still hold the Lease, until we do not or must fear so.
    async fn last(mut self, mut attempt: impl AsyncFnMut() -> kube::Result<bool>) {
        let mut sent = self.renewed;
        loop {
            let deadline = self.renewed + DEADLINE;
            sleep_until(deadline.min(sent + RETRY)).await;
            sent = Instant::now();
            if sent >= deadline {
                return;
            }
            match timeout_at(deadline, attempt()).await {
                Ok(Ok(true)) => self.renewed = sent,
                Ok(Ok(false)) | Err(_) => return,
                Ok(Err(error)) => tracing::warn!(%error, "cannot renew the lease; will try again"),
            }
        }
    }
}

/// Names this process and no other one. Host and process id do not: pods on the network of their node share its name,
/// and each is process 1 of its container.
fn identity(host: &str) -> String {
    format!("{host}_{}", Uuid::new_v4())
}

fn holder(lease: &Lease) -> Option<&String> {
    lease.spec.as_ref()?.holder_identity.as_ref()
}

/// Somebody else being quicker is no error.
fn won<T>(result: kube::Result<T>) -> kube::Result<bool> {
    match result {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// How long a term lasts when the answers to its renewals take this long, one after the other, and the API server
    /// never answers again.
    async fn lasts(answers: &[Duration]) -> Duration {
        let start = Instant::now();
        let mut answers = answers.iter();
        let term = Term { renewed: start };
        term.last(async || match answers.next() {
            Some(wait) => {
                tokio::time::sleep(*wait).await;
                Ok(true)
            }
            None => std::future::pending().await,
        })
        .await;
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_term_ends_ten_seconds_after_its_last_renewal_was_sent() {
        assert_eq!(lasts(&[]).await, DEADLINE);
        assert_eq!(lasts(&[Duration::ZERO]).await, RETRY + DEADLINE);
        assert_eq!(lasts(&[Duration::ZERO; 3]).await, RETRY.saturating_mul(3) + DEADLINE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewal_that_is_answered_late_counts_from_when_it_was_sent() {
        let late = DEADLINE.saturating_sub(RETRY).saturating_sub(SECOND);
        assert_eq!(lasts(&[late]).await, RETRY + DEADLINE);
        // The next one does not wait: the pause between two renewals has passed already.
        assert_eq!(lasts(&[late, Duration::ZERO]).await, RETRY + late + DEADLINE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewal_that_is_not_answered_in_time_ends_the_term() {
        assert_eq!(lasts(&[DEADLINE]).await, DEADLINE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_term_outlasts_errors_until_its_deadline() {
        let (start, mut attempts) = (Instant::now(), 0);
        let term = Term { renewed: start };
        term.last(async || {
            attempts += 1;
            Err(kube::Error::ReadEvents(std::io::Error::other("no connection")))
        })
        .await;
        // At 2, 4, 6 and 8 s.
        assert_eq!((start.elapsed(), attempts), (DEADLINE, 4));
    }

    #[tokio::test(start_paused = true)]
    async fn a_term_ends_when_somebody_else_holds_the_lease() {
        let start = Instant::now();
        Term { renewed: start }.last(async || Ok(false)).await;
        assert_eq!(start.elapsed(), RETRY);
    }

    #[test]
    fn two_processes_on_one_host_have_different_identities() {
        let (one, other) = (identity("node-1"), identity("node-1"));
        assert_ne!(one, other);
        assert!(one.starts_with("node-1_") && other.starts_with("node-1_"), "{one} {other}");
    }
}
