//! What is kept of autoscalers: whom they scale.

use super::partial::PartialAutoscaler;
use crate::cache::Projection;
use crate::relation::Relation;

/// What is kept of an autoscaler.
pub(crate) fn project(object: PartialAutoscaler) -> Projection<()> {
    let target = &object.spec.scale_target_ref;
    let namespace = object.metadata.namespace.as_deref().unwrap_or_default();
    let relation = Relation::Scales { kind: &target.kind, name: &target.name };
    Projection { value: (), relations: vec![relation.id(namespace)], definition: None }
}
