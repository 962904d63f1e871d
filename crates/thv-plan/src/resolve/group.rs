//! The group that an object belongs to: `MCPGroup`.

use thv_api::kinds::MCPGroupSpec;
use thv_api::shared::GroupRef;

use super::outcome::{Cause, Outcome, Unusable};
use crate::reference::{Read, Reference, References};

/// What has to be read for the reference.
pub(crate) fn references(GroupRef { name }: &GroupRef) -> Vec<Reference> {
    vec![Reference::object::<MCPGroupSpec>(name)]
}

/// What becomes of a reference: the name of the group.
///
/// A group needs no members and no healthy ones. It is of no use when it is not there, and when it is about to go.
pub(crate) fn resolve(path: &str, reference: Option<&GroupRef>, references: &References) -> Outcome<String> {
    Outcome::of(reference, |GroupRef { name }| usable(path, name, references))
}

fn usable(path: &str, name: &str, references: &References) -> Result<String, Unusable> {
    let (cause, message) = match references.object::<MCPGroupSpec>(name) {
        Read::Found(group) if group.is_terminating => (
            Cause::Absent,
            format!("the MCPGroup {name:?} is being deleted: create it anew, or remove groupRef"),
        ),
        Read::Found(_) => return Ok(name.to_owned()),
        Read::Absent => {
            (Cause::Absent, format!("the MCPGroup {name:?} does not exist: create it, or remove groupRef"))
        }
        Read::Malformed(why) => (Cause::Invalid, format!("the MCPGroup {name:?} cannot be read: {why}")),
    };
    Err(cause.at(path, message))
}
