//! Leadership: one replica works, the others wait.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use thv_api::names::{LEADER_ELECTION_LEASE, field_managers};
use tokio::time::Instant;

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
}

impl Leader {
    /// A candidate with this identity, for the Lease in this namespace.
    pub fn new(client: Client, namespace: &str, identity: String) -> Self {
        Self { api: Api::namespaced(client, namespace), identity, seen: None }
    }

    /// Waits until we lead.
    pub async fn acquire(&mut self) {
        loop {
            match self.attempt().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "cannot get hold of the lease"),
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Renews for as long as that works; returns when we lead no longer.
    pub async fn keep(&mut self) {
        let mut renewed = Instant::now();
        while renewed.elapsed() < DEADLINE {
            tokio::time::sleep(RETRY).await;
            let left = DEADLINE.saturating_sub(renewed.elapsed());
            match tokio::time::timeout(left, self.attempt()).await {
                Ok(Ok(true)) => renewed = Instant::now(),
                Ok(Ok(false)) | Err(_) => return,
                Ok(Err(error)) => tracing::warn!(%error, "cannot renew the lease"),
            }
        }
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
