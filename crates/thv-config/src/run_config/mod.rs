//! What a proxy in front of one MCP server runs by.

mod document;
mod problem;
mod read;
mod rules;
mod write;

pub use document::{IgnoreConfig, RunConfig, RuntimeConfig};
pub use problem::{Invalid, Problem, ProblemKind};
pub use read::ParseError;
pub use write::WriteError;
