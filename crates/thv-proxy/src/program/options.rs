//! The command line.
//!
//! It is that of the reference, whose operator passes flags that its own proxy does not know; such flags are
//! reported and otherwise ignored.

use std::ffi::OsString;

use clap::{Args, CommandFactory, Parser, Subcommand};

/// Stands in front of one MCP server and brings it up.
///
/// What to run is in the first of `/etc/runconfig/runconfig.json`, `/etc/toolhive/runconfig.json` and
/// `./runconfig.json` that exists.
#[derive(Clone, Debug, Parser)]
#[command(name = "thv-proxyrunner", version)]
pub struct Options {
    /// Log more; the environment variable `TOOLHIVE_DEBUG` does the same
    #[arg(long, global = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    pub debug: Option<bool>,

    /// What to do
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Run the proxy until it is told to stop
    Run(Run),
}

/// How to run the proxy.
#[derive(Clone, Debug, Args)]
pub struct Run {
    /// Patch for the pod template of the MCP server, in JSON; stronger than that in the configuration
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub k8s_pod_patch: Option<String>,

    /// Image of the MCP server; stronger than that in the configuration. Any text for a remote server
    pub image: String,

    /// Ignored: the arguments of the MCP server are in the configuration
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<String>,
}

/// A command line, and the flags in it that nobody knows.
#[derive(Debug)]
pub struct CommandLine {
    /// What was understood.
    pub options: Options,
    /// What was not. Names only, since values may be credentials.
    pub ignored: Vec<String>,
}

impl CommandLine {
    /// Reads a command line, the program's name first.
    pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let (known, ignored) = set_unknown_flags_aside(words);
        Ok(Self { options: Options::try_parse_from(known)?, ignored })
    }

    /// What there is to say about the command line to whoever asks.
    pub fn help() -> String {
        Options::command().render_long_help().to_string()
    }
}

/// Takes the flags out that are not ours. What follows such a flag, is no flag and no part of it, is its value, as the
/// reference has it; after `--` nothing is a flag.
fn set_unknown_flags_aside(words: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Vec<String>) {
    let (mut known, mut ignored) = (Vec::new(), Vec::new());
    let mut words = words.into_iter().peekable();
    known.extend(words.next());
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        if text == "--" {
            known.push(word);
            known.extend(words);
            break;
        }
        if !text.starts_with('-') || is_ours(&text) {
            let takes_next = text == "--k8s-pod-patch";
            known.push(word);
            known.extend(takes_next.then(|| words.next()).flatten());
            continue;
        }
        let name = text.split('=').next().unwrap_or_default().to_owned();
        if !text.contains('=') {
            words.next_if(|next| !next.to_string_lossy().starts_with('-'));
        }
        ignored.push(name);
    }
    (known, ignored)
}

fn is_ours(flag: &str) -> bool {
    let name = flag.split('=').next().unwrap_or_default();
    ["--debug", "--k8s-pod-patch", "--help", "-h", "--version", "-V"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> CommandLine {
        let words = ["thv-proxyrunner"].iter().chain(words).map(OsString::from);
        CommandLine::read(words).unwrap()
    }

    fn run(words: &[&str]) -> Run {
        match read(words).options.command {
            Some(Command::Run(run)) => run,
            None => panic!("no command in {words:?}"),
        }
    }

    #[test]
    fn the_operators_invocations_are_understood() {
        let server = run(&["run", r#"--k8s-pod-patch={"spec":{}}"#, "registry/image:1"]);
        assert_eq!(server.k8s_pod_patch.as_deref(), Some(r#"{"spec":{}}"#));
        assert_eq!(server.image, "registry/image:1");

        let remote = read(&["run", "--foreground=true", "placeholder-for-remote-proxy"]);
        assert_eq!(remote.ignored, ["--foreground"]);
        assert!(
            matches!(remote.options.command, Some(Command::Run(run)) if run.image == "placeholder-for-remote-proxy")
        );
    }

    #[test]
    fn a_flag_that_nobody_knows_takes_its_value_along() {
        let line = read(&["run", "--transport", "stdio", "--verbose", "--x=1", "image"]);
        assert_eq!(line.ignored, ["--transport", "--verbose", "--x"]);
        assert!(matches!(line.options.command, Some(Command::Run(run)) if run.image == "image"));
    }

    #[test]
    fn what_follows_the_image_is_ignored() {
        assert_eq!(run(&["run", "image", "more", "--", "--k8s-pod-patch=x"]).k8s_pod_patch, None);
    }

    #[test]
    fn the_patch_may_be_a_word_of_its_own_and_begin_with_a_hyphen() {
        assert_eq!(run(&["run", "--k8s-pod-patch", "-x", "image"]).k8s_pod_patch.as_deref(), Some("-x"));
    }

    #[test]
    fn debug_is_understood_everywhere_and_with_a_value() {
        assert_eq!(read(&["--debug", "run", "image"]).options.debug, Some(true));
        assert_eq!(read(&["run", "--debug=false", "image"]).options.debug, Some(false));
        assert_eq!(read(&["run", "image"]).options.debug, None);
    }

    #[test]
    fn a_missing_image_is_an_error_and_a_missing_command_is_a_question() {
        let words = ["thv-proxyrunner", "run"].map(OsString::from);
        let error = CommandLine::read(words).unwrap_err().to_string();
        assert!(error.contains("<IMAGE>"), "{error}");
        assert!(read(&[]).options.command.is_none());
        assert!(CommandLine::help().contains("runconfig.json"));
    }
}
