//! How the pods of a Deployment do.

use super::{Deployed, deployment_of, replicas, was_ready, workload};
use crate::applied::Token;
use crate::health::{Health, Part, Phase};
use crate::revision::Revision;
use crate::snapshot::Snapshot;

/// What the pods of a Deployment are called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    /// One of them, to begin a sentence with.
    pub(crate) one: &'static str,
    /// Several of them.
    pub(crate) several: &'static str,
}

/// The pods of a proxy.
pub(crate) const PROXIES: Named = Named { one: "the proxy", several: "proxies" };

/// Whether the newest pods can be called, with a note if there are fewer than there should be.
pub(crate) fn newest<S: Deployed, P: Phase>(
    snapshot: &Snapshot<S>,
    revision: &Revision,
    named: Named,
) -> Result<String, Health<P>> {
    let newest = Token { uid: snapshot.uid().to_owned(), number: revision.number }.to_string();
    let part = Part {
        what: named.one,
        pods: &workload(snapshot).pods,
        newest: Some(&newest),
        namespace: snapshot.namespace(),
    };
    let starting = format!("{} is starting", named.one);
    let live = deployment_of(snapshot).filter(|live| live.revision.as_ref() == Some(revision));
    let Some(live) = live else { return Err(part.waits(&starting)) };
    part.judge(&live.rollout, was_ready(snapshot), &starting)?;
    let wanted = replicas::expected(snapshot).unwrap_or(live.replicas);
    let available = live.rollout.available;
    Ok(if available < wanted {
        format!("; {available} of {wanted} {} are ready", named.several)
    } else {
        String::new()
    })
}
