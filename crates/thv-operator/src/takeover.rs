//! Taking objects over that the Go operator made.
//!
//! It wrote them with PUT, so their fields belong to its `Update` entries in `managedFields`; see
//! [`thv_plan::managed_fields`] for why they become ours before the first apply.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;
use thv_api::names::field_managers;
use thv_plan::managed_fields::Succession;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The object.
    Main,
    /// Its status.
    Status,
}

/// The JSON patch that takes the predecessor's fields over, which holds for this version of the object only;
/// nothing if there are none.
pub(crate) fn patch(metadata: &ObjectMeta, part: Part) -> Option<Value> {
    part.succession().patch(metadata)
}

/// Whether the predecessor still holds fields of this part.
pub(crate) fn is_due(metadata: &ObjectMeta, part: Part) -> bool {
    part.succession().is_due(metadata)
}

impl Part {
    const fn succession(self) -> Succession<'static> {
        Succession {
            predecessor: (field_managers::GO_OPERATOR, "Update"),
            successor: field_managers::OPERATOR,
            subresource: match self {
                Self::Main => "",
                Self::Status => "status",
            },
            given_up: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;

    use super::*;

    #[test]
    fn only_the_part_that_is_asked_for_is_taken_over() {
        let entry = ManagedFieldsEntry {
            manager: Some("thv-operator".to_owned()),
            operation: Some("Update".to_owned()),
            subresource: Some("status".to_owned()),
            ..ManagedFieldsEntry::default()
        };
        let metadata = ObjectMeta { managed_fields: Some(vec![entry]), ..ObjectMeta::default() };
        assert!(is_due(&metadata, Part::Status) && !is_due(&metadata, Part::Main));
    }
}
