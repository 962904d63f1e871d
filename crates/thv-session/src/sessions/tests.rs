//! Sessions in memory, with a clock that is moved by hand.

use jiff::Timestamp;
use proptest::prelude::*;
use tokio::time::advance;

use super::*;
use crate::record::{Kind, Metadata};

const TTL: Duration = Duration::from_hours(2);

fn record(id: &str) -> Record {
    Record::new(Key::of(id), Kind::Mcp, Timestamp::UNIX_EPOCH, Metadata::default())
}

fn with_sid(record: &Record, sid: &str) -> Record {
    let mut record = record.clone();
    record.metadata.backend_sid = Some(sid.to_owned());
    record
}

async fn created(sessions: &Sessions, id: &str) -> Arc<Record> {
    match sessions.create(record(id)).await.unwrap() {
        Created::Created(record) => record,
        Created::Exists => panic!("there is one"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_found_until_it_is_removed() {
    let sessions = Sessions::in_memory(TTL);
    let record = created(&sessions, "a").await;
    assert_eq!(sessions.find(record.key).await, Ok(Some(record.clone())));
    assert_eq!(sessions.reread(record.key).await, Ok(Some(record.clone())));
    assert_eq!(sessions.find(Key::of("b")).await, Ok(None));
    sessions.remove(record.key).await.unwrap();
    sessions.remove(record.key).await.unwrap();
    assert_eq!(sessions.find(record.key).await, Ok(None));
    assert!(sessions.is_empty() && sessions.available());
    assert_eq!(sessions.ready_for_writes().await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_session_lives_as_long_as_it_is_used() {
    let sessions = Sessions::in_memory(TTL);
    let key = created(&sessions, "a").await.key;
    for _ in 0..10 {
        advance(Duration::from_secs(7199)).await;
        assert!(sessions.find(key).await.unwrap().is_some());
    }
    advance(TTL).await;
    assert_eq!(sessions.find(key).await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn what_nobody_asks_for_is_swept_away() {
    let sessions = Sessions::in_memory(TTL);
    for n in 0..100 {
        created(&sessions, &n.to_string()).await;
    }
    assert_eq!(sessions.len(), 100);
    // Time for the sweeper, and not a request in sight.
    tokio::time::sleep(TTL + sessions.lease()).await;
    assert_eq!(sessions.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_key_is_taken_once_and_free_again_when_its_session_is_over() {
    let sessions = Sessions::in_memory(TTL);
    let first = created(&sessions, "a").await;
    let second = with_sid(&record("a"), "other");
    assert_eq!(sessions.create(second.clone()).await, Ok(Created::Exists));
    assert_eq!(sessions.find(first.key).await, Ok(Some(first)));
    advance(TTL).await;
    assert!(matches!(sessions.create(second).await, Ok(Created::Created(_))));
}

#[tokio::test(start_paused = true)]
async fn a_change_is_made_only_to_what_was_seen() {
    let sessions = Sessions::in_memory(TTL);
    let seen = created(&sessions, "a").await;
    let Swap::Swapped(winner) = sessions.swap(&seen, with_sid(&seen, "1")).await.unwrap() else {
        panic!("nobody else is there")
    };
    assert_eq!(sessions.swap(&seen, with_sid(&seen, "2")).await, Ok(Swap::Lost(Some(winner.clone()))));
    assert_eq!(sessions.find(seen.key).await, Ok(Some(winner.clone())));
    sessions.remove(seen.key).await.unwrap();
    assert_eq!(sessions.swap(&winner, with_sid(&seen, "3")).await, Ok(Swap::Lost(None)));
}

#[tokio::test(start_paused = true)]
async fn a_long_initialize_is_not_kept() {
    let sessions = Sessions::in_memory(TTL);
    for (length, kept) in [(INIT_BODY_LIMIT, true), (INIT_BODY_LIMIT + 1, false)] {
        let mut record = record(&length.to_string());
        record.metadata.init_body = Some("x".repeat(length));
        let Created::Created(stored) = sessions.create(record).await.unwrap() else { panic!("there is one") };
        assert_eq!(stored.metadata.init_body.is_some(), kept);
    }
}

#[tokio::test]
async fn a_hundred_thousand_sessions_leave_nothing_behind() {
    let sessions = Sessions::in_memory(TTL);
    let mut keys = Vec::new();
    for n in 0..100_000 {
        keys.push(created(&sessions, &n.to_string()).await.key);
    }
    for key in &keys {
        assert!(sessions.find(*key).await.unwrap().is_some());
    }
    let Place::Memory(memory) = &sessions.place else { panic!("it is in memory") };
    assert!(memory.capacity() >= 100_000);
    for key in keys {
        sessions.remove(key).await.unwrap();
    }
    assert_eq!((memory.len(), memory.capacity() <= 2048), (0, true));
}

#[tokio::test]
async fn the_sweeper_ends_with_the_sessions() {
    let sessions = Sessions::in_memory(TTL);
    let Place::Memory(memory) = &sessions.place else { panic!("it is in memory") };
    let memory = Arc::downgrade(memory);
    drop(sessions);
    while memory.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_lease_is_a_quarter_of_the_time_to_live_and_half_a_minute_at_most() {
    let seconds = Duration::from_secs;
    assert_eq!(times(seconds(7200)), (seconds(7200), seconds(30)));
    assert_eq!(times(seconds(60)), (seconds(60), seconds(15)));
    assert_eq!(times(Duration::ZERO), (seconds(1), Duration::from_millis(250)));
    assert_eq!(times(Duration::MAX).1, seconds(30));
}

/// What a test may do with one of three sessions.
#[derive(Clone, Debug)]
enum Step {
    Find,
    Create,
    /// From what this one saw last.
    Swap(u8),
    Remove,
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        Just(Step::Find),
        Just(Step::Create),
        any::<u8>().prop_map(Step::Swap),
        Just(Step::Remove),
        (0..10_000_u64).prop_map(Step::Wait),
    ];
    prop::collection::vec((0..3_usize, step), 0..60)
}

proptest! {
    /// Against a model that is three options and three times.
    #[test]
    fn memory_does_what_a_plain_model_does(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let sessions = Sessions::in_memory(TTL);
            let mut model: [Option<(Record, Instant)>; 3] = [None, None, None];
            let mut seen: [Option<Arc<Record>>; 3] = [None, None, None];
            for (which, step) in steps {
                let key = Key::of(&which.to_string());
                let now = Instant::now();
                model[which].take_if(|(_, used)| now - *used >= TTL);
                match step {
                    Step::Find => {
                        let found = sessions.find(key).await.unwrap();
                        assert_eq!(found.as_deref(), model[which].as_ref().map(|(record, _)| record));
                        if let Some((_, used)) = &mut model[which] {
                            *used = now;
                        }
                        seen[which] = found;
                    }
                    Step::Create => {
                        let record = record(&which.to_string());
                        let created = sessions.create(record.clone()).await.unwrap();
                        assert_eq!(created == Created::Exists, model[which].is_some());
                        model[which].get_or_insert((record, now));
                    }
                    Step::Swap(sid) => {
                        let Some(seen) = &seen[which] else { continue };
                        let new = with_sid(seen, &sid.to_string());
                        let swap = sessions.swap(seen, new.clone()).await.unwrap();
                        let expected = match &mut model[which] {
                            None => Swap::Lost(None),
                            Some((record, used)) => {
                                *used = now;
                                if *record == **seen {
                                    *record = new;
                                    Swap::Swapped(Arc::new(record.clone()))
                                } else {
                                    Swap::Lost(Some(Arc::new(record.clone())))
                                }
                            }
                        };
                        assert_eq!(swap, expected);
                    }
                    Step::Remove => {
                        sessions.remove(key).await.unwrap();
                        model[which] = None;
                    }
                    Step::Wait(seconds) => advance(Duration::from_secs(seconds)).await,
                }
            }
        });
    }
}
