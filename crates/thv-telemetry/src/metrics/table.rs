//! Every metric by name.
//!
//! Names and labels are those of OpenTelemetry. What Prometheus sees follows from them by the rules of
//! OpenTelemetry: dots become underscores, the unit and, for counters, `total` are appended.

use prometheus_client::registry::Unit;

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Requests that ended.
    Requests,
    /// How long they took.
    RequestDuration,
    /// Requests and streams that are under way.
    ActiveConnections,
    /// How long MCP operations took.
    OperationDuration,
    /// Calls of tools.
    ToolCalls,
    /// Sessions of this replica.
    Sessions,
    /// Instances of the backend that can take requests.
    InstancesReady,
    /// What this replica may do to the backend.
    FenceStanding,
    /// Writes to the backend's objects that were refused.
    RefusedWrites,
    /// Backend sessions that were made anew.
    Replays,
    /// Whether the session store answers.
    StoreAvailable,
    /// Bytes of request bodies in memory.
    BodyBytes,
    /// Spans that did not reach the collector.
    SpansLost,
    /// What the service is.
    Target,
    /// Processor time of the process.
    Cpu,
    /// Memory of the process.
    ResidentMemory,
    /// Address space of the process.
    VirtualMemory,
    /// Open files and sockets of the process.
    OpenFiles,
    /// How many of them the process may have.
    MaxFiles,
}

/// How the numbers of a metric behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down by additions.
    UpDown,
    /// It is what it is when looked at.
    Gauge,
    /// Durations, by size.
    Histogram,
    /// Always 1; the labels are the content.
    Info,
}

/// What a metric is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Things.
    Count,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

impl Measure {
    /// As Prometheus appends it to the name.
    pub(super) fn prometheus(self) -> Option<Unit> {
        match self {
            Self::Count => None,
            Self::Seconds => Some(Unit::Seconds),
            Self::Bytes => Some(Unit::Bytes),
        }
    }

    /// As OpenTelemetry writes it.
    pub(crate) fn opentelemetry(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Seconds => "s",
            Self::Bytes => "By",
        }
    }
}

/// One metric: what it is called and what it says.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Which one.
    pub metric: Metric,
    /// Name, as OpenTelemetry has it.
    pub name: &'static str,
    /// What it is counted in.
    pub measure: Measure,
    /// How its numbers behave.
    pub kind: Kind,
    /// What it says.
    pub help: &'static str,
}

impl Row {
    /// The name without the suffix for counters, as Prometheus has it in its descriptions.
    pub(super) fn base(&self) -> String {
        self.name.replace('.', "_")
    }

    /// The name by which Prometheus knows it. Histograms have `_bucket`, `_sum` and `_count` behind it.
    pub fn prometheus(&self) -> String {
        let mut name = self.base();
        if let Some(unit) = self.measure.prometheus() {
            name.push('_');
            name.push_str(unit.as_str());
        }
        match self.kind {
            Kind::Counter => name.push_str("_total"),
            Kind::Info => name.push_str("_info"),
            Kind::UpDown | Kind::Gauge | Kind::Histogram => {}
        }
        name
    }
}

const fn row(metric: Metric, name: &'static str, measure: Measure, kind: Kind, help: &'static str) -> Row {
    Row { metric, name, measure, kind, help }
}

/// All of them. A metric that is not here does not exist.
pub const TABLE: [Row; 19] = {
    use Kind::{Counter, Gauge, Histogram, Info, UpDown};
    use Measure::{Bytes, Count, Seconds};
    use Metric as M;
    [
        row(M::Requests, "toolhive_mcp_requests", Count, Counter, "Requests that ended"),
        row(
            M::RequestDuration,
            "toolhive_mcp_request_duration",
            Seconds,
            Histogram,
            "How long requests took",
        ),
        row(
            M::ActiveConnections,
            "toolhive_mcp_active_connections",
            Count,
            UpDown,
            "Requests and streams that are under way",
        ),
        row(
            M::OperationDuration,
            "mcp.server.operation.duration",
            Seconds,
            Histogram,
            "How long MCP operations took, as the server sees it",
        ),
        row(M::ToolCalls, "toolhive_mcp_tool_calls", Count, Counter, "Calls of tools, by HTTP status"),
        row(M::Sessions, "toolhive_proxy_sessions", Count, Gauge, "Sessions that this replica knows"),
        row(
            M::InstancesReady,
            "toolhive_proxy_backend_instances_ready",
            Count,
            Gauge,
            "Instances of the backend that can take requests",
        ),
        row(
            M::FenceStanding,
            "toolhive_proxy_fence_standing",
            Count,
            Gauge,
            "1 for what this replica may do to the backend's objects, 0 for the rest",
        ),
        row(
            M::RefusedWrites,
            "toolhive_proxy_refused_writes",
            Count,
            Counter,
            "Writes to the backend's objects that were refused, because the same revision has another content",
        ),
        row(
            M::Replays,
            "toolhive_proxy_replays",
            Count,
            Counter,
            "Attempts to make a lost backend session anew, by outcome",
        ),
        row(
            M::StoreAvailable,
            "toolhive_proxy_session_store_available",
            Count,
            Gauge,
            "Whether the session store answers",
        ),
        row(
            M::BodyBytes,
            "toolhive_proxy_request_bodies",
            Bytes,
            Gauge,
            "Memory that is set aside for request bodies",
        ),
        row(
            M::SpansLost,
            "toolhive_proxy_spans_lost",
            Count,
            Counter,
            "Spans that were sampled and did not reach the collector",
        ),
        row(M::Target, "target", Count, Info, "What the service is"),
        row(M::Cpu, "process_cpu", Seconds, Counter, "Processor time that was spent"),
        row(M::ResidentMemory, "process_resident_memory", Bytes, Gauge, "Memory in use"),
        row(M::VirtualMemory, "process_virtual_memory", Bytes, Gauge, "Address space in use"),
        row(M::OpenFiles, "process_open_fds", Count, Gauge, "Open files and sockets"),
        row(M::MaxFiles, "process_max_fds", Count, Gauge, "Files and sockets that can be open at once"),
    ]
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_name_stands_for_two_metrics_and_prometheus_takes_all() {
        let names: BTreeSet<String> = TABLE.iter().map(Row::prometheus).collect();
        assert_eq!(names.len(), TABLE.len());
        for name in names {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
        }
    }

    #[test]
    fn the_names_of_the_reference_come_out_as_it_has_them() {
        let names: Vec<String> = TABLE.iter().map(Row::prometheus).collect();
        for name in [
            "toolhive_mcp_requests_total",
            "toolhive_mcp_request_duration_seconds",
            "toolhive_mcp_active_connections",
            "mcp_server_operation_duration_seconds",
            "toolhive_mcp_tool_calls_total",
            "target_info",
            "process_cpu_seconds_total",
            "process_resident_memory_bytes",
            "process_open_fds",
        ] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
    }
}
