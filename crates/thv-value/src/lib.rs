//! Small values that resources and configurations share: durations in Go's notation, and enums of strings.
//!
//! This crate is pure, and the lowest of all.

mod duration;
#[cfg(feature = "schema")]
mod schema;
mod string_enum;

pub use duration::{DurationError, GoDuration};
