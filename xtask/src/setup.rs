//! `cargo xtask setup`: makes a fresh Debian machine ready.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tests_fixture::Peers;
use thv_testbed::{Assets, KUBERNETES, Program, Tier, missing_packages};

use crate::deny;
use crate::shell::{Stopwatch, output, root, run as run_command, say};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Stop after what this tier of tests needs
    #[arg(long, value_enum)]
    tier: Option<crate::Tier>,
    #[command(flatten)]
    assets: crate::Assets,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let tier = arguments.tier.map_or(Tier::Full, Tier::from);
    prepare(tier, arguments.assets.assets.as_deref())?;
    if arguments.tier.is_none() {
        Peers::install(&say)?;
        deny::install()?;
    }
    say("this machine is ready");
    Ok(())
}

/// What `tier` needs, without a word when everything is there.
pub(crate) fn prepare(tier: Tier, folder: Option<&Path>) -> Result<()> {
    install_packages(tier)?;
    let (_, missing) = Assets::search(tier, folder)?;
    for (number, program) in missing.iter().enumerate() {
        build(program, &format!("{} of {}", number + 1, missing.len()))?;
    }
    // Says so if the programs that were found do not fit together.
    Assets::find(tier, folder).map(drop)
}

fn install_packages(tier: Tier) -> Result<()> {
    let missing: Vec<_> = missing_packages(tier).iter().map(|package| package.name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let command = format!("apt-get install --no-install-recommends {}", missing.join(" "));
    if !rustix::process::getuid().is_root() {
        bail!("some Debian packages are missing; as root, run:\n  {command}");
    }
    say(&format!("installing Debian packages: {}", missing.join(" ")));
    run_command(Command::new("apt-get").args(["update", "--quiet"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(&missing);
    // The test bed starts its own servers; those of the packages need not run.
    install.env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
    run_command(&mut install).context("if a package is not found, this machine is not Debian 12")
}

/// Builds one program into the cache.
fn build(program: &Program, position: &str) -> Result<()> {
    let target = program.cached()?;
    let folder = target.parent().context("the cache has no folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let module = root().join("tools").join(program.module);
    let total = output(go(&module).args(["list", "-deps", program.package]))
        .context("cannot list what is to be built; is Go 1.26 or newer installed?")?
        .lines()
        .count();

    say(&format!("building {} {} ({position}), {total} packages", program.name, program.version));
    let watch = Stopwatch::start();
    let unfinished = target.with_extension("unfinished");
    let mut command = go(&module);
    command.args(["build", "-v", "-trimpath", "-ldflags", &linker_flags(program), "-o"]);
    command.arg(&unfinished).arg(program.package);
    show_progress(&mut command, total, &watch)?;
    fs::rename(&unfinished, &target)?;
    say(&format!("built {} in {}", program.name, watch.seconds()));
    Ok(())
}

/// `go build -v` prints a line for each package that is not in Go's own cache.
fn show_progress(command: &mut Command, total: usize, watch: &Stopwatch) -> Result<()> {
    let mut child = command.stderr(Stdio::piped()).spawn().context("cannot run go")?;
    let lines = BufReader::new(child.stderr.take().context("go has no output")?).lines();
    let (mut compiled, mut shown, mut last) = (0, Duration::ZERO, String::new());
    for line in lines {
        last = line?;
        compiled += 1;
        if watch.elapsed() >= shown + Duration::from_secs(10) {
            shown = watch.elapsed();
            println!("    {compiled} of at most {total} packages compiled after {}", watch.seconds());
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("go build failed ({status}): {last}");
    }
    Ok(())
}

fn go(module: &Path) -> Command {
    let mut command = Command::new("go");
    command.current_dir(module).env("CGO_ENABLED", "0");
    command
}

/// Kubernetes takes its own version from the linker; without it, the parts refuse to work together.
fn linker_flags(program: &Program) -> String {
    let mut numbers = KUBERNETES.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let variables = [("gitVersion", program.version), ("gitMajor", major), ("gitMinor", minor)];
    let variables = variables.map(|(name, value)| format!("-X k8s.io/component-base/version.{name}={value}"));
    format!("-s -w {}", variables.join(" "))
}
