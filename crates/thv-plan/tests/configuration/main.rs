//! From manifests to the configuration of a proxy.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests fail that way")]

#[allow(dead_code, reason = "it is shared with the tests of thv-api, which use more of it")]
#[path = "../../../thv-api/tests/support/mod.rs"]
mod arbitrary;
mod golden;
mod properties;
mod reasons;
mod recorded;
#[path = "../../../../tests/recordings/mod.rs"]
mod recordings;
mod refusing;
mod resolving;
mod single_edit;
mod support;
mod wiring;
