//! `cargo xtask cluster`: a Kubernetes for a person.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command as Program, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Node;
use kube::{Api, ResourceExt};
use rustix::process::{Pid, Signal, kill_process};
use thv_testbed::{Assets, Cluster, Description, Image, Leftovers, Owner, client_for, import, keeper};
use tokio::signal::unix::{SignalKind, signal};

use crate::setup;
use crate::shell::{Stopwatch, say};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Starts a cluster and leaves it running
    Up(Up),
    /// Stops it, and leaves nothing behind
    Down,
    /// Tells whether it runs, and how to reach it
    Status,
    /// Makes a container image from local files and gives it to the node
    ///
    /// For example, a program with the libraries it needs:
    ///   cargo xtask cluster load-image echo --binary target/debug/thv-echo
    /// or a Python server with its packages:
    ///   cargo xtask cluster load-image weather --binary /usr/bin/python3 --tree /usr/lib/python3.11 \
    ///     --tree ./weather:/app --entrypoint "/usr/bin/python3 /app/server.py"
    #[command(verbatim_doc_comment)]
    LoadImage(LoadImage),
    /// The process that `up` leaves behind
    #[command(hide = true)]
    Keep(Up),
}

#[derive(clap::Args)]
pub(crate) struct Up {
    /// How much of a cluster
    #[arg(long, value_enum, default_value = "full")]
    tier: crate::Tier,
    #[command(flatten)]
    assets: crate::Assets,
}

#[derive(clap::Args)]
pub(crate) struct LoadImage {
    /// The name of the image; `localhost/` and `:latest` are added if they are missing
    name: String,
    /// A program to put in, and optionally where; else it goes to /usr/local/bin. Can be repeated
    #[arg(long, value_name = "FILE[:PATH]")]
    binary: Vec<String>,
    /// A folder to put in, and optionally where; else it goes where it is here. Can be repeated
    #[arg(long, value_name = "FOLDER[:PATH]")]
    tree: Vec<String>,
    /// What runs, split at spaces; else the first program
    #[arg(long)]
    entrypoint: Option<String>,
    /// An environment variable. Can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The id of the user that it runs as
    #[arg(long, default_value_t = 65_532)]
    user: u32,
    /// The folder that it starts in
    #[arg(long, default_value = "/")]
    folder: String,
}

pub(crate) async fn run(command: Command) -> Result<()> {
    match command {
        Command::Up(up) => start(&up).await,
        Command::Down => stop().await,
        Command::Status => status().await,
        Command::LoadImage(load) => load_image(&load).await,
        Command::Keep(up) => keep(&up).await,
    }
}

async fn start(up: &Up) -> Result<()> {
    let folder = Owner::Person.folder()?;
    if keeper(&folder).is_some() {
        bail!("a cluster is running already: `cargo xtask cluster status` tells more, `… down` stops it");
    }
    setup::prepare(up.tier.into(), up.assets.assets.as_deref())?;
    // The description of a cluster that crashed would pass for that of the new one.
    for leftover in Leftovers::remove().await?.0 {
        say(&format!("removed {leftover}"));
    }
    let watch = Stopwatch::start();
    fs::create_dir_all(&folder)?;
    let log = folder.with_extension("log");
    let out = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    // A session of its own, so that it outlives this terminal.
    let mut command = Program::new("setsid");
    command.arg(std::env::current_exe()?).args(["cluster", "keep"]).args(std::env::args_os().skip(3));
    command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
    let mut child = command.spawn().context("cannot run setsid")?;

    let mut shown = 0;
    loop {
        let text = fs::read_to_string(&log).unwrap_or_default();
        print!("{}", text.get(shown..).unwrap_or_default());
        shown = text.len();
        if let Some(status) = child.try_wait()? {
            bail!("the cluster did not start ({status})");
        }
        if Description::file_in(&folder).exists() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    say(&format!("ready after {}", watch.seconds()));
    println!("export KUBECONFIG={}", folder.join("kubeconfig").display());
    Ok(())
}

/// Keeps a cluster until told to stop, or until one of its parts dies.
async fn keep(up: &Up) -> Result<()> {
    let mut terminated = signal(SignalKind::terminate())?;
    let assets = Assets::find(up.tier.into(), up.assets.assets.as_deref())?;
    let mut cluster = Cluster::start(up.tier.into(), assets, Owner::Person, &say).await?;
    tokio::select! {
        _ = terminated.recv() => cluster.stop().await,
        death = cluster.failed() => bail!("{death}"),
    }
}

async fn stop() -> Result<()> {
    let folder = Owner::Person.folder()?;
    if let Some(id) = keeper(&folder) {
        say("stopping the cluster");
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).context("not a process id")?;
        kill_process(pid, Signal::TERM).with_context(|| format!("cannot stop process {id}"))?;
        if !ended(&folder).await {
            say("it does not stop, so it is killed");
            kill_process(pid, Signal::KILL).with_context(|| format!("cannot kill process {id}"))?;
            ended(&folder).await;
        }
    } else {
        println!("no cluster is running");
    }
    for leftover in Leftovers::remove().await?.0 {
        println!("removed {leftover}");
    }
    match fs::remove_file(folder.with_extension("log")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

async fn ended(folder: &std::path::Path) -> bool {
    for _ in 0..600 {
        if keeper(folder).is_none() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

async fn status() -> Result<()> {
    let Some((id, description)) = running()? else {
        println!("no cluster is running; `cargo xtask cluster up` starts one");
        return Ok(());
    };
    println!("tier    {:?}", description.tier);
    println!("server  {}", description.server);
    println!("process {id}");
    println!("logs    {}", description.folder.display());
    let client = client_for(&description.kubeconfig).await?;
    let nodes = Api::<Node>::all(client).list(&kube::api::ListParams::default()).await;
    for node in nodes.context("the API server does not answer")?.items {
        let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
        let ready = conditions.into_iter().flatten().find(|condition| condition.type_ == "Ready");
        println!("node    {} ready: {}", node.name_any(), ready.map_or("Unknown", |ready| &ready.status));
    }
    println!("export KUBECONFIG={}", description.kubeconfig.display());
    Ok(())
}

async fn load_image(load: &LoadImage) -> Result<()> {
    let Some((_, description)) = running()? else {
        bail!("no cluster is running; `cargo xtask cluster up` starts one");
    };
    let Some(socket) = description.containerd else {
        bail!("this cluster runs no pods; `cargo xtask cluster up --tier full` starts one that does");
    };
    let mut image = Image::new(&load.name).user(load.user).folder(&load.folder);
    let mut first = None;
    for binary in &load.binary {
        let (file, path) = split(binary);
        let name = file.file_name().with_context(|| format!("{binary:?} names no file"))?.to_string_lossy();
        let path = path.unwrap_or_else(|| format!("/usr/local/bin/{name}"));
        image = image.binary(&file, &path)?;
        first.get_or_insert(path);
    }
    for tree in &load.tree {
        let (folder, path) = split(tree);
        let folder = folder.canonicalize().with_context(|| format!("cannot read {}", folder.display()))?;
        let path = path.unwrap_or_else(|| folder.display().to_string());
        image = image.tree(&folder, &path)?;
    }
    for pair in &load.env {
        let (name, value) = pair.split_once('=').with_context(|| format!("{pair:?} is not NAME=VALUE"))?;
        image = image.env(name, value);
    }
    image = match (&load.entrypoint, first) {
        (Some(words), _) => image.entrypoint(words.split_whitespace()),
        (None, Some(program)) => image.entrypoint([program]),
        (None, None) => bail!("nothing would run: name an --entrypoint or a --binary"),
    };
    import(&socket, &image).await?;
    println!("{}", image.name());
    Ok(())
}

/// `FILE:PATH`, or just `FILE`.
fn split(text: &str) -> (PathBuf, Option<String>) {
    match text.split_once(':') {
        Some((file, path)) => (file.into(), Some(path.to_owned())),
        None => (text.into(), None),
    }
}

fn running() -> Result<Option<(u32, Description)>> {
    let folder = Owner::Person.folder()?;
    let Some(id) = keeper(&folder) else { return Ok(None) };
    let file = Description::file_in(&folder);
    let description = Description::read(&file).context("the cluster is still starting")?;
    Ok(Some((id, description)))
}
