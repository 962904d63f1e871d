//! The instances of a backend, and which of them serves what.

use std::sync::Arc;
use std::time::Duration;

use thv_workload::{Instance, Instances};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::pool::{Patience, Place, Pool};
use super::tally::Tally;

/// An instance and the connections to it.
pub(super) struct Member {
    pool: Arc<Pool>,
    ready: bool,
    terminating: bool,
}

impl Member {
    const fn takes_work(&self) -> bool {
        self.ready && !self.terminating
    }
}

type Roster = Arc<[Member]>;

/// By what the best instance is found.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) enum Load {
    /// Of a session that is to last: the fewest sessions that this replica started.
    Sessions,
    /// Of a request on its own: the fewest answers under way.
    Requests,
}

/// What a new fleet is told about times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    pub patience: Patience,
    /// How long requests to an instance that vanished may still be answered.
    pub farewell: Duration,
    /// How long a session lives without being used.
    pub ttl: Duration,
}

/// The instances of a backend.
pub(in crate::http) struct Fleet {
    roster: watch::Receiver<Roster>,
    /// Ends with the fleet.
    _keeper: JoinSet<()>,
}

impl Fleet {
    pub(super) fn new(mut instances: watch::Receiver<Instances>, habits: Habits) -> Self {
        let first = muster(&[], &instances.borrow_and_update(), habits);
        let (post, roster) = watch::channel(first);
        let mut keeper = JoinSet::new();
        keeper.spawn(async move {
            let mut farewells = JoinSet::new();
            let mut sweep = tokio::time::interval(habits.patience.idle.max(Duration::from_millis(100)));
            // When nobody watches the pods any more, what was seen last is what there is.
            let mut watched = true;
            loop {
                tokio::select! {
                    changed = instances.changed(), if watched => {
                        watched = changed.is_ok();
                        let before = Arc::clone(&post.borrow());
                        let after = muster(&before, &instances.borrow_and_update(), habits);
                        for gone in before.iter().filter(|member| find(&after, member.pool.name()).is_none()) {
                            see_off(&mut farewells, Arc::clone(&gone.pool), habits.farewell);
                        }
                        post.send_replace(after);
                    }
                    _ = sweep.tick() => post.borrow().iter().for_each(|member| member.pool.sweep()),
                    () = post.closed() => break,
                }
            }
        });
        Self { roster, _keeper: keeper }
    }

    /// The instance with that name, as long as it exists.
    pub(in crate::http) fn named(&self, name: &str) -> Option<Arc<Pool>> {
        find(&self.roster.borrow(), name).cloned()
    }

    /// How many instances take work.
    pub(in crate::http) fn ready(&self) -> usize {
        self.roster.borrow().iter().filter(|member| member.takes_work()).count()
    }

    /// The least loaded instance that takes work, other than those in `except`.
    pub(in crate::http) fn best(&self, load: Load, except: &[Arc<Pool>]) -> Option<Arc<Pool>> {
        let roster = self.roster.borrow();
        let candidates = roster.iter().filter(|member| {
            member.takes_work() && !except.iter().any(|other| Arc::ptr_eq(other, &member.pool))
        });
        let best = match load {
            Load::Sessions => {
                candidates.min_by_key(|member| (member.pool.sessions.count(), member.pool.busy()))
            }
            Load::Requests => candidates.min_by_key(|member| (0, member.pool.busy())),
        };
        best.map(|member| Arc::clone(&member.pool))
    }

    /// Waits until the instances are not what they were, or for `pause`.
    pub(in crate::http) async fn changed(&self, pause: Instant) {
        let mut roster = self.roster.clone();
        roster.mark_unchanged();
        // Without a change the time is up, and without a sender nothing changes any more.
        if let Ok(Err(_)) = timeout_at(pause, roster.changed()).await {
            tokio::time::sleep_until(pause).await;
        }
    }
}

fn find<'a>(roster: &'a [Member], name: &str) -> Option<&'a Arc<Pool>> {
    roster.iter().map(|member| &member.pool).find(|pool| **pool.name() == *name)
}

/// The roster for these instances. Those that were there before keep their connections.
fn muster(before: &[Member], instances: &[Instance], habits: Habits) -> Roster {
    instances
        .iter()
        .map(|instance| {
            let name = instance.key();
            let pool = find(before, &name).cloned().unwrap_or_else(|| {
                let place = Place::Pod(instance.address);
                Pool::new(name, place, habits.patience, Tally::new(habits.ttl))
            });
            Member { pool, ready: instance.ready, terminating: instance.terminating }
        })
        .collect()
}

/// Lets an instance that vanished finish what it can, and then fails the rest.
fn see_off(farewells: &mut JoinSet<()>, pool: Arc<Pool>, patience: Duration) {
    while farewells.try_join_next().is_some() {}
    farewells.spawn(async move {
        sleep(patience).await;
        pool.end();
    });
}
