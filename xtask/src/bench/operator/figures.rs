//! What runs have shown, with targets.

use std::time::Duration;

use super::baseline::Baseline;
use super::fleet::Fleet;
use super::run::Report;
use crate::bench::table::Table;

/// The operator may take this much longer than a bare client.
const RATIO: f64 = 1.2;

/// How much resident memory the operator may have, in MiB: 45 with 1,000 servers, and 130 with 5,000.
fn memory_target(servers: f64) -> f64 {
    const EMPTY: f64 = 23.75;
    const PER_SERVER: f64 = 0.02125;
    EMPTY + PER_SERVER * servers
}

/// The same with the mixed fleet.
const MIXED_MEMORY: f64 = 90.0;

#[expect(clippy::cast_precision_loss, reason = "nothing that is counted here comes near 2^52")]
pub(super) fn table(fleet: Fleet, window: Duration, baseline: &Baseline, report: &Report) -> Table {
    let count = fleet.servers as f64;
    let Report { convergence, phases, moments: [empty, full, rest, end], stirs } = report;
    let (here, there) = (convergence, &baseline.convergence);
    let per_server = |number: u64| number as f64 / count;
    let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
    let millis = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1_000.0 / count);
    let mut table = Table::default();

    table.compare("all servers created after", seconds(there.created), seconds(here.created));
    table.compare("all servers settled after", seconds(there.settled), seconds(here.settled));
    table.compare("the same, for each server", millis(there.settled), millis(here.settled));
    let ratio = here.settled.as_secs_f64() / there.settled.as_secs_f64();
    table.at_most("operator / bare client", ratio, RATIO, 2, "");

    let done = &full.counts;
    table.compare(
        "writes for each server",
        format!("{:.3}", per_server(baseline.writes as u64)),
        format!("{:.3}", per_server(done.all_writes())),
    );
    for (verb, number) in &done.writes {
        let name = format!("of those, {verb}");
        match verb.as_str() {
            "Apply" => {
                table.at_most(&name, per_server(*number), per_server(baseline.applied as u64), 3, "");
            }
            "ApplyStatus" if !fleet.is_mixed() => {
                table.at_most(&name, per_server(*number), per_server(*phases as u64), 3, "");
            }
            _ => table.add(&name, format!("{:.3}", per_server(*number))),
        }
    }
    table.add("writes that were refused", done.refused.to_string());
    table.add("passes for each server", format!("{:.2}", per_server(done.passes)));
    for (error, number) in &done.errors {
        table.add(&format!("passes that failed: {error}"), number.to_string());
    }
    let computed = |one: Duration, other: Duration| millis(other.saturating_sub(one));
    table.add("computed by the operator for each server", computed(empty.computed, full.computed));
    table.compare(
        "computed by the API server for each server",
        millis(there.server_computed),
        millis(here.server_computed),
    );

    let quiet = format!("in {} quiet seconds", window.as_secs());
    let written = end.counts.all_writes() - rest.counts.all_writes();
    table.at_most(&format!("writes {quiet}"), written as f64, 0.0, 0, "");
    table.at_most(&format!("servers seen to change {quiet}"), *stirs as f64, 0.0, 0, "");
    let passes = per_server(end.counts.passes - rest.counts.passes);
    table.at_least(&format!("passes for each server {quiet}"), passes, 1.0, 2, "");
    let share = end.computed.saturating_sub(rest.computed).as_secs_f64() / window.as_secs_f64().max(1.0);
    table.add(&format!("share of a core {quiet}"), format!("{:.1} %", share * 100.0));

    let mebibytes = |kibibytes: u64| kibibytes as f64 / 1024.0;
    let target = if fleet.is_mixed() { MIXED_MEMORY } else { memory_target(count) };
    let shown = |kibibytes: u64| format!("{:.1} MiB", mebibytes(kibibytes));
    table.add("resident memory before the first server", shown(empty.memory.resident));
    table.at_most("resident memory with all servers", mebibytes(full.memory.resident), target, 1, " MiB");
    table.at_most("resident memory at the end", mebibytes(end.memory.resident), target, 1, " MiB");
    table.add("of that, in no file", shown(end.memory.anonymous));
    table.add("peak of resident memory", shown(end.memory.peak));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_target_goes_through_those_that_were_set() {
        let target = |servers| format!("{:.2}", memory_target(servers));
        assert_eq!((target(1_000.0), target(5_000.0)), ("45.00".to_owned(), "130.00".to_owned()));
    }
}
