//! Metrics of the operator, each named once.

use std::sync::{Arc, OnceLock};

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::queue::Queue;

/// What was sent to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub enum Sent {
    /// Server-side apply of a child.
    Apply,
    /// The same without effect, to see whether it would be refused.
    DryRun,
    /// The creation of a Secret with random content.
    Create,
    /// Server-side apply of a status.
    ApplyStatus,
    /// A merge patch, for annotations and stored versions.
    MergePatch,
    /// A JSON patch, for finalizers and managed fields.
    JsonPatch,
    /// A replica count that is handed over.
    Scale,
    /// A deletion.
    Delete,
    /// An event that is published, or one more of its kind.
    Event,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WriteLabels {
    verb: Sent,
    ok: Flag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum Flag {
    Yes,
    No,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    kind: &'static str,
    error: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CrdLabel {
    crd: String,
}

/// Everything that the operator counts.
pub struct Metrics {
    registry: Registry,
    writes: Family<WriteLabels, Counter>,
    skipped: Family<KindLabel, Counter>,
    passes: Family<KindLabel, Counter>,
    errors: Family<ErrorLabels, Counter>,
    seconds: Family<KindLabel, Histogram>,
    waiting: Family<KindLabel, Gauge>,
    busy: Family<KindLabel, Gauge>,
    unmanaged: Family<KindLabel, Counter>,
    migrated: Family<CrdLabel, Counter>,
    migration_failures: Family<CrdLabel, Counter>,
    migration_remaining: Family<CrdLabel, Gauge>,
    leading: Gauge,
    queue: OnceLock<Arc<Queue>>,
}

impl Metrics {
    /// All of them, at zero.
    pub fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("toolhive_operator");
        let seconds = Family::new_with_constructor(buckets as fn() -> Histogram);
        let metrics = Self {
            writes: Family::default(),
            skipped: Family::default(),
            passes: Family::default(),
            errors: Family::default(),
            seconds,
            waiting: Family::default(),
            busy: Family::default(),
            unmanaged: Family::default(),
            migrated: Family::default(),
            migration_failures: Family::default(),
            migration_remaining: Family::default(),
            leading: Gauge::default(),
            queue: OnceLock::new(),
            registry: Registry::default(),
        };
        registry.register("writes", "Writes to the API server", metrics.writes.clone());
        registry.register("skipped_writes", "Writes that were not needed", metrics.skipped.clone());
        registry.register("reconciles", "Passes over an object", metrics.passes.clone());
        registry.register("reconcile_errors", "Passes that failed", metrics.errors.clone());
        registry.register("reconcile_seconds", "How long passes take", metrics.seconds.clone());
        registry.register("queue_depth", "Objects that wait for a pass", metrics.waiting.clone());
        registry.register("queue_busy", "Objects that a pass works on", metrics.busy.clone());
        let unmanaged =
            "Objects that are not wanted any more and were left, because no operator has written them";
        registry.register("unmanaged_children", unmanaged, metrics.unmanaged.clone());
        let migrated = "Objects that were stored in a former version of their kind and are not any more";
        registry.register("storage_migrated_objects", migrated, metrics.migrated.clone());
        let failures =
            "Objects that could not be stored in the storage version, and other failures of migrations";
        registry.register("storage_migration_failures", failures, metrics.migration_failures.clone());
        let remaining = "Objects that the storage-version migrator has not settled yet";
        registry.register(
            "storage_migration_remaining_objects",
            remaining,
            metrics.migration_remaining.clone(),
        );
        registry.register("leader", "Whether this replica leads", metrics.leading.clone());
        Arc::new(Self { registry, ..metrics })
    }

    /// A write was sent.
    pub fn wrote(&self, verb: Sent, ok: bool) {
        let ok = if ok { Flag::Yes } else { Flag::No };
        self.writes.get_or_create(&WriteLabels { verb, ok }).inc();
    }

    /// A write was not needed.
    pub fn skipped(&self, kind: &'static str) {
        self.skipped.get_or_create(&KindLabel { kind }).inc();
    }

    /// A pass is over.
    pub fn passed(&self, kind: &'static str, seconds: f64, error: Option<&'static str>) {
        self.passes.get_or_create(&KindLabel { kind }).inc();
        self.seconds.get_or_create(&KindLabel { kind }).observe(seconds);
        if let Some(error) = error {
            self.errors.get_or_create(&ErrorLabels { kind, error }).inc();
        }
    }

    /// An object was left that we would delete if an operator had written it.
    pub fn left_unmanaged(&self, kind: &'static str) {
        self.unmanaged.get_or_create(&KindLabel { kind }).inc();
    }

    /// An object was stored in a former version, and is not any more.
    pub(crate) fn migrated(&self, crd: &str) {
        self.migrated.get_or_create(&CrdLabel { crd: crd.to_owned() }).inc();
    }

    /// So many requests of a migration have failed.
    pub(crate) fn migration_failed(&self, crd: &str, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.migration_failures.get_or_create(&CrdLabel { crd: crd.to_owned() }).inc_by(count);
    }

    /// So many objects are not settled yet.
    pub(crate) fn migration_remaining(&self, crd: &str, count: usize) {
        self.migration_remaining.get_or_create(&CrdLabel { crd: crd.to_owned() }).set(number(count));
    }

    /// From now on, the length of this queue is told.
    pub(crate) fn observe(&self, queue: Arc<Queue>) {
        // A second operator in one process keeps its queue to itself.
        let _ = self.queue.set(queue);
    }

    fn measure(&self) {
        let Some(queue) = self.queue.get() else { return };
        self.waiting.clear();
        self.busy.clear();
        for (kind, (waiting, busy)) in queue.depth() {
            self.waiting.get_or_create(&KindLabel { kind }).set(number(waiting));
            self.busy.get_or_create(&KindLabel { kind }).set(number(busy));
        }
    }

    /// Whether this replica leads.
    pub fn leads(&self, leads: bool) {
        self.leading.set(i64::from(leads));
    }

    /// All of them as text, in the form that Prometheus reads.
    pub fn text(&self) -> String {
        self.measure();
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn buckets() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 15))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_shown() {
        let metrics = Metrics::new();
        metrics.wrote(Sent::ApplyStatus, true);
        metrics.wrote(Sent::Event, false);
        metrics.passed("MCPServer", 0.1, Some("conflict"));
        metrics.migrated("relics.toolhive.stacklok.dev");
        metrics.migration_failed("relics.toolhive.stacklok.dev", 3);
        metrics.migration_remaining("relics.toolhive.stacklok.dev", 2);
        let queue = Arc::new(Queue::default());
        queue.add(crate::key::Key::new("MCPServer", "ns", "s"));
        metrics.observe(queue);
        let text = metrics.text();
        for line in [
            r#"toolhive_operator_writes_total{verb="ApplyStatus",ok="Yes"} 1"#,
            r#"toolhive_operator_writes_total{verb="Event",ok="No"} 1"#,
            r#"toolhive_operator_reconcile_errors_total{kind="MCPServer",error="conflict"} 1"#,
            r#"toolhive_operator_storage_migrated_objects_total{crd="relics.toolhive.stacklok.dev"} 1"#,
            r#"toolhive_operator_storage_migration_failures_total{crd="relics.toolhive.stacklok.dev"} 3"#,
            r#"toolhive_operator_storage_migration_remaining_objects{crd="relics.toolhive.stacklok.dev"} 2"#,
            r#"toolhive_operator_queue_depth{kind="MCPServer"} 1"#,
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}
