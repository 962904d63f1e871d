//! Kinds whose pods are proxies: `MCPServer` and `MCPRemoteProxy`.
//!
//! [`plan`] puts together what the modules say: `content` renders everything but the revision, `rendered` puts it under
//! one, `findings` and `conditions` tell what came of it. What a kind has of its own it says in [`Proxied`].

mod conditions;
mod content;
mod findings;
mod refs;
mod rendered;
mod resolved;
mod run_config;
mod spec;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::Observation;
use thv_api::names::annotations;
use thv_api::names::labels::Workload;

pub(crate) use self::content::Own;
pub(crate) use self::findings::{Findings, Told};
pub(crate) use self::refs::{refs, settings_refs};
pub(crate) use self::resolved::resolve;
pub use self::resolved::{ConfigHashes, Resolved};
pub(crate) use self::run_config::{Route, run_config, wiring};
pub(crate) use self::spec::ProxySpec;

use self::content::Resolution;
use self::rendered::Rendered;
use crate::deployed::restart::{Request, restart};
use crate::deployed::{Deployed, deployment_of, disruption};
use crate::health::{Health, Phase};
use crate::invalid::InvalidList;
use crate::overrides::IgnoredOverrides;
use crate::plan::{Children, Disruption, Plan, Scaling};
use crate::proxy::{Names, Proxy};
use crate::pull_secrets::PullSecrets;
use crate::revision::Revision;
use crate::snapshot::Snapshot;

/// A kind whose pods are proxies.
pub(crate) trait Proxied: Deployed {
    /// Where an object stands.
    type Phase: Phase;

    /// The kind, in labels.
    const WORKLOAD: Workload;
    /// Whether the proxies are in front of something that runs elsewhere.
    const IS_REMOTE: bool;

    /// What the children of an object of this name are called.
    fn names(name: &str) -> Names;

    /// What the spec says alike for all of these kinds.
    fn proxy_spec(&self) -> ProxySpec<'_>;

    /// What is wrong with the spec of an object of this name, by itself.
    fn invalid(&self, name: &str) -> InvalidList;

    /// What of that must not get into a configuration.
    fn unwritable(&self) -> InvalidList {
        InvalidList::default()
    }

    /// Between whom the proxies stand.
    fn route<'a>(&'a self, resolved: &Resolved) -> Route<'a>;

    /// What only this kind knows of its pods, and its further children.
    fn own<'a>(
        snapshot: &'a Snapshot<Self>,
        proxy: &Proxy<'_>,
        pull_secrets: &PullSecrets,
        ignored: &mut IgnoredOverrides,
    ) -> Own<'a>;

    /// Replica counts to write under the name of the hand-off manager.
    fn scalings(snapshot: &Snapshot<Self>) -> Vec<Scaling>;

    /// Whether the user adds anything to our objects.
    fn has_overrides(&self) -> bool;

    /// How an object does that nothing is wrong with.
    fn health(snapshot: &Snapshot<Self>, revision: &Revision) -> Health<Self::Phase>;

    /// The address of an object within the cluster.
    fn url(snapshot: &Snapshot<Self>) -> String;

    /// The conditions that only this kind has, but for the one that says whether it is ready.
    fn own_conditions(findings: &Findings<'_, Self>, observe: &Observation<'_>) -> Vec<Condition>;

    /// The condition that says whether it is ready. `is_applied` tells that nothing is wrong with the object itself.
    fn ready(health: &Health<Self::Phase>, is_applied: bool, observe: &Observation<'_>) -> Condition;

    /// What a status tells of what runs.
    fn told(status: &Self::Status) -> Told;

    /// A status of this content.
    fn status(
        snapshot: &Snapshot<Self>,
        health: Health<Self::Phase>,
        told: Told,
        conditions: Vec<Condition>,
    ) -> Self::Status;
}

/// What is to be done about an object.
pub(crate) fn plan<S: Proxied>(snapshot: &Snapshot<S>) -> Plan<S> {
    let resolved = resolve(snapshot);
    let resolution = resolution(snapshot, &resolved);
    let mut findings = Findings::new(snapshot, &resolved);
    let restart = restart(snapshot);
    findings.restart_is_due = restart.request.is_some();
    let rendered = match resolution {
        Err(invalid) => {
            findings.add_invalid(invalid);
            None
        }
        Ok(resolution) => {
            let content = content::content(snapshot, resolution, restart.on_pods);
            findings.render(content)
        }
    };
    let Some(Rendered { decision, children }) = rendered.filter(|_| findings.are_valid()) else {
        // A restart that was asked for waits as well, of whichever kind it is.
        return Plan::new(Children::Keep, findings.status(None));
    };
    let (pods_to_delete, annotations) = match restart.request {
        Some(Request { at, pods_to_delete }) => {
            (pods_to_delete, [(annotations::LAST_PROCESSED_RESTART.to_owned(), at)].into())
        }
        None => Default::default(),
    };
    let disruption = disruption(snapshot, &decision, findings.restart_is_due);
    let running = deployment_of(snapshot).and_then(|live| live.revision.as_ref());
    Plan {
        meanwhile: running.filter(|_| disruption == Disruption::Unasked).map(|it| findings.meanwhile(it)),
        disruption,
        status: findings.status(Some(decision.revision())),
        revision: Some(decision),
        children: Children::Exactly(children),
        scalings: S::scalings(snapshot),
        pods_to_delete,
        annotations,
    }
}

/// What references come to, or what is wrong with the spec. References that cannot be used have their own say.
fn resolution<S: Proxied>(snapshot: &Snapshot<S>, resolved: &Resolved) -> Result<Resolution, InvalidList> {
    if !resolved.invalid().is_empty() {
        return Err(InvalidList::default());
    }
    // The stamp follows from the content, so it comes later.
    let run_config = run_config(snapshot, resolved, 0)?;
    Ok(Resolution { wiring: wiring(resolved), run_config })
}
