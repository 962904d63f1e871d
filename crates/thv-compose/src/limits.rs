//! How much there may be of everything. The first ones are ToolHive's.

use std::time::Duration;

/// Steps of a workflow.
pub const MAX_STEPS: usize = 100;
/// Items that a `forEach` may handle at once, at most.
pub const MAX_PARALLEL: i64 = 50;
/// Items that a `forEach` handles at once when nothing is said.
pub const DEFAULT_PARALLEL: usize = 10;
/// Items that a `forEach` may handle, at most.
pub const MAX_ITERATIONS: i64 = 1000;
/// Items that a `forEach` handles when nothing is said.
pub const DEFAULT_ITERATIONS: usize = 100;
/// Further attempts after a failure. More than these are not made.
pub const MAX_RETRIES: u32 = 10;
/// How long to wait before the first further attempt when nothing is said.
pub const DEFAULT_RETRY_DELAY: Duration = Duration::from_secs(1);
/// How long a workflow may take when nothing is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(30);
/// How long a step may take when nothing is said.
pub const DEFAULT_STEP_TIMEOUT: Duration = Duration::from_mins(5);
/// How long the user has for an answer, at most.
pub const MAX_ELICITATION_TIMEOUT: Duration = Duration::from_mins(10);
/// Levels of a schema for the user's answer.
pub const MAX_ELICITATION_SCHEMA_DEPTH: usize = 10;
/// Bytes of a schema for the user's answer.
pub const MAX_ELICITATION_SCHEMA_BYTES: usize = 100 * 1024;
/// Levels of output properties.
pub const MAX_OUTPUT_DEPTH: usize = 10;
/// Levels of any other JSON: arguments, parameters, defaults.
pub const MAX_DEPTH: usize = 100;

/// Bytes of the identifier of a step.
pub const MAX_ID: usize = 256;
/// Characters of the name of a tool that every client takes.
pub const MAX_PORTABLE_NAME: usize = 64;
/// Bytes of a template.
pub const MAX_TEMPLATE_BYTES: usize = 64 * 1024;
/// Tokens of all templates of a workflow. Parsed, each takes some two hundred bytes.
pub const MAX_TOKENS: usize = 50_000;
/// Blocks and parentheses around each other in a template. Parsing and rendering them takes stack.
pub const MAX_NESTING: usize = 32;
/// Things that are told about a workflow. The others are counted.
pub const MAX_FINDINGS: usize = 100;
