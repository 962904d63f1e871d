//! Probes: how a kubelet finds out whether a container is well.

use serde_json::{Value, json};

/// A question over HTTP, asked again and again. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Probe {
    pub(crate) path: &'static str,
    /// The number of the port, or its name.
    pub(crate) port: Value,
    pub(crate) initial_delay: Option<i32>,
    pub(crate) period: i32,
    pub(crate) timeout: i32,
    pub(crate) failures: i32,
}

impl Probe {
    /// The probe of a container. Scheme and success threshold are those that the API server would choose.
    pub(crate) fn render(self) -> Value {
        let Self { path, port, initial_delay, period, timeout, failures } = self;
        let mut probe = json!({
            "httpGet": { "path": path, "port": port, "scheme": "HTTP" },
            "periodSeconds": period,
            "timeoutSeconds": timeout,
            "failureThreshold": failures,
            "successThreshold": 1,
        });
        if let (Some(delay), Some(probe)) = (initial_delay, probe.as_object_mut()) {
            probe.insert("initialDelaySeconds".to_owned(), delay.into());
        }
        probe
    }
}
