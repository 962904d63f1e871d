//! How often Redis is asked.

use std::sync::Arc;

use anyhow::Result;
use thv_session::{Key, Swap, Unavailable};

use crate::support::{LEASE, Site, back, created, jump, record, with_sid};

#[tokio::test]
async fn under_lease_redis_is_not_asked() -> Result<()> {
    let site = Site::start().await?;
    let (a, b) = (site.replica()?, site.replica()?);
    back(&a).await?;
    back(&b).await?;
    let key = created(&a, "x").await?.key;
    assert!(b.find(key).await?.is_some());
    let before = site.all_commands().await?;
    for _ in 0..1000 {
        // Who wrote it, and who read it.
        assert!(a.find(key).await?.is_some() && b.find(key).await?.is_some());
        assert_eq!(a.ready_for_writes().await, Ok(()));
    }
    assert_eq!(site.all_commands().await?, before);
    jump(LEASE).await;
    for _ in 0..1000 {
        assert!(a.find(key).await?.is_some());
    }
    assert_eq!(site.all_commands().await?, before + 1);
    Ok(())
}

#[tokio::test]
async fn many_who_ask_at_once_ask_once() -> Result<()> {
    let site = Site::start().await?;
    let sessions = Arc::new(site.replica()?);
    back(&sessions).await?;
    let key = created(&sessions, "x").await?.key;
    for known in [key, Key::of("nobody")] {
        jump(LEASE).await;
        let before = site.all_commands().await?;
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let sessions = sessions.clone();
                tokio::spawn(async move { sessions.find(known).await })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await??.is_some(), known == key);
        }
        assert_eq!(site.all_commands().await?, before + 1);
    }
    Ok(())
}

#[tokio::test]
async fn each_operation_is_one_round_trip() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    back(&sessions).await?;
    let commands = ["set", "getex", "eval", "del"];
    let [set, getex, eval, del] = site.count(commands).await?;
    let seen = created(&sessions, "x").await?;
    assert_eq!(site.count(commands).await?, [set + 1, getex, eval, del]);
    sessions.reread(seen.key).await?;
    assert_eq!(site.count(commands).await?, [set + 1, getex + 1, eval, del]);
    assert!(matches!(sessions.swap(&seen, with_sid(&seen, "1")).await?, Swap::Swapped(_)));
    // Redis also counts what the script does.
    assert_eq!(site.count(commands).await?, [set + 2, getex + 1, eval + 1, del]);
    sessions.remove(seen.key).await?;
    assert_eq!(site.count(commands).await?, [set + 2, getex + 1, eval + 1, del + 1]);
    Ok(())
}

#[tokio::test]
async fn our_own_writes_are_seen_at_once() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    let seen = created(&sessions, "x").await?;
    let Swap::Swapped(new) = sessions.swap(&seen, with_sid(&seen, "1")).await? else {
        panic!("nobody else is there")
    };
    assert_eq!(sessions.find(seen.key).await?, Some(new.clone()));
    // Whoever loses knows better afterwards.
    assert_eq!(sessions.swap(&seen, with_sid(&seen, "2")).await?, Swap::Lost(Some(new.clone())));
    let before = site.all_commands().await?;
    assert_eq!(sessions.find(seen.key).await?, Some(new));
    assert_eq!(site.all_commands().await?, before);
    sessions.remove(seen.key).await?;
    assert_eq!(sessions.find(seen.key).await?, None);
    Ok(())
}

#[tokio::test]
async fn a_request_that_is_given_up_disturbs_nobody() -> Result<()> {
    let site = Site::start().await?;
    let sessions = Arc::new(site.replica()?);
    let seen = created(&sessions, "x").await?;
    for round in 0..50 {
        jump(LEASE).await;
        let finds: Vec<_> = (0..10)
            .map(|_| {
                let (sessions, key) = (sessions.clone(), seen.key);
                tokio::spawn(async move { sessions.find(key).await })
            })
            .collect();
        tokio::task::yield_now().await;
        for (n, find) in finds.into_iter().enumerate() {
            if (n + round) % 3 == 0 {
                find.abort();
            } else {
                assert!(find.await??.is_some());
            }
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_a_replica_does_at_once_its_leases_agree_with_redis() -> Result<()> {
    let site = Site::start().await?;
    let (sessions, other) = (Arc::new(site.replica()?), site.replica()?);
    let key = Key::of("x");
    for round in 0..200 {
        let tasks: Vec<_> = (0..12)
            .map(|n| {
                let sessions = sessions.clone();
                tokio::spawn(async move {
                    match (n + round) % 6 {
                        0 => drop(sessions.create(record("x")).await?),
                        1 => sessions.remove(key).await?,
                        2 | 3 => {
                            let Some(seen) = sessions.find(key).await? else { return Ok(()) };
                            drop(sessions.swap(&seen, with_sid(&seen, &format!("{round}/{n}"))).await?);
                        }
                        4 => drop(sessions.reread(key).await?),
                        _ => drop(sessions.find(key).await?),
                    }
                    Ok::<_, Unavailable>(())
                })
            })
            .collect();
        for (n, task) in tasks.into_iter().enumerate() {
            // Some who only read give up.
            if (n + round) % 6 == 5 && round % 2 == 0 {
                task.abort();
            } else {
                task.await??;
            }
        }
        assert_eq!(sessions.find(key).await?, other.reread(key).await?, "round {round}");
    }
    Ok(())
}
