//! What is said about an object with a proxy.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::common::OverridesAccepted;
use thv_api::conditions::{Observation, Reason as _, find};

use super::content::Content;
use super::rendered::{self, Rendered};
use super::{ConfigHashes, Proxied, Resolved, conditions};
use crate::deployed::taken;
use crate::health::{Health, Phase as _};
use crate::invalid::{Invalid, InvalidList};
use crate::overrides::IgnoredOverrides;
use crate::pod_template;
use crate::revision::Revision;
use crate::snapshot::Snapshot;

/// What was found out about an object.
#[derive(Debug)]
pub(crate) struct Findings<'a, S: Proxied> {
    pub(crate) snapshot: &'a Snapshot<S>,
    pub(crate) resolved: &'a Resolved,
    /// What is wrong with the spec by itself.
    pub(crate) invalid: InvalidList,
    /// Whether the pod template is one, if there is one.
    pub(crate) pod_template: Option<Result<(), Invalid>>,
    /// Why the Deployment cannot be had.
    pub(crate) taken: Option<String>,
    /// The overrides that are ignored, if it came to that.
    ignored: Option<IgnoredOverrides>,
    /// Whether somebody has asked for a restart.
    pub(super) restart_is_due: bool,
}

/// What a status tells of what runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// The address.
    pub(crate) url: Option<String>,
    /// The digests of the configuration in use.
    pub(crate) hashes: ConfigHashes,
}

impl<'a, S: Proxied> Findings<'a, S> {
    /// What can be said before anything is rendered.
    pub(super) fn new(snapshot: &'a Snapshot<S>, resolved: &'a Resolved) -> Self {
        let spec = &snapshot.owner.spec;
        Self {
            snapshot,
            resolved,
            invalid: spec.invalid(snapshot.name()),
            pod_template: spec.proxy_spec().pod_template_spec.map(pod_template::validate),
            taken: taken(snapshot),
            ignored: None,
            restart_is_due: false,
        }
    }

    /// Adds what was found to be wrong with the spec.
    pub(super) fn add_invalid(&mut self, invalid: InvalidList) {
        self.invalid.merge(invalid);
    }

    /// Puts content under a revision, unless that shows that something is wrong with it.
    pub(super) fn render(&mut self, content: Content<'_>) -> Option<Rendered> {
        let mut ignored = content.ignored.clone();
        let rendered = rendered::render(self.snapshot, content, &mut ignored);
        self.ignored = Some(ignored);
        match rendered {
            Ok(rendered) => return Some(rendered),
            Err(invalid) if invalid.path == pod_template::FIELD => self.pod_template = Some(Err(invalid)),
            Err(invalid) => self.add_invalid(invalid.into()),
        }
        None
    }

    /// Whether the children can be told.
    pub(super) fn are_valid(&self) -> bool {
        self.errors().is_empty()
    }

    /// Everything that keeps the children from being told.
    fn errors(&self) -> Vec<String> {
        let template =
            self.pod_template.iter().filter_map(|result| result.as_ref().err().map(ToString::to_string));
        let references = self.resolved.invalid().into_iter().map(|invalid| invalid.message);
        let mut all: Vec<String> = self.taken.clone().into_iter().collect();
        all.extend(template);
        all.extend(self.invalid.iter().map(ToString::to_string));
        all.extend(references);
        all
    }

    /// The status while the children that were applied last stay, and newer ones wait for their turn.
    pub(super) fn meanwhile(&self, running: &Revision) -> S::Status {
        let mut health = S::health(self.snapshot, running);
        health.message.push_str("; a new revision waits for its turn");
        self.report(health, Told { url: Some(S::url(self.snapshot)), ..self.before() })
    }

    /// The status, with the revision that the children have if they can be told.
    ///
    /// As long as the children cannot be told they stay as they are, so what was said about them stays as well.
    pub(super) fn status(&self, revision: Option<&Revision>) -> S::Status {
        let snapshot = self.snapshot;
        if let Some(revision) = revision {
            let told = Told { url: Some(S::url(snapshot)), hashes: self.resolved.hashes() };
            return self.report(S::health(snapshot, revision), told);
        }
        let restart =
            if self.restart_is_due { "; the restart that was asked for waits for that" } else { "" };
        let message = format!("not applied: {}{restart}", self.errors().join("; "));
        self.report(Health::new(S::Phase::FAILED, message), self.before())
    }

    /// What was told before.
    fn before(&self) -> Told {
        self.snapshot.owner.status.as_ref().map(S::told).unwrap_or_default()
    }

    fn report(&self, health: Health<S::Phase>, told: Told) -> S::Status {
        let snapshot = self.snapshot;
        let live = snapshot.owner.status.as_ref().map(S::conditions).unwrap_or_default();
        let observe = Observation::new(snapshot.generation(), snapshot.now, live);
        let mut all = conditions::common(self, &observe);
        all.extend(S::own_conditions(self, &observe));
        all.extend(overrides(snapshot, self.ignored.as_ref(), live, &observe));
        all.push(S::ready(&health, self.are_valid(), &observe));
        all.sort_by(|one, other| one.type_.cmp(&other.type_));
        S::status(snapshot, health, told, all)
    }
}

/// Whether overrides were accepted: what was said last, if it did not come to that.
fn overrides<S: Proxied>(
    snapshot: &Snapshot<S>,
    ignored: Option<&IgnoredOverrides>,
    live: &[Condition],
    observe: &Observation<'_>,
) -> Option<Condition> {
    match ignored {
        Some(ignored) => {
            crate::deployed::conditions::overrides(snapshot.owner.spec.has_overrides(), ignored, observe)
        }
        None => find(live, OverridesAccepted::TYPE).cloned(),
    }
}
