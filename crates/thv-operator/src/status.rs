//! Writing the status: at most once a pass, and not for what is there already.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::json;
use thv_plan::Planned;

use crate::engine::PassError;
use crate::hash::hash;
use crate::own_writes::OwnWrite;
use crate::projection::object::{Cached, status_digest};
use crate::reconcile::{Again, Pass, uid_of};

/// What became of a status.
pub(crate) enum StatusWrite {
    /// It is there already.
    Unchanged,
    /// It is not urgent, and is written after this time.
    Later(Duration),
    /// It was written. The object has this metadata now.
    Written(Box<ObjectMeta>),
}

impl StatusWrite {
    /// How long until the status is to be written.
    pub(crate) const fn again(&self) -> Again {
        match self {
            Self::Later(wait) => Some(*wait),
            Self::Unchanged | Self::Written(_) => None,
        }
    }
}

impl<S: Planned> Pass<'_, S> {
    /// Applies the status if it is not what is there already, and tells of what has turned.
    pub(crate) async fn write_status(
        &self,
        cached: &Cached<S>,
        status: &S::Status,
    ) -> Result<StatusWrite, PassError> {
        let value = json!(status);
        let digest = status_digest(&value);
        if cached.status == Some(hash(&digest)) {
            return Ok(StatusWrite::Unchanged);
        }
        if let Some(wait) = self.may_wait(cached, status) {
            return Ok(StatusWrite::Later(wait));
        }
        self.may_write(cached.metadata(), OwnWrite::Status(&digest)).await?;
        let uid = uid_of(cached.metadata());
        let changed = self.engine.writer.apply_status::<S>(&self.key.object, uid, &value).await?;
        self.engine.own_writes.written(&self.key, uid, OwnWrite::Status(&digest));
        self.note(&changed);
        let before = cached.live_status().map(S::conditions).unwrap_or_default();
        self.events.turned::<S>(cached.metadata(), before, S::conditions(status)).await;
        Ok(StatusWrite::Written(Box::new(changed.metadata)))
    }

    /// How long a status may wait, if this process has written another one lately and nothing urgent has changed since.
    fn may_wait(&self, cached: &Cached<S>, status: &S::Status) -> Again {
        let age = self.engine.own_writes.status_age(&self.key)?;
        let wait = self.engine.status_interval.checked_sub(age).filter(|wait| !wait.is_zero())?;
        let urgent = |status: &S::Status| status_digest(&json!(S::urgent(status)));
        (urgent(&cached.our_status()?) == urgent(status)).then_some(wait)
    }
}
