//! One pass: read, decide, write, until the backend is what it should be or somebody else's.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::DynamicObject;
use thv_api::names::annotations;
use thv_plan::{Backoff, Contention, Identity};
use tokio::time::Instant;

use super::{Keeper, Kept, Next};
use crate::document::Binding;
use crate::fence::{self, Action, Mark, Me, Newer, ObjectView, OwnerView, Refusal, Stamp};
use crate::platform;
use crate::render::{Blueprint, Completion, Draft};
use crate::standing::Standing;
use crate::trouble::Trouble;
use crate::view;

/// How often a decision is made anew within one pass when somebody else was faster, and how long it waits in between.
const TRIES: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// How long to wait when something went wrong: at first this long, then twice as long each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How often a proxy that may not write looks whether it ever will.
const LOOK_FOR_REVISION: Duration = Duration::from_secs(10);

/// How long to wait for an object that is on its way out, if no event comes first.
const AWAIT_END: Duration = Duration::from_secs(5);

/// What has become of an object.
enum Outcome {
    /// It is what it should be, and this very one.
    Here(Identity),
    /// It is somebody else's to write.
    Over(Newer),
    /// It is left as it is.
    Refused(Refusal),
    /// It is to be looked at again.
    Later(String, Duration),
}

impl Keeper {
    /// One pass over the whole backend.
    pub(super) async fn pass(&mut self) -> Next {
        let binding = self.binder.look().await;
        self.is_bound = matches!(binding, Binding::Bound(_));
        let result = match binding {
            Binding::Bound(blueprint) => self.bring_up(&blueprint).await,
            Binding::Unbound => return self.wait_unbound().await,
            Binding::Useless(why) => Err((Trouble::Refused(why), "the configuration".to_owned())),
        };
        match result {
            Ok(next) => {
                self.failures = 0;
                next
            }
            Err((trouble, what)) => {
                let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.failures)).min(LONGEST_WAIT);
                self.failures = self.failures.saturating_add(1);
                let wait = if trouble == Trouble::Ending { LONGEST_WAIT } else { wait };
                self.stand(Standing::Waiting { why: format!("{what}: {trouble}") });
                Next::After(wait)
            }
        }
    }

    /// Writes nothing, and finds out whether it ever will again.
    async fn wait_unbound(&mut self) -> Next {
        if let Some(token) = &self.token {
            let (owner, _) = self.writer.owner().await;
            if let Some(newer) = fence::is_over(token, &owner) {
                return self.give_way(newer);
            }
        }
        self.stand(Standing::Unbound);
        Next::After(LOOK_FOR_REVISION)
    }

    fn give_way(&self, newer: Newer) -> Next {
        self.stand(Standing::Superseded { why: newer.to_string() });
        Next::Never
    }

    async fn bring_up(&mut self, blueprint: &Blueprint) -> Result<Next, (Trouble, String)> {
        let platform = match self.platform {
            Some(platform) => platform,
            None => {
                platform::ask(&self.client).await.map_err(|trouble| (trouble, "the platform".to_owned()))?
            }
        };
        self.platform = Some(platform);
        let set = blueprint.stateful_set(platform);
        let owner = self.token.as_ref().map(|token| token.uid.clone());
        let set_uid = match self.see_to(&set, owner.as_deref(), blueprint.generation()).await? {
            Outcome::Here(identity) => identity.uid,
            other => return Ok(self.stay_with(&set, other).await),
        };
        for service in blueprint.services() {
            match self.see_to(&service, Some(&set_uid), blueprint.generation()).await? {
                Outcome::Here(_) => {}
                other => return Ok(self.stay_with(&service, other).await),
            }
        }
        self.herald.forget();
        self.stand(Standing::Bound);
        Ok(Next::Event)
    }

    /// What to do when an object did not become what it should be.
    async fn stay_with(&mut self, draft: &Draft, outcome: Outcome) -> Next {
        let what = title(draft);
        match outcome {
            Outcome::Here(_) => Next::Event,
            Outcome::Over(newer) => self.give_way(newer),
            Outcome::Later(why, wait) => {
                self.stand(Standing::Waiting { why: format!("{what}: {why}") });
                Next::After(wait)
            }
            Outcome::Refused(refusal) => {
                let why = format!("{what}: {refusal}");
                let reason = match refusal {
                    Refusal::Tie => "BackendTie",
                    Refusal::Taken(_) => "BackendTaken",
                };
                self.outlets.tally.count_refusal();
                self.herald.warn(reason, &why).await;
                self.stand(Standing::Refused { why });
                // Whoever ends it changes the object.
                Next::Event
            }
        }
    }

    /// Brings one object to what it should be. `owner` is the uid of what it belongs to.
    async fn see_to(
        &mut self,
        draft: &Draft,
        owner: Option<&str>,
        generation: i64,
    ) -> Result<Outcome, (Trouble, String)> {
        let mut pause = FIRST_PAUSE;
        for _ in 0..TRIES {
            match self.try_once(draft, owner, generation).await {
                Ok(Some(outcome)) => return Ok(outcome),
                Ok(None) => {}
                Err(Trouble::Conflict) => {
                    self.outlets.tally.count_conflict();
                    tokio::time::sleep(pause).await;
                    pause = pause.saturating_mul(2);
                }
                Err(trouble) => return Err((trouble, title(draft))),
            }
        }
        Err((Trouble::Conflict, title(draft)))
    }

    /// Reads, decides, and writes at most once. Nothing means to do it again at once.
    async fn try_once(
        &mut self,
        draft: &Draft,
        owner: Option<&str>,
        generation: i64,
    ) -> Result<Option<Outcome>, Trouble> {
        // The object first: if a write goes through, it has not changed since, and so what is known of the server is
        // the younger of the two.
        let found = self.writer.read(draft.kind(), draft.name()).await?;
        let (server, trouble) = match &self.token {
            Some(_) => self.writer.owner().await,
            None => (OwnerView::Unread, None),
        };
        let object = view::object(found.as_ref(), draft.kind(), self.writer.server());
        let me = Me { token: self.token.as_ref(), generation, digest: draft.digest() };
        warn_of_odd_marks(&object, generation);
        let outcome = match fence::decide(&me, &server, &object) {
            Action::ReadAgain => return Err(trouble.unwrap_or(Trouble::Missing)),
            Action::Superseded(newer) => Outcome::Over(newer),
            Action::Refuse(refusal) => Outcome::Refused(refusal),
            Action::AwaitEnd => Outcome::Later("it is being deleted".to_owned(), AWAIT_END),
            Action::DeleteAlien => {
                if let Some(uid) = found.as_ref().and_then(|found| found.metadata.uid.as_deref()) {
                    tracing::info!(
                        object = title(draft),
                        "deleting what a former server of this name has left"
                    );
                    self.writer.delete(draft, uid).await?;
                }
                return Ok(None);
            }
            Action::Create => self.repair(draft, owner, None, stamp(generation)).await?,
            Action::Settle => {
                if let Some(found) = found.as_ref().filter(|found| self.is_as_we_left_it(draft, found)) {
                    here(&found.metadata)?
                } else {
                    let stamp = live_stamp(found.as_ref());
                    self.repair(draft, owner, found, stamp).await?
                }
            }
            Action::Update { is_same } => {
                let stamp = if is_same { live_stamp(found.as_ref()) } else { stamp(generation) };
                self.apply(draft, owner, found, stamp).await?
            }
        };
        Ok(Some(outcome))
    }

    fn is_as_we_left_it(&self, draft: &Draft, found: &DynamicObject) -> bool {
        let kept = self.kept.get(draft.name());
        kept.is_some_and(|kept| kept.fingerprint == view::fingerprint(&found.metadata, draft))
    }

    /// Applies what is not as we left it, unless somebody keeps changing it.
    async fn repair(
        &mut self,
        draft: &Draft,
        owner: Option<&str>,
        found: Option<DynamicObject>,
        stamp: Option<String>,
    ) -> Result<Outcome, Trouble> {
        let now = Instant::now().into_std();
        let is_repair = self.kept.contains_key(draft.name());
        let backoff = self.kept.get_mut(draft.name()).and_then(|kept| kept.contention.back_off(now));
        if let Some(Backoff { wait, is_news }) = backoff {
            let why = format!("somebody keeps changing it; it is left alone for {} s", wait.as_secs());
            if is_news {
                self.herald.warn("BackendContested", &format!("{}: {why}", title(draft))).await;
            }
            return Ok(Outcome::Later("somebody keeps changing it".to_owned(), wait));
        }
        let before = found.as_ref().and_then(|found| found.metadata.resource_version.clone());
        let outcome = self.apply(draft, owner, found, stamp).await?;
        if let (Outcome::Here(identity), Some(kept)) = (&outcome, self.kept.get_mut(draft.name()))
            && is_repair
            && Some(&identity.resource_version) != before.as_ref()
        {
            kept.contention.repaired(now);
        }
        Ok(outcome)
    }

    /// The write, for the version that was read and no other.
    async fn apply(
        &mut self,
        draft: &Draft,
        owner: Option<&str>,
        found: Option<DynamicObject>,
        stamp: Option<String>,
    ) -> Result<Outcome, Trouble> {
        // Whoever has stopped the backend will start it again.
        let is_stopped = found.as_ref().is_some_and(|found| {
            view::annotation(&found.metadata, annotations::REPLICAS_BEFORE_STOP).is_some()
        });
        let live = match found {
            None => None,
            Some(found) => {
                let metadata = self.writer.take_over(draft, found.metadata, is_stopped).await?;
                Some(view::identity(&metadata).ok_or(Trouble::Conflict)?)
            }
        };
        let body = draft.complete(Completion {
            owner,
            token: self.token.as_ref(),
            stamp: stamp.as_deref(),
            live: live.as_ref(),
            leaves_replicas: is_stopped,
        });
        let applied = self.writer.apply(draft, &body).await?;
        self.outlets.tally.count_applied();
        let fingerprint = view::fingerprint(&applied.metadata, draft);
        if let Some(kept) = self.kept.get_mut(draft.name()) {
            (kept.draft, kept.fingerprint) = (draft.clone(), fingerprint);
        } else {
            let kept = Kept { draft: draft.clone(), fingerprint, contention: Contention::default() };
            self.kept.insert(draft.name().to_owned(), kept);
        }
        here(&applied.metadata)
    }
}

/// An object is where it should be.
fn here(metadata: &ObjectMeta) -> Result<Outcome, Trouble> {
    view::identity(metadata).map(Outcome::Here).ok_or(Trouble::Conflict)
}

/// The stamp that is there, as it stands there.
fn live_stamp(found: Option<&DynamicObject>) -> Option<String> {
    found.and_then(|found| view::stamp_text(&found.data)).map(str::to_owned)
}

/// The stamp of a generation. Whoever knows none leaves none.
fn stamp(generation: i64) -> Option<String> {
    (generation > 0).then(|| generation.to_string())
}

fn title(draft: &Draft) -> String {
    format!("{} {}", draft.kind().kind(), draft.name())
}

fn warn_of_odd_marks(object: &ObjectView, generation: i64) {
    let ObjectView::Present(present) = object else { return };
    match (&present.mark, present.stamp) {
        (Mark::Unreadable, _) => tracing::warn!(
            "what was applied last cannot be told: the annotation {} makes no sense",
            annotations::APPLIED_REVISION
        ),
        (Mark::Absent, Stamp::Unreadable) if generation > 0 => tracing::warn!(
            "the generation of the backend cannot be told: the annotation {} is no number",
            annotations::MCP_SERVER_GENERATION
        ),
        _ => {}
    }
}
