//! The connection to Redis, and what happens without one.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::io::tcp::socket2::{SockRef, TcpKeepalive};
use redis::{AsyncConnectionConfig, Cmd, ErrorKind, RedisConnectionInfo, RedisError, Value};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tracing::{info, warn};

use crate::error::{Malformed, Unavailable};
use crate::options::RedisOptions;
use crate::task::Task;

/// To connect, log in and be answered once.
const DIAL: Duration = Duration::from_secs(5);
/// For one answer.
const ANSWER: Duration = Duration::from_secs(3);
/// How long a request waits for a connection that is just being made.
const PATIENCE: Duration = Duration::from_secs(1);
/// A connection that lived this long was a good one.
const GOOD: Duration = Duration::from_secs(1);
/// Between attempts to connect: from the first to the second, and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// An idle connection is looked after this often, four times in vain at most.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// One connection for all requests. When it is lost, one task seeks another, and requests do not wait for it: they
/// fail at once, except in the short moment in which nobody knows yet whether Redis is still there.
#[derive(Debug)]
pub(crate) struct Link {
    state: Arc<watch::Sender<State>>,
    _keeper: Task,
}

#[derive(Clone, Debug)]
enum State {
    /// The first attempt, or the first after a loss, is under way.
    Connecting,
    Up {
        connection: MultiplexedConnection,
        number: u64,
    },
    /// An attempt has failed, and the next ones are being made.
    Down,
}

/// Whether a command may be sent again when the connection broke and nobody knows whether it was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    Once,
    Never,
}

impl Link {
    /// Redis need not be there yet.
    pub(crate) fn new(options: &RedisOptions) -> Self {
        let RedisOptions { address, db, password, prefix } = options;
        let mut login = RedisConnectionInfo::default().set_db(i64::from(*db));
        if let Some(password) = password {
            login = login.set_password(password.reveal());
        }
        let state = Arc::new(watch::Sender::new(State::Connecting));
        // Reads a key that is never there. Unlike a PING this fails with a Redis that is too old for us, that may
        // only be read from, or in which we may not touch our keys.
        let mut probe = redis::cmd("GETEX");
        probe.arg(format!("{prefix}probe")).arg("EX").arg(1);
        let keeper = Keeper { address: address.clone(), login, probe, state: state.clone() };
        Self { state, _keeper: Task::start(keeper.run()) }
    }

    pub(crate) fn is_up(&self) -> bool {
        matches!(*self.state.borrow(), State::Up { .. })
    }

    /// Waits until it is known whether there is a connection.
    pub(crate) async fn ready(&self) -> Result<(), Unavailable> {
        self.connection().await.map(|_| ())
    }

    /// Sends a command and waits for its answer.
    pub(crate) async fn send(&self, command: &Cmd, repeat: Repeat) -> Result<Value, Unavailable> {
        match self.attempt(command).await {
            Err((Some(Loss::Closed), _)) if repeat == Repeat::Once => self.attempt(command).await,
            answer => answer,
        }
        .map_err(|(_, error)| error)
    }

    async fn attempt(&self, command: &Cmd) -> Result<Value, (Option<Loss>, Unavailable)> {
        let (mut connection, number) = self.connection().await.map_err(|error| (None, error))?;
        command.query_async(&mut connection).await.map_err(|error| {
            let (loss, error) = judge(&error);
            if let Some(loss) = loss {
                lose(&self.state, number, loss);
            }
            (loss, error)
        })
    }

    async fn connection(&self) -> Result<(MultiplexedConnection, u64), Unavailable> {
        let mut state = self.state.borrow().clone();
        if matches!(state, State::Connecting) {
            let mut changes = self.state.subscribe();
            let known = timeout(PATIENCE, changes.wait_for(|state| !matches!(state, State::Connecting)));
            if let Ok(Ok(known)) = known.await {
                state = known.clone();
            }
        }
        match state {
            State::Up { connection, number } => Ok((connection, number)),
            State::Connecting | State::Down => Err(Unavailable::Down),
        }
    }
}

/// How a connection was lost.
#[derive(Clone, Copy, Debug)]
enum Loss {
    /// It was closed. Chances are that another can be had at once.
    Closed,
    /// It is there and of no use: nobody answers, or one who may not or cannot do what we want.
    Useless,
}

/// Unless that connection is history already.
fn lose(state: &watch::Sender<State>, lost: u64, how: Loss) {
    state.send_if_modified(|state| {
        let is_it = matches!(state, State::Up { number, .. } if *number == lost);
        if is_it {
            *state = match how {
                Loss::Closed => State::Connecting,
                Loss::Useless => State::Down,
            };
        }
        is_it
    });
}

/// What an error says about the connection, and what it means for the request.
fn judge(error: &RedisError) -> (Option<Loss>, Unavailable) {
    match (error.kind(), error.code()) {
        (ErrorKind::Io, _) if error.is_timeout() => (Some(Loss::Useless), Unavailable::Down),
        (ErrorKind::Io | ErrorKind::Parse, _) => (Some(Loss::Closed), Unavailable::Down),
        (_, Some("WRONGTYPE")) => (None, Malformed("it is not a string".into()).into()),
        // Behind the same address there may be a better one.
        (_, Some(code @ ("READONLY" | "LOADING" | "MASTERDOWN" | "NOAUTH"))) => {
            (Some(Loss::Useless), Unavailable::Refused(code.into()))
        }
        // The whole text could quote the command, and with it a session.
        (_, code) => (None, Unavailable::Refused(code.unwrap_or("an error without a code").into())),
    }
}

type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Whoever sees to it that there is a connection.
struct Keeper {
    address: String,
    login: RedisConnectionInfo,
    probe: Cmd,
    state: Arc<watch::Sender<State>>,
}

impl Keeper {
    async fn run(self) {
        let (mut number, mut setbacks, mut told) = (0, 0, None);
        loop {
            match timeout(DIAL, self.connect()).await.unwrap_or_else(|_| Err(no_answer())) {
                Ok((connection, driver)) => {
                    number += 1;
                    let since = Instant::now();
                    self.state.send_replace(State::Up { connection, number });
                    if told.take().is_some() {
                        info!(address = self.address, "the session store is back");
                    }
                    self.drive(driver, number).await;
                    setbacks = if since.elapsed() < GOOD { setbacks + 1 } else { 0 };
                }
                Err(error) => {
                    setbacks += 1;
                    self.state.send_replace(State::Down);
                    let why = error.to_string();
                    if told.as_ref() != Some(&why) {
                        warn!(
                            address = self.address,
                            why, "the session store cannot be used; trying again and again"
                        );
                        told = Some(why);
                    }
                }
            }
            let pause = pause(setbacks);
            if !pause.is_zero() {
                self.state.send_replace(State::Down);
                sleep(pause).await;
            }
        }
    }

    async fn connect(&self) -> Result<(MultiplexedConnection, Driver), RedisError> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE).with_retries(4);
        SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(ANSWER));
        let (mut connection, driver) =
            MultiplexedConnection::new_with_config(&self.login, stream, config).await?;
        let mut driver: Driver = Box::pin(driver);
        tokio::select! {
            answer = self.probe.query_async::<Value>(&mut connection) => answer?,
            () = &mut driver => return Err(io::Error::from(io::ErrorKind::ConnectionReset).into()),
        };
        Ok((connection, driver))
    }

    /// Until the connection ends by itself, or somebody finds it useless.
    async fn drive(&self, driver: Driver, number: u64) {
        let mut changes = self.state.subscribe();
        tokio::select! {
            () = driver => lose(&self.state, number, Loss::Closed),
            _ = changes.wait_for(|state| !matches!(state, State::Up { .. })) => {}
        }
    }
}

fn no_answer() -> RedisError {
    io::Error::from(io::ErrorKind::TimedOut).into()
}

/// Before the next attempt. After one setback the next attempt is made at once: most losses are restarts, and of
/// those most are over.
fn pause(setbacks: u32) -> Duration {
    let (first, longest) = PAUSE;
    match setbacks.checked_sub(2) {
        None => Duration::ZERO,
        Some(doublings) => first.saturating_mul(2_u32.saturating_pow(doublings)).min(longest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_to_connect_become_rarer_and_never_stop() {
        let pauses: Vec<_> = (0..9).map(|setbacks| pause(setbacks).as_millis()).collect();
        assert_eq!(pauses, [0, 0, 100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(pause(u32::MAX), PAUSE.1);
    }
}
