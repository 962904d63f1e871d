//! Redis that is away, comes back, or is there and of no use.

use std::net::{Ipv4Addr, TcpListener as Listener};
use std::time::Duration;

use anyhow::Result;
use thv_session::{Key, Sessions, Unavailable};
use tokio::net::TcpListener;
use tokio::time::{Instant, pause, resume};

use crate::support::{LEASE, Site, Successor, back, created, gone, jump, record, replica, with_sid};

/// All that needs Redis fails, and at once.
async fn fails_fast(sessions: &Sessions) -> Result<()> {
    let started = Instant::now();
    for _ in 0..100 {
        assert_eq!(sessions.find(Key::of("unknown")).await, Err(Unavailable::Down));
        assert_eq!(sessions.ready_for_writes().await, Err(Unavailable::Down));
        assert_eq!(sessions.create(record("new")).await, Err(Unavailable::Down));
        assert_eq!(sessions.remove(Key::of("unknown")).await, Err(Unavailable::Down));
    }
    assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
    Ok(())
}

#[tokio::test]
async fn without_redis_leases_are_served_and_all_else_fails_fast_until_it_is_back() -> Result<()> {
    let site = Site::start().await?;
    let (address, sessions) = (site.redis.address(), site.replica()?);
    let held = created(&sessions, "held").await?;
    site.redis.kill().await?;
    gone(&sessions).await?;

    fails_fast(&sessions).await?;
    assert_eq!(sessions.find(held.key).await?, Some(held.clone()));
    assert_eq!(sessions.reread(held.key).await, Err(Unavailable::Down));
    assert_eq!(sessions.find(held.key).await?, Some(held.clone()), "a reread that failed proves nothing");
    assert_eq!(sessions.swap(&held, with_sid(&held, "1")).await, Err(Unavailable::Down));
    jump(LEASE).await;
    assert_eq!(sessions.find(held.key).await, Err(Unavailable::Down));

    let _successor = Successor::start(&address).await?;
    back(&sessions).await?;
    assert_eq!(sessions.find(held.key).await?, None, "the new Redis is empty");
    created(&sessions, "new").await?;
    assert_eq!(sessions.ready_for_writes().await, Ok(()));
    Ok(())
}

#[tokio::test]
async fn redis_may_come_later_than_we_do() -> Result<()> {
    let address = format!("127.0.0.1:{}", thv_testbed::free_port()?);
    let sessions = replica(&address, None)?;
    assert_eq!(sessions.find(Key::of("x")).await, Err(Unavailable::Down));
    fails_fast(&sessions).await?;
    let _redis = Successor::start(&address).await?;
    back(&sessions).await?;
    created(&sessions, "x").await?;
    Ok(())
}

#[tokio::test]
async fn the_first_request_waits_for_the_first_connection() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    assert!(!sessions.available());
    created(&sessions, "x").await?;
    assert!(sessions.available());
    Ok(())
}

#[tokio::test]
async fn a_connection_that_was_closed_is_replaced_before_anybody_notices() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    let key = created(&sessions, "x").await?.key;
    jump(LEASE).await;
    let _: u64 = site.ask(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).await?;
    assert!(sessions.find(key).await?.is_some());
    Ok(())
}

#[tokio::test]
async fn one_who_accepts_and_says_nothing_keeps_a_request_for_a_second_at_most() -> Result<()> {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let sessions = replica(&silent.local_addr()?.to_string(), None)?;
    // Nothing will ever arrive, and so time can run as fast as it likes.
    pause();
    let started = Instant::now();
    assert_eq!(sessions.find(Key::of("x")).await, Err(Unavailable::Down));
    assert!(started.elapsed() <= Duration::from_millis(1100), "{:?}", started.elapsed());
    // By then it is known.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let started = Instant::now();
    assert_eq!(sessions.find(Key::of("x")).await, Err(Unavailable::Down));
    assert!(started.elapsed() <= Duration::from_millis(1), "{:?}", started.elapsed());
    Ok(())
}

#[tokio::test]
async fn a_redis_that_falls_silent_costs_one_wait_of_three_seconds() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    let held = created(&sessions, "held").await?;
    // To read is to renew, and so counts as writing; who pauses everything cannot say when to go on.
    let () = site.ask(&["CLIENT", "PAUSE", "600000", "WRITE"]).await?;
    pause();
    let started = Instant::now();
    assert_eq!(sessions.find(Key::of("x")).await, Err(Unavailable::Down));
    let waited = started.elapsed();
    assert!((Duration::from_secs(3)..Duration::from_millis(3100)).contains(&waited), "{waited:?}");
    let started = Instant::now();
    assert_eq!(sessions.find(Key::of("x")).await, Err(Unavailable::Down));
    assert_eq!(sessions.find(held.key).await?, Some(held));
    assert!(started.elapsed() <= Duration::from_millis(1), "{:?}", started.elapsed());
    resume();
    let () = site.ask(&["CLIENT", "UNPAUSE"]).await?;
    back(&sessions).await?;
    assert_eq!(sessions.find(Key::of("x")).await?, None);
    Ok(())
}

#[tokio::test]
async fn a_redis_that_may_only_be_read_is_of_no_use_until_it_may_be_written() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    back(&sessions).await?;
    // Something that is not a Redis: the replica stays one, and never gets a copy.
    let nobody = Listener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = nobody.local_addr()?.port().to_string();
    let () = site.ask(&["REPLICAOF", "127.0.0.1", &port]).await?;
    let refused = Err(Unavailable::Refused("READONLY".into()));
    assert_eq!(sessions.find(Key::of("x")).await, refused);
    gone(&sessions).await?;
    assert!(sessions.ready_for_writes().await.is_err());
    let () = site.ask(&["REPLICAOF", "NO", "ONE"]).await?;
    back(&sessions).await?;
    created(&sessions, "x").await?;
    Ok(())
}

#[tokio::test]
async fn the_connection_ends_with_the_sessions() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    back(&sessions).await?;
    let clients =
        async || Ok::<_, anyhow::Error>(site.ask::<String>(&["CLIENT", "LIST"]).await?.lines().count());
    assert_eq!(clients().await?, 2);
    drop(sessions);
    for _ in 0..1000 {
        if clients().await? == 1 {
            return Ok(());
        }
    }
    panic!("somebody is still connected")
}
