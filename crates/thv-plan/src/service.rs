//! Services: how pods are found.

use serde_json::{Value, json};
use thv_api::names::HTTP_PORT_NAME;
use thv_api::value::Port;

use crate::metadata::Pairs;

/// The spec of a Service in front of pods that listen on one port, under the same number.
pub(crate) fn spec(selector: &Pairs, port: Port) -> Value {
    json!({
        "selector": selector,
        "ports": [{
            "name": HTTP_PORT_NAME,
            "port": port,
            "targetPort": port,
            "protocol": "TCP",
        }],
    })
}
