//! Small values that the kinds share: ports, durations, free-form JSON, enums of strings.

mod port;
mod raw;
mod string_enum;

pub use port::{Port, PortError};
pub use raw::{RawObject, RawValue};
pub use thv_value::{DurationError, GoDuration};

pub(crate) use raw::present;
pub(crate) use string_enum::{MEANINGS, enum_schema, string_enum};
