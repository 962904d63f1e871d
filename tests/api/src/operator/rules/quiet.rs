//! A quiet window: objects of every kind converge and are left alone. Resyncs go on, and nothing is written.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use thv_testbed::{Pattern, Space, Verb, in_namespace};

use super::CASES;
use super::case::{Case, start};
use super::fixed_point::{Still, populate};
use super::world::{name_of, tail, worlds, writes};
use crate::operator::Operator;
use crate::operator::passes::Passes;

/// How often the operator looks at every object again.
const RESYNC_PERIOD: &str = "5s";
/// How long nothing may be written, in every run.
const WINDOW: Duration = Duration::from_secs(30);
/// The same where time does not matter.
const LONG_WINDOW: Duration = Duration::from_mins(10);
/// How often every object is looked at in a window, at the least.
const PASSES: usize = 3;

/// The Secret that passes over one object ask for, and no other passes.
fn heartbeat(name: &str) -> String {
    format!("heartbeat-{name}")
}

/// All objects of a case, each with a Secret of its own to refer to, if it can refer to one.
fn with_heartbeats(case: &Case) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for mut object in case.all()? {
        if let Some(refer_to_secret) = case.refer_to_secret.filter(|_| case.is_of_kind(&object)) {
            let name = heartbeat(&name_of(&object));
            refer_to_secret(&mut object, &name, "beat");
            all.push(json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"beat": "1"},
            }));
        }
        all.push(object);
    }
    Ok(all)
}

async fn rule(space: &Space, window: Duration) -> Result<()> {
    let passes = Passes::new()?;
    let arguments = ["--resync-period", RESYNC_PERIOD, "--metrics-bind-address", &passes.address()];
    let operator = start(space, &CASES, &arguments).await?;
    stay_quiet(space, &operator, passes, window).await.with_context(|| tail(&operator))
}

async fn stay_quiet(space: &Space, operator: &Operator, passes: Passes, window: Duration) -> Result<()> {
    let worlds = worlds(space, &CASES)?;
    populate(&worlds, operator, with_heartbeats).await?;
    let (still, mut counts) = (Still::read(&worlds).await?, Vec::new());
    for case in CASES {
        counts.push(passes.over(case.kind).await?);
    }

    let mark = operator.recorder.mark();
    // It is the time itself that matters: all of it has to pass.
    tokio::time::sleep(window).await;
    let log = operator.recorder.since(mark);

    for (case, count) in CASES.iter().zip(counts) {
        for object in case.of_kind()?.iter().filter(|_| case.refer_to_secret.is_some()) {
            let name = name_of(object);
            let passes = log.only(&Pattern::verb(Verb::Get).of("secrets").named(&heartbeat(&name))).len();
            ensure!(passes >= PASSES, "there were {passes} passes over {name}, and {PASSES} are needed");
        }
        let (done, kind) = (passes.over(case.kind).await? - count, case.kind);
        let needed = u64::try_from(PASSES * case.of_kind()?.len())?;
        ensure!(done >= needed, "there were {done} passes over {kind}, and {needed} are needed");
    }
    let written = writes(operator, mark);
    assert!(written.is_empty(), "{written:#?}");
    still.assert_is_so(&worlds).await
}

#[tokio::test]
async fn g1_nothing_is_written_in_a_quiet_window_with_resyncs() {
    in_namespace(async |space| rule(&space, WINDOW).await).await;
}

#[tokio::test]
#[ignore = "soak: it takes ten minutes"]
async fn soak_nothing_is_written_in_a_long_quiet_window_with_resyncs() {
    in_namespace(async |space| rule(&space, LONG_WINDOW).await).await;
}
