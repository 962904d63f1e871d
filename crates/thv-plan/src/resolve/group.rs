//! The group of a server: `MCPGroup`.

use thv_api::conditions::mcp_server::GroupRefValidated;
use thv_api::kinds::MCPGroupPhase;
use thv_api::shared::GroupRef;

use super::outcome::{Fault, Outcome};
use crate::reference::{Read, References};

/// What becomes of the reference of a server: the name of the group.
///
/// A group needs no members and no healthy ones. It is of no use when it is not there, when it is about to go, and
/// when its members could not be listed.
pub(super) fn resolve(
    reference: Option<&GroupRef>,
    references: &References,
) -> Outcome<String, GroupRefValidated> {
    let Some(GroupRef { name }) = reference else { return Outcome::NotReferenced };
    let (reason, message, fault) = match references.group(name) {
        Read::Found(group) if group.metadata.deletion_timestamp.is_some() => (
            GroupRefValidated::NotFound,
            format!("the MCPGroup {name:?} is being deleted: create it anew, or remove groupRef"),
            Fault::Waiting,
        ),
        Read::Found(group) if phase(group) == Some(MCPGroupPhase::Failed) => (
            GroupRefValidated::NotReady,
            format!("the MCPGroup {name:?} has failed: see its conditions"),
            Fault::Waiting,
        ),
        Read::Found(_) => return Outcome::Usable(name.clone()),
        Read::Absent => (
            GroupRefValidated::NotFound,
            format!("the MCPGroup {name:?} does not exist: create it, or remove groupRef"),
            Fault::Waiting,
        ),
        Read::Malformed(why) => (
            GroupRefValidated::NotReady,
            format!("the MCPGroup {name:?} cannot be read: {why}"),
            Fault::Terminal,
        ),
    };
    Outcome::Unusable { reason, message, fault }
}

fn phase(group: &thv_api::kinds::MCPGroup) -> Option<MCPGroupPhase> {
    group.status.as_ref().and_then(|status| status.phase)
}
