//! `cargo xtask ci`: everything that must pass before a change lands.

use anyhow::{Context, Result};
use tests_fixture::Peers;

use crate::shell::{Stopwatch, cargo, run as run_command, say};
use crate::{crds, deny, patch_schema, setup, test, tidy};

pub(crate) async fn run() -> Result<()> {
    let watch = Stopwatch::start();
    say("setup");
    setup::prepare(thv_testbed::Tier::Full, None)?;
    Peers::install(&say)?;
    deny::install()?;
    say("formatting");
    run_command(cargo().args(["fmt", "--all", "--check"])).context("`cargo fmt --all` mends this")?;
    say("clippy");
    let clippy = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"];
    run_command(cargo().args(clippy))?;
    say("deny");
    deny::check()?;
    say("tidy");
    tidy::run()?;
    say("crds");
    crds::check()?;
    crds::parity_if_possible()?;
    say("patch schema");
    patch_schema::check()?;
    test::run(&test::Arguments::everything()).await?;
    say(&format!("all checks passed in {}", watch.seconds()));
    Ok(())
}
