//! A Redis, several replicas on it, and a look behind them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, Value};
use thv_session::{Created, Key, Kind, Metadata, Password, Record, RedisOptions, Sessions};
use thv_testbed::Redis;
use tokio::process::{Child, Command};
use tokio::time::{advance, pause, resume, sleep};

pub(crate) const TTL: Duration = Duration::from_hours(2);
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// Everything a test needs.
pub(crate) struct Site {
    pub(crate) redis: Redis,
    behind: MultiplexedConnection,
}

impl Site {
    pub(crate) async fn start() -> Result<Self> {
        let redis = Redis::start(None).await?;
        let behind = connect(&redis.address()).await?;
        Ok(Self { redis, behind })
    }

    /// A replica of the server `web`.
    pub(crate) fn replica(&self) -> Result<Sessions> {
        replica(&self.redis.address(), None)
    }

    /// Asks Redis behind everybody's back.
    pub(crate) async fn ask<T: FromRedisValue>(&self, words: &[&str]) -> Result<T> {
        ask(&self.behind, words).await
    }

    /// How often Redis was given each of these commands.
    pub(crate) async fn count<const N: usize>(&self, commands: [&str; N]) -> Result<[u64; N]> {
        let stats: String = self.ask(&["INFO", "commandstats"]).await?;
        Ok(commands.map(|command| {
            let start = format!("cmdstat_{command}:calls=");
            let line = stats.lines().find_map(|line| line.strip_prefix(&start));
            line.and_then(|line| line.split(',').next()?.parse().ok()).unwrap_or(0)
        }))
    }

    /// How often Redis was given any command, but for the one that counts.
    pub(crate) async fn all_commands(&self) -> Result<u64> {
        let stats: String = self.ask(&["INFO", "commandstats"]).await?;
        let lines = stats.lines().filter(|line| line.starts_with("cmdstat_") && !line.contains("_info:"));
        Ok(lines.filter_map(|line| line.split(['=', ',']).nth(1)?.parse::<u64>().ok()).sum())
    }
}

pub(crate) async fn connect(address: &str) -> Result<MultiplexedConnection> {
    let client = redis::Client::open(format!("redis://{address}/"))?;
    Ok(client.get_multiplexed_async_connection().await?)
}

pub(crate) async fn ask<T: FromRedisValue>(connection: &MultiplexedConnection, words: &[&str]) -> Result<T> {
    let (name, arguments) = words.split_first().context("a command has a name")?;
    let mut command = redis::cmd(name);
    for argument in arguments {
        command.arg(argument);
    }
    command.query_async(&mut connection.clone()).await.with_context(|| format!("{words:?}"))
}

pub(crate) fn options(address: &str, password: Option<&str>) -> RedisOptions {
    let password = password.map(|password| Password::from(password.to_owned()));
    RedisOptions {
        address: address.to_owned(),
        db: 0,
        password,
        prefix: "thv:proxy:session:ns:web:".to_owned(),
    }
}

pub(crate) fn replica(address: &str, password: Option<&str>) -> Result<Sessions> {
    Ok(Sessions::in_redis(options(address, password), TTL)?)
}

/// Under which name Redis keeps the session.
pub(crate) fn name(id: &str) -> String {
    format!("thv:proxy:session:ns:web:{}", Key::of(id).as_str())
}

pub(crate) fn record(id: &str) -> Record {
    let metadata = Metadata {
        backend_url: Some("http://mcp-web:8080".to_owned()),
        init_body: Some(r#"{"method":"initialize"}"#.to_owned()),
        ..Metadata::default()
    };
    Record::new(Key::of(id), Kind::Mcp, Timestamp::UNIX_EPOCH, metadata)
}

pub(crate) fn with_sid(record: &Record, sid: &str) -> Record {
    let mut record = record.clone();
    record.metadata.backend_sid = Some(sid.to_owned());
    record
}

pub(crate) async fn created(sessions: &Sessions, id: &str) -> Result<Arc<Record>> {
    match sessions.create(record(id)).await? {
        Created::Created(record) => Ok(record),
        Created::Exists => bail!("there is a session {id:?}"),
    }
}

/// Lets time pass for us, but not for Redis. Nothing may be on its way.
pub(crate) async fn jump(time: Duration) {
    pause();
    advance(time).await;
    resume();
}

/// Waits until Redis can be used.
pub(crate) async fn back(sessions: &Sessions) -> Result<()> {
    for _ in 0..1000 {
        if sessions.available() {
            return Ok(());
        }
        sleep(Duration::from_millis(10)).await;
    }
    bail!("Redis is not found again")
}

/// Waits until it is noticed that Redis cannot be used.
pub(crate) async fn gone(sessions: &Sessions) -> Result<()> {
    for _ in 0..1000 {
        if !sessions.available() {
            return Ok(());
        }
        sleep(Duration::from_millis(10)).await;
    }
    bail!("nobody notices that Redis is gone")
}

/// A Redis where another one was. Dropping it kills it.
pub(crate) struct Successor(Child);

impl Successor {
    pub(crate) async fn start(address: &str) -> Result<Self> {
        let (_, port) = address.rsplit_once(':').context("an address has a port")?;
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--", "redis-server", "--bind", "127.0.0.1", "--port", port]);
        command.args(["--save", "", "--appendonly", "no"]);
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).kill_on_drop(true);
        let mut successor = Self(command.spawn()?);
        for _ in 0..1000 {
            if let Some(status) = successor.0.try_wait()? {
                bail!("Redis ended: {status}");
            }
            if let Ok(connection) = connect(address).await
                && matches!(ask(&connection, &["PING"]).await, Ok(Value::SimpleString(_)))
            {
                return Ok(successor);
            }
            sleep(Duration::from_millis(10)).await;
        }
        bail!("Redis does not answer")
    }
}
