//! Composite tools: workflows whose steps call other tools.
//!
//! [`Workflow::new`] tells everything that is wrong with a definition at once, each with the path of its field. What it
//! returns is what a workflow is executed from: templates are parsed, defaults are filled in, and what each step waits
//! for is known. There is no other way to a [`Workflow`], so whoever has one need not check it again.
//!
//! This crate is pure: what comes out depends on what goes in. Definitions are written by strangers, so everything in
//! them is bounded (see [`limits`]), and nothing in here recurses deeper than those bounds.

mod argument;
mod error_handling;
mod findings;
mod graph;
mod json;
pub mod limits;
mod output;
mod references;
mod schema;
mod step;
mod template;
mod workflow;

pub use argument::Argument;
pub use error_handling::OnError;
pub use findings::{Invalid, Note, Rule};
pub use output::{Output, OutputField, OutputValue};
pub use step::{Action, Elicitation, ForEach, Step, ToolCall};
pub use template::Template;
pub use workflow::Workflow;
