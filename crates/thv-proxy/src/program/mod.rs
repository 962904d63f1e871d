//! The program `thv-proxyrunner`: from a command line, an environment and a file to a proxy that runs.

pub mod config_file;
mod diagnostics;
pub mod env_files;
pub mod environment;
pub mod generation;
pub mod middlewares;
mod observing;
pub mod options;
mod run;
pub mod start;
pub mod support;

pub use run::run;
