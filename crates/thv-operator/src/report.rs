//! Telling in the status what went wrong.

use serde_json::{Value, json};
use thv_api::Malformed;
use thv_plan::{Failure, Planned, canonical};

use crate::engine::PassError;
use crate::projection::object::Cached;
use crate::reconcile::Pass;

impl<S: Planned> Pass<'_, S> {
    /// Says in the status that a pass did not come to its end.
    ///
    /// The words of the API server may differ from one attempt to the next. They are written once, and again only when
    /// something else goes wrong: a write for every attempt would come back as an event, and there would be no backoff.
    pub(crate) async fn report(&self, error: &PassError) -> Result<(), PassError> {
        let Some(cached) = self.objects.cache.get(&self.key.object) else { return Ok(()) };
        let (failure, stable) = error.failure();
        self.write_failure(&cached, &failure, &stable).await
    }

    /// Says in the status that the object is not what its schema promises. Should the status be refused for the same
    /// reason, an Event says so.
    pub(crate) async fn report_malformed(
        &self,
        cached: &Cached<S>,
        malformed: &Malformed,
    ) -> Result<(), PassError> {
        let key = &self.key;
        let message = format!("the object is malformed and is left alone until it is mended: {malformed}");
        if !self.engine.is_news(key, cached.metadata().generation, &message) {
            return Ok(());
        }
        tracing::warn!(%key, message);
        let failure = Failure::Malformed(message.clone());
        match self.write_failure(cached, &failure, &message).await {
            Err(error) if error.is_definite() => {
                tracing::warn!(%key, %error, "the status of a malformed object is refused: an Event says the same");
                self.events.malformed::<S>(malformed).await;
                Ok(())
            }
            Err(error) => {
                self.engine.forget_failure(key);
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }

    async fn write_failure(
        &self,
        cached: &Cached<S>,
        failure: &Failure,
        stable: &str,
    ) -> Result<(), PassError> {
        let before = cached.our_status();
        let status = S::failing_status(before.as_ref(), &cached.observation(), failure);
        let is_said = before.is_some_and(|before| says_the_same::<S>(&before, &status, stable));
        if is_said { Ok(()) } else { self.write_status(cached, &status).await.map(drop) }
    }
}

/// Whether a status says of the same failure what another would, but for the words of the API server.
fn says_the_same<S: Planned>(before: &S::Status, now: &S::Status, stable: &str) -> bool {
    essence(json!(before), stable) == essence(json!(now), stable)
}

/// A status without times, without the order of conditions, and without what follows the part of a text that stays.
fn essence(status: Value, stable: &str) -> Value {
    match status {
        Value::String(text) if text.starts_with(stable) => stable.into(),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(|item| essence(item, stable)).collect();
            items.sort_by_cached_key(canonical);
            items.into()
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(name, _)| name != "lastTransitionTime");
            fields.map(|(name, value)| (name, essence(value, stable))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_times_do_not_make_another_status_and_everything_else_does() {
        let status = |phase: &str, message: &str, time: &str| {
            let ready =
                json!({"type": "Ready", "status": "False", "message": message, "lastTransitionTime": time});
            essence(
                json!({"phase": phase, "message": message, "conditions": [ready]}),
                "cannot write Service s",
            )
        };
        let one = status("Failed", "cannot write Service s: 1", "then");
        assert_eq!(one, status("Failed", "cannot write Service s: 2", "now"));
        assert_ne!(one, status("Ready", "cannot write Service s: 1", "then"));
        assert_ne!(one, status("Failed", "cannot write Deployment s: 1", "then"));
    }
}
