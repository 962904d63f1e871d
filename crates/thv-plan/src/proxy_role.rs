//! What the proxy of an `MCPServer` may do in the cluster.
//!
//! One table: the operator renders the proxy's Role from it, and the proxy's client is written against it.

use serde_json::{Value, json};
use thv_api::names::GROUP;
use thv_api::names::children::mcp_server;

/// Which objects of a resource a right is about.
#[derive(Clone, Copy, Debug)]
pub enum Objects {
    /// All of the namespace, because their names are not known beforehand.
    All,
    /// Those that the proxy itself makes or belongs to, named after the server. Creating them takes an apply, which
    /// names them; a POST does not and is refused. Lists and watches have to select `metadata.name`.
    Named(&'static [fn(&str) -> String]),
}

/// A right.
#[derive(Clone, Copy, Debug)]
pub struct Right {
    /// The API group.
    pub group: &'static str,
    /// The resource, or a subresource of it.
    pub resource: &'static str,
    /// What may be done.
    pub verbs: &'static [&'static str],
    /// To what.
    pub objects: Objects,
    /// What for.
    pub purpose: &'static str,
}

/// What bringing up an object and staying with it takes.
const KEEP: &[&str] = &["create", "delete", "get", "list", "patch", "watch"];

/// All rights of the proxy.
pub const RIGHTS: &[Right] = &[
    Right {
        group: "apps",
        resource: "statefulsets",
        verbs: KEEP,
        objects: Objects::Named(&[mcp_server::backend]),
        purpose: "bring the backend up, and back when someone deletes or edits it",
    },
    Right {
        group: "",
        resource: "services",
        verbs: KEEP,
        objects: Objects::Named(&[mcp_server::backend_service, mcp_server::backend_headless_service]),
        purpose: "make the backend reachable",
    },
    Right {
        group: GROUP,
        resource: "mcpservers",
        verbs: &["get"],
        objects: Objects::Named(&[|name| name.to_owned()]),
        purpose: "see whether the server is still there, and which revision is the newest",
    },
    Right {
        group: "",
        resource: "pods",
        verbs: &["delete", "get", "list", "watch"],
        objects: Objects::All,
        purpose: "wait for the backend, and replace a broken pod that its StatefulSet would keep",
    },
    Right {
        group: "",
        resource: "pods/attach",
        verbs: &["create", "get"],
        objects: Objects::All,
        purpose: "speak to a stdio server",
    },
    Right {
        group: "",
        resource: "pods/log",
        verbs: &["get"],
        objects: Objects::All,
        purpose: "say why a backend does not start",
    },
    Right {
        group: "events.k8s.io",
        resource: "events",
        verbs: &["create", "patch"],
        objects: Objects::All,
        purpose: "tell when a write was refused because it would tear the backend",
    },
];

/// The `rules` of the Role for one server.
pub fn rules(server: &str) -> Value {
    RIGHTS.iter().map(|right| rule(right, server)).collect()
}

fn rule(right: &Right, server: &str) -> Value {
    let Right { group, resource, verbs, objects, purpose: _ } = right;
    let mut rule = json!({ "apiGroups": [group], "resources": [resource], "verbs": verbs });
    if let (Objects::Named(names), Some(rule)) = (objects, rule.as_object_mut()) {
        let mut names: Vec<String> = names.iter().map(|name| name(server)).collect();
        names.sort();
        rule.insert("resourceNames".to_owned(), names.into());
    }
    rule
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_named_is_named() {
        let rules = rules("web");
        let of = |resource: &str| {
            let rules = rules.as_array().unwrap();
            rules.iter().find(|rule| rule["resources"] == json!([resource])).unwrap().clone()
        };
        assert_eq!(of("statefulsets")["resourceNames"], json!(["web"]));
        assert_eq!(of("services")["resourceNames"], json!(["mcp-web", "mcp-web-headless"]));
        assert_eq!(of("mcpservers")["resourceNames"], json!(["web"]));
        assert_eq!(of("mcpservers")["verbs"], json!(["get"]));
        assert_eq!(of("pods").get("resourceNames"), None);
    }

    #[test]
    fn no_right_is_wider_than_it_has_to_be() {
        let forbidden = ["configmaps", "secrets", "deployments", "roles", "*"];
        for right in RIGHTS {
            assert!(!forbidden.contains(&right.resource), "{}", right.resource);
            assert!(!right.verbs.contains(&"*") && !right.verbs.contains(&"update"), "{}", right.resource);
            assert!(!right.purpose.is_empty());
        }
    }
}
