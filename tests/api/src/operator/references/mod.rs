//! Objects that others refer to: who refers to them, what keeps them, and what becomes of those who do.

mod blocking;
mod chains;
mod composite_tool;
mod fleet;
mod gateway;
mod group;
mod pairs;
mod proof;
mod rotation;
mod status;
mod table;

use super::stage::{Stage, condition, manifest, server, with};
