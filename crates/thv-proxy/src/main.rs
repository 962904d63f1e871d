//! The program `thv-proxyrunner`.

use std::process::ExitCode;

use thv_proxy::program::environment::Environment;
use thv_proxy::program::options::{Command, CommandLine};
use thv_proxy::program::run;
use tracing::level_filters::LevelFilter;

/// As many threads as there are processors for this process, and no more than this: a proxy that needs more is better
/// off with a second replica.
const MOST_THREADS: usize = 4;

fn main() -> ExitCode {
    let environment = Environment::read(std::env::vars());
    let line = CommandLine::read(std::env::args_os()).unwrap_or_else(|error| error.exit());
    let Some(Command::Run(options)) = line.options.command else {
        print!("{}", CommandLine::help());
        return ExitCode::SUCCESS;
    };
    let debug = line.options.debug.unwrap_or(environment.debug);
    let level = if debug { LevelFilter::DEBUG } else { LevelFilter::INFO };
    tracing_subscriber::fmt().json().with_max_level(level).with_writer(std::io::stderr).init();
    for flag in line.ignored {
        tracing::warn!(flag, "a flag that nobody knows is ignored");
    }
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run(&options, &environment)),
        Err(error) => Err(anyhow::Error::new(error).context("cannot start threads")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "the proxy cannot run");
            ExitCode::FAILURE
        }
    }
}
