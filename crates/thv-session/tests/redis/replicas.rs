//! Several replicas, and other programs, on one Redis.

use std::sync::Arc;

use anyhow::Result;
use thv_session::{Created, Key, RedisOptions, Sessions, Swap};

use crate::support::{LEASE, Site, TTL, created, jump, name, options, record, with_sid};

#[tokio::test]
async fn a_session_made_by_one_replica_is_found_by_another() -> Result<()> {
    let site = Site::start().await?;
    let (a, b) = (site.replica()?, site.replica()?);
    let made = created(&a, "x").await?;
    assert_eq!(b.find(made.key).await?, Some(made.clone()));
    let Swap::Swapped(changed) = b.swap(&made, with_sid(&made, "new")).await? else {
        panic!("nobody else is there")
    };
    assert_eq!(a.reread(made.key).await?, Some(changed));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_who_create_a_session_one_succeeds() -> Result<()> {
    let site = Site::start().await?;
    let replicas = [site.replica()?, site.replica()?, site.replica()?, site.replica()?].map(Arc::new);
    for round in 0..20 {
        let id = format!("session {round}");
        let tasks: Vec<_> = (0..16)
            .map(|n: usize| {
                let (sessions, record) = (replicas[n % 4].clone(), with_sid(&record(&id), &n.to_string()));
                tokio::spawn(async move { sessions.create(record).await })
            })
            .collect();
        let mut winners = Vec::new();
        for task in tasks {
            match task.await?? {
                Created::Created(record) => winners.push(record),
                Created::Exists => {}
            }
        }
        assert_eq!(winners.len(), 1);
        for sessions in &replicas {
            assert_eq!(sessions.find(Key::of(&id)).await?.as_ref(), winners.first());
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_who_change_a_session_one_succeeds_and_the_others_see_it() -> Result<()> {
    let site = Site::start().await?;
    let replicas = [site.replica()?, site.replica()?, site.replica()?, site.replica()?].map(Arc::new);
    let mut seen = created(&replicas[0], "x").await?;
    for round in 0..20 {
        let tasks: Vec<_> = (0..16)
            .map(|n: usize| {
                let (sessions, seen) = (replicas[n % 4].clone(), seen.clone());
                let new = with_sid(&seen, &format!("{round}/{n}"));
                tokio::spawn(async move { sessions.swap(&seen, new).await })
            })
            .collect();
        let (mut winners, mut losers) = (Vec::new(), Vec::new());
        for task in tasks {
            match task.await?? {
                Swap::Swapped(record) => winners.push(record),
                Swap::Lost(now) => losers.push(now),
            }
        }
        assert_eq!(winners.len(), 1);
        assert!(losers.iter().all(|now| now.as_ref() == winners.first()));
        for sessions in &replicas {
            assert_eq!(sessions.find(seen.key).await?.as_ref(), winners.first());
        }
        seen = winners.remove(0);
    }
    Ok(())
}

#[tokio::test]
async fn what_toolhive_writes_counts_and_survives() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    let key = Key::of("x");
    // As Go writes it: escapes of its own, an offset, and metadata that we do not know.
    let go = |sid: &str| {
        format!(
            r#"{{"id":"{}","type":"mcp","created_at":"2026-08-21T14:03:01.5+02:00","updated_at":"2026-08-21T14:03:01.5+02:00","data":{{"big":12345678901234567890123}},"metadata":{{"backend_sid":"{sid}","init_body":"\u003c\u0026","vmcp.identity.binding":"z"}}}}"#,
            key.as_str()
        )
    };
    let () = site.ask(&["SET", &name("x"), &go("1"), "EX", "7200"]).await?;
    let seen = sessions.find(key).await?.expect("it is there");
    assert_eq!(seen.metadata.init_body.as_deref(), Some("<&"));

    // The other program writes between our reading and our writing.
    let () = site.ask(&["SET", &name("x"), &go("2"), "EX", "7200"]).await?;
    let Swap::Lost(Some(theirs)) = sessions.swap(&seen, with_sid(&seen, "ours")).await? else {
        panic!("we saw something else")
    };
    assert_eq!(theirs.metadata.backend_sid.as_deref(), Some("2"));
    assert_eq!(site.ask::<String>(&["GET", &name("x")]).await?, go("2"));

    let Swap::Swapped(_) = sessions.swap(&theirs, with_sid(&theirs, "ours")).await? else {
        panic!("that is what there is")
    };
    let stored: serde_json::Value = serde_json::from_str(&site.ask::<String>(&["GET", &name("x")]).await?)?;
    assert_eq!(stored["metadata"]["backend_sid"], "ours");
    assert_eq!(stored["metadata"]["vmcp.identity.binding"], "z");
    assert_eq!(stored["metadata"]["init_body"], "<&");
    assert_eq!(stored["created_at"], "2026-08-21T12:03:01.5Z");
    let text: String = site.ask(&["GET", &name("x")]).await?;
    assert!(text.contains(r#""data":{"big":12345678901234567890123}"#), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_session_that_another_replica_removed_is_gone_at_once_or_within_a_lease() -> Result<()> {
    let site = Site::start().await?;
    let (a, b) = (site.replica()?, site.replica()?);
    for id in ["x", "y"] {
        created(&a, id).await?;
        b.remove(Key::of(id)).await?;
    }
    // Under lease it is still found; whoever has reason to doubt asks again.
    assert!(a.find(Key::of("x")).await?.is_some());
    assert_eq!(a.reread(Key::of("x")).await?, None);
    assert_eq!(a.find(Key::of("x")).await?, None);
    assert!(a.find(Key::of("y")).await?.is_some());
    jump(LEASE).await;
    assert_eq!(a.find(Key::of("y")).await?, None);
    assert_eq!(a.len(), 0);
    Ok(())
}

#[tokio::test]
async fn servers_and_databases_have_their_own_sessions() -> Result<()> {
    let site = Site::start().await?;
    let web = site.replica()?;
    created(&web, "x").await?;
    let address = site.redis.address();
    let other = RedisOptions { prefix: "thv:proxy:session:ns:other:".to_owned(), ..options(&address, None) };
    let elsewhere = RedisOptions { db: 3, ..options(&address, None) };
    for options in [other, elsewhere] {
        let sessions = Sessions::in_redis(options, TTL)?;
        assert_eq!(sessions.find(Key::of("x")).await?, None);
        created(&sessions, "x").await?;
    }
    assert_eq!(site.ask::<u64>(&["DBSIZE"]).await?, 2);
    Ok(())
}
