//! The operator program, with two kinds more.

use std::process::ExitCode;

use tests_kinds::{DepotSpec, MemoSpec};
use thv_operator::{Registry, program};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    program::main(Registry::all().planned::<MemoSpec>().planned::<DepotSpec>()).await
}
