//! What stands in Redis, and for how long.

use anyhow::Result;
use thv_session::{Created, Key, Sessions, Unavailable};

use crate::support::{LEASE, Site, TTL, back, created, jump, name, options, record, with_sid};

#[tokio::test]
async fn a_record_lives_for_its_time_and_one_lease_from_the_last_question() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    let whole = (TTL + LEASE).as_secs();
    let near = |seconds: u64| (whole - 5..=whole).contains(&seconds);
    let seen = created(&sessions, "x").await?;
    assert!(near(site.ask(&["TTL", &name("x")]).await?));
    assert_eq!(sessions.lease(), LEASE);

    let () = site.ask(&["EXPIRE", &name("x"), "100"]).await?;
    sessions.find(seen.key).await?;
    assert!(!near(site.ask(&["TTL", &name("x")]).await?), "it is under lease, nobody should have asked");
    jump(LEASE).await;
    sessions.find(seen.key).await?;
    assert!(near(site.ask(&["TTL", &name("x")]).await?));

    let () = site.ask(&["EXPIRE", &name("x"), "100"]).await?;
    sessions.swap(&seen, with_sid(&seen, "1")).await?;
    assert!(near(site.ask(&["TTL", &name("x")]).await?));

    // Who loses a swap has read the record.
    let () = site.ask(&["EXPIRE", &name("x"), "100"]).await?;
    sessions.swap(&seen, with_sid(&seen, "2")).await?;
    assert!(near(site.ask(&["TTL", &name("x")]).await?));
    Ok(())
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_not_absent_and_not_overwritten() -> Result<()> {
    let site = Site::start().await?;
    let sessions = site.replica()?;
    let seen = created(&sessions, "x").await?;
    for broken in ["", "tell-nobody", "{}", r#"{"id":"another"}"#] {
        let () = site.ask(&["SET", &name("x"), broken]).await?;
        jump(LEASE).await;
        for result in [sessions.find(seen.key).await, sessions.reread(seen.key).await] {
            let error = result.expect_err(broken);
            assert!(matches!(error, Unavailable::Malformed(_)), "{error}");
            assert!(!error.to_string().contains("tell-nobody"), "{error}");
        }
        assert_eq!(sessions.create(record("x")).await?, Created::Exists);
        let swap = sessions.swap(&seen, with_sid(&seen, "1")).await;
        assert!(matches!(swap, Err(Unavailable::Malformed(_))), "{swap:?}");
        assert_eq!(site.ask::<String>(&["GET", &name("x")]).await?, broken);
    }
    let () = site.ask(&["DEL", &name("x")]).await?;
    let () = site.ask(&["LPUSH", &name("x"), "1"]).await?;
    assert!(matches!(sessions.find(seen.key).await, Err(Unavailable::Malformed(_))));
    assert_eq!(site.ask::<u64>(&["LLEN", &name("x")]).await?, 1);
    // Others are not affected.
    assert!(sessions.available());
    assert_eq!(sessions.find(Key::of("y")).await?, None);
    Ok(())
}

#[tokio::test]
async fn s2_16_the_password_opens_redis_and_a_wrong_one_says_nothing_of_itself() -> Result<()> {
    let redis = thv_testbed::Redis::start(Some("open-sesame")).await?;
    let right = Sessions::in_redis(options(&redis.address(), Some("open-sesame")), TTL)?;
    back(&right).await?;
    created(&right, "x").await?;
    for wrong in [None, Some("tell-nobody")] {
        let sessions = Sessions::in_redis(options(&redis.address(), wrong), TTL)?;
        let error = sessions.find(Key::of("x")).await.expect_err("it is locked");
        assert_eq!(error, Unavailable::Down);
        assert!(sessions.ready_for_writes().await.is_err() && !sessions.available());
        assert!(!format!("{sessions:?} {error:?}").contains("tell-nobody"));
    }
    Ok(())
}
