//! The operator program.

use std::process::ExitCode;

use thv_operator::{Registry, program};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    program::main(Registry::all()).await
}
