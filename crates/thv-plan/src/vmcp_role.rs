//! What the pods of a `VirtualMCPServer` may do in the cluster.
//!
//! One table: the operator renders their Role from it, and the program is written against it.

use serde_json::{Value, json};
use thv_api::names::GROUP;
use thv_api::names::children::virtual_mcp_server;

/// Where a virtual server has its backends from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backends {
    /// It watches the members of its group.
    Watched,
    /// Its configuration names them.
    Fixed,
}

/// What a gateway that watches its backends looks at: the members of a group, and what they refer to.
const WATCHED: [&str; 6] = [
    "mcpexternalauthconfigs",
    "mcpgroups",
    "mcpremoteproxies",
    "mcpserverentries",
    "mcpservers",
    "mcptoolconfigs",
];

const READ: [&str; 3] = ["get", "list", "watch"];

/// The `rules` of the Role for the virtual server of this name.
pub fn rules(name: &str, backends: Backends) -> Value {
    let lease = virtual_mcp_server::lease(name);
    let mut rules = vec![
        // It reports how its backends do.
        json!({ "apiGroups": [GROUP], "resources": ["virtualmcpservers"], "resourceNames": [name], "verbs": ["get"] }),
        json!({
            "apiGroups": [GROUP], "resources": ["virtualmcpservers/status"], "resourceNames": [name],
            "verbs": ["patch"],
        }),
        // One of its pods does that. Creating the Lease takes an apply, which names it; a POST does not.
        json!({
            "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": [lease],
            "verbs": ["create", "get", "patch"],
        }),
    ];
    match backends {
        Backends::Fixed => {}
        Backends::Watched => rules.extend([
            json!({ "apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": READ }),
            json!({ "apiGroups": [GROUP], "resources": WATCHED, "verbs": READ }),
        ]),
    }
    Value::Array(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_gateway_that_watches_its_backends_reads_what_is_not_its_own() {
        let names = |backends| {
            let rules = rules("hub", backends);
            let all = rules.as_array().unwrap().iter();
            all.filter(|rule| rule.get("resourceNames").is_none()).count()
        };
        assert_eq!((names(Backends::Fixed), names(Backends::Watched)), (0, 2));
    }
}
