//! How a virtual server is operated.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use super::duration::CanonicalDuration;
use crate::value::{empty_is_none, is_zero};

/// Timeouts, health checks and logs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Operational {
    /// How much to log. The usual amount when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub log_level: Option<LogLevel>,

    /// How long calls to servers may take.
    #[serde(skip_serializing_if = "is_zero")]
    pub timeouts: Timeouts,

    /// How to find out that a server fails, and what to do then.
    #[serde(skip_serializing_if = "is_zero")]
    pub failure_handling: FailureHandling,
}

string_enum! {
    /// How much to log.
    pub enum LogLevel {
        /// Everything.
        Debug = "debug",
    }
}

/// How long calls to servers may take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Timeouts {
    /// For all servers. Half a minute when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub default: Option<CanonicalDuration>,

    /// For single servers, by name.
    #[serde(skip_serializing_if = "is_zero")]
    pub per_workload: BTreeMap<String, CanonicalDuration>,
}

/// How to find out that a server fails, and what to do then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct FailureHandling {
    /// How often a server is checked. Every half a minute when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub health_check_interval: Option<CanonicalDuration>,

    /// How many checks in a row have to fail. Three when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub unhealthy_threshold: i64,

    /// How long a check may take. Ten seconds when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub health_check_timeout: Option<CanonicalDuration>,

    /// How often the status is reported. Every half a minute when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub status_reporting_interval: Option<CanonicalDuration>,

    /// What to do when only some servers answer. `fail` when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub partial_failure_mode: Option<PartialFailureMode>,

    /// Not to call a server that keeps failing.
    #[serde(skip_serializing_if = "is_zero")]
    pub circuit_breaker: CircuitBreaker,
}

string_enum! {
    /// What to do when only some servers answer.
    pub enum PartialFailureMode {
        /// Fail.
        Fail = "fail",
        /// Go on with those that do.
        BestEffort = "best_effort",
    }
}

/// Not to call a server that keeps failing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CircuitBreaker {
    /// Whether that is done.
    #[serde(skip_serializing_if = "is_zero")]
    pub enabled: bool,

    /// After how many failures in a row. Five when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub failure_threshold: i64,

    /// How long to wait before trying again. A minute when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub timeout: Option<CanonicalDuration>,
}

impl Operational {
    /// Fills in what is absent or zero, as Go does in its operator and in its program alike.
    pub(super) fn fill_in(&mut self) {
        let Self { log_level: _, timeouts, failure_handling } = self;
        let Timeouts { default, per_workload: _ } = timeouts;
        let FailureHandling {
            health_check_interval,
            unhealthy_threshold,
            // Go writes none, and takes ten seconds.
            health_check_timeout: _,
            status_reporting_interval,
            partial_failure_mode,
            circuit_breaker,
        } = failure_handling;
        let CircuitBreaker { enabled: _, failure_threshold, timeout } = circuit_breaker;
        for (duration, seconds) in
            [(default, 30), (health_check_interval, 30), (status_reporting_interval, 30), (timeout, 60)]
        {
            if duration.is_none_or(|duration| duration.as_nanos() == 0) {
                *duration = Some(CanonicalDuration::from_secs(seconds));
            }
        }
        for (count, usual) in [(unhealthy_threshold, 3), (failure_threshold, 5)] {
            if *count == 0 {
                *count = usual;
            }
        }
        partial_failure_mode.get_or_insert(PartialFailureMode::Fail);
    }
}
