//! Who may lay down what, and who waits for whom.

use jiff::Timestamp;
use tokio::sync::oneshot;
use tokio::time::advance;

use super::*;
use crate::record::{Kind, Metadata};

const LENGTH: Duration = Duration::from_secs(30);

fn record(sid: &str) -> Arc<Record> {
    let metadata = Metadata { backend_sid: Some(sid.to_owned()), ..Metadata::default() };
    Arc::new(Record::new(key(), Kind::Mcp, Timestamp::UNIX_EPOCH, metadata))
}

fn key() -> Key {
    Key::of("a")
}

fn leases() -> Leases {
    Leases::new(LENGTH, 1 << 20)
}

fn is_clean(leases: &Leases) -> bool {
    let state = leases.state();
    state.leases.len() == 0 && state.claims.len() == 0 && state.weight == 0
}

#[tokio::test(start_paused = true)]
async fn a_lease_runs_from_before_the_question() {
    let leases = leases();
    let slow = async {
        advance(Duration::from_secs(2)).await;
        Ok(Some(record("1")))
    };
    assert_eq!(leases.join(key()).through(slow).await, Ok(Some(record("1"))));
    advance(Duration::from_secs(27)).await;
    assert_eq!(leases.fresh(key()), Some(record("1")));
    advance(Duration::from_secs(1)).await;
    assert_eq!(leases.fresh(key()), None);
    leases.sweep();
    assert!(is_clean(&leases));
}

#[tokio::test(start_paused = true)]
async fn who_asks_at_the_same_time_waits_for_one_answer() {
    let leases = leases();
    let (answer, waiting) = oneshot::channel();
    let first = leases.join(key()).through(async { waiting.await.unwrap() });
    let second = leases.join(key()).through(async { panic!("one question is enough") });
    let third = async {
        answer.send(Ok(Some(record("1")))).unwrap();
    };
    let (first, second, ()) = tokio::join!(first, second, third);
    assert_eq!((first, second), (Ok(Some(record("1"))), Ok(Some(record("1")))));
    assert_eq!(leases.state().claims.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn when_the_one_who_asks_gives_up_another_asks() {
    let leases = leases();
    let mut first = Box::pin(leases.join(key()).through(std::future::pending()));
    assert!(poll_once(&mut first).await.is_none());
    let mut second = Box::pin(leases.join(key()).through(async { Ok(None) }));
    assert!(poll_once(&mut second).await.is_none());
    drop(first);
    assert_eq!(second.await, Ok(None));
    assert!(is_clean(&leases));
}

#[tokio::test(start_paused = true)]
async fn when_all_give_up_nothing_is_left() {
    let leases = leases();
    let mut both: Vec<_> =
        (0..2).map(|_| Box::pin(leases.join(key()).through(std::future::pending()))).collect();
    for one in &mut both {
        assert!(poll_once(one).await.is_none());
    }
    assert_eq!(leases.state().claims.len(), 1);
    drop(both);
    assert!(is_clean(&leases));
    // Not even when nobody began.
    drop(leases.join(key()));
    drop(leases.write(key()));
    assert!(is_clean(&leases));
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_a_write_is_not_laid_down() {
    let leases = leases();
    let reading = leases.join(key());
    let writing = leases.write(key());
    writing.done(Instant::now(), Some(&record("new")));
    assert_eq!(reading.through(async { Ok(Some(record("old"))) }).await, Ok(Some(record("old"))));
    assert_eq!(leases.fresh(key()), Some(record("new")));
}

#[tokio::test(start_paused = true)]
async fn a_read_that_overlaps_a_write_leaves_no_lease() {
    let leases = leases();
    let writing = leases.write(key());
    // It is answered with the old record, and before the write is.
    leases.join(key()).through(async { Ok(Some(record("old"))) }).await.unwrap();
    // Another is still under way.
    let reading = leases.join(key());
    writing.done(Instant::now(), Some(&record("new")));
    reading.through(async { Ok(Some(record("old"))) }).await.unwrap();
    assert!(is_clean(&leases));
}

#[tokio::test(start_paused = true)]
async fn answers_to_two_writes_may_come_in_any_order() {
    let leases = leases();
    let swap = leases.write(key());
    let removal = leases.write(key());
    removal.done(Instant::now(), None);
    swap.done(Instant::now(), Some(&record("gone since")));
    assert!(is_clean(&leases));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_given_up_ends_the_lease() {
    let leases = leases();
    leases.write(key()).done(Instant::now(), Some(&record("1")));
    let writing = leases.write(key());
    leases.join(key()).through(async { Ok(Some(record("1"))) }).await.unwrap();
    assert!(leases.fresh(key()).is_some());
    drop(writing);
    assert!(is_clean(&leases));
}

#[tokio::test(start_paused = true)]
async fn a_reread_does_not_wait_for_an_older_question() {
    let leases = leases();
    let older = leases.join(key());
    let newer = leases.read(key());
    assert_eq!(newer.through(async { Ok(None) }).await, Ok(None));
    older.through(async { Ok(Some(record("gone since"))) }).await.unwrap();
    assert!(is_clean(&leases));
}

#[tokio::test(start_paused = true)]
async fn a_failed_read_is_not_remembered_and_ends_no_lease() {
    let leases = leases();
    leases.write(key()).done(Instant::now(), Some(&record("1")));
    assert_eq!(leases.read(key()).through(async { Err(Unavailable::Down) }).await, Err(Unavailable::Down));
    assert_eq!(leases.fresh(key()), Some(record("1")));
    assert_eq!(leases.state().claims.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_not_kept() {
    let leases = Leases::new(LENGTH, 2 * record("1").weight());
    let named = |name: &str| {
        let mut record = Record::clone(&record("1"));
        record.key = Key::of(name);
        Arc::new(record)
    };
    for name in ["a", "b", "c"] {
        leases.write(Key::of(name)).done(Instant::now(), Some(&named(name)));
    }
    assert_eq!((leases.len(), leases.fresh(Key::of("c"))), (2, None));
    // Renewing one that is there needs no more room.
    leases.write(Key::of("a")).done(Instant::now(), Some(&named("a")));
    assert!(leases.fresh(Key::of("a")).is_some());
    advance(LENGTH).await;
    leases.sweep();
    leases.write(Key::of("c")).done(Instant::now(), Some(&named("c")));
    assert!(leases.fresh(Key::of("c")).is_some());
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_leases_leave_nothing_behind() {
    let leases = Leases::new(LENGTH, usize::MAX);
    for n in 0..100_000 {
        let mut record = Record::clone(&record("1"));
        record.key = Key::of(&n.to_string());
        let (key, record) = (record.key, Arc::new(record));
        leases.join(key).through(async { Ok(Some(record)) }).await.unwrap();
        if n % 2 == 0 {
            leases.write(key).done(Instant::now(), None);
        }
    }
    assert_eq!(leases.len(), 50_000);
    advance(LENGTH).await;
    leases.sweep();
    assert!(is_clean(&leases));
    let state = leases.state();
    assert!(state.leases.capacity() <= 2048 && state.claims.capacity() <= 2048);
}

/// Polls once.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}
