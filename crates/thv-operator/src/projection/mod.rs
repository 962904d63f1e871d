//! What is kept of the objects that watches deliver: a few hundred bytes each, where the objects themselves would take
//! forty thousand. Nothing in here knows a particular kind of owner.

pub(crate) mod autoscaler;
pub(crate) mod child;
mod fields;
pub(crate) mod metadata;
pub(crate) mod object;
pub(crate) mod partial;
pub(crate) mod pod;
pub(crate) mod workload;
