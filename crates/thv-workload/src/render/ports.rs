//! The ports of a backend.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::{Value, json};
use thv_config::{RunConfig, Transport};

use super::RenderError;

/// The ports that a cluster gives to Services on its nodes.
const NODE_PORTS: RangeInclusive<u16> = 30000..=32767;

/// The ports that a backend listens on, in order, and those of them that are to be reached on every node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ports(BTreeMap<u16, Option<u16>>);

impl Ports {
    /// The port of the transport, and what the configuration publishes.
    ///
    /// A port is on every node when it is published under a number that nodes have. That the backend itself happens to
    /// listen on such a number is no wish to have it there.
    pub(super) fn of(config: &RunConfig) -> Result<Self, RenderError> {
        let mut ports = BTreeMap::new();
        for (index, entry) in config.publish.iter().enumerate() {
            let (host, port) =
                entry.split_once(':').map_or((None, entry.as_str()), |(host, port)| (Some(host), port));
            let number = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
            let port = number(port).ok_or(RenderError::Port(index))?;
            let host = host.map(|host| number(host).ok_or(RenderError::Port(index))).transpose()?;
            let on_nodes: &mut Option<u16> = ports.entry(port).or_default();
            *on_nodes = on_nodes.or(host.filter(|host| NODE_PORTS.contains(host)));
        }
        match config.transport {
            Transport::Stdio => {}
            Transport::Sse | Transport::StreamableHttp => {
                if config.target_port > 0 {
                    ports.entry(config.target_port).or_default();
                }
            }
        }
        Ok(Self(ports))
    }

    /// Whether any port is to be reached on every node.
    pub(super) fn are_on_nodes(&self) -> bool {
        self.0.values().any(Option::is_some)
    }

    /// The `ports` of a Service.
    pub(super) fn of_service(&self, on_nodes: bool) -> Value {
        let entry = |(port, node): (&u16, &Option<u16>)| {
            let mut entry = json!({ "name": format!("port-{port}"), "port": port, "targetPort": port, "protocol": "TCP" });
            if let (Some(node), Some(entry)) = (node.filter(|_| on_nodes), entry.as_object_mut()) {
                entry.insert("nodePort".to_owned(), node.into());
            }
            entry
        };
        self.0.iter().map(entry).collect()
    }

    /// Adds the ports to the `ports` of a container that does not have them.
    pub(super) fn add_to_container(&self, list: &mut Vec<Value>) {
        for port in self.0.keys() {
            let is_there = list.iter().any(|entry| {
                entry.get("containerPort").and_then(Value::as_u64) == Some(u64::from(*port))
                    && entry.get("protocol").is_none_or(|protocol| protocol == "TCP")
            });
            if !is_there {
                list.push(json!({ "containerPort": port, "protocol": "TCP" }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ports(publish: &[&str], target_port: u16) -> Result<Ports, RenderError> {
        Ports::of(&RunConfig {
            transport: Transport::Sse,
            target_port,
            publish: publish.iter().map(|&entry| entry.to_owned()).collect(),
            ..RunConfig::default()
        })
    }

    #[test]
    fn they_are_there_once_and_in_order() {
        let ports = ports(&["9090", "8000:7070", "9090:9090"], 8080).unwrap();
        let numbers: Vec<_> =
            ports.of_service(true).as_array().unwrap().iter().map(|p| p["port"].clone()).collect();
        assert_eq!(numbers, [json!(7070), json!(8080), json!(9090)]);
        assert!(!ports.are_on_nodes());
    }

    #[test]
    fn a_backend_on_a_number_of_nodes_is_not_opened_to_the_world() {
        assert!(!ports(&[], 30080).unwrap().are_on_nodes());
        assert!(!ports(&["30080"], 30080).unwrap().are_on_nodes());
        let wanted = ports(&["30080:8080"], 8080).unwrap();
        assert!(wanted.are_on_nodes());
        assert_eq!(wanted.of_service(true)[0]["nodePort"], 30080);
        assert_eq!(wanted.of_service(false)[0].get("nodePort"), None);
    }

    #[test]
    fn what_is_no_port_is_refused_with_its_place() {
        for bad in ["", "0", "x", "1:0", "70000", "1:2:3", ":1", "1:"] {
            assert_eq!(ports(&["1", bad], 8080), Err(RenderError::Port(1)), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_stumble(text in "[0-9:a ]{0,12}") {
            let _ = ports(&[&text], 1);
        }
    }
}
