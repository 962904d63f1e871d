//! What a server may touch. Only local runtimes heed it; in a cluster it is carried along.

use serde::{Deserialize, Serialize};

use crate::value::is_zero;

/// What a server may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionProfile {
    /// Name of the profile.
    #[serde(skip_serializing_if = "is_zero")]
    pub name: String,

    /// Mounts to read from, each `path` or `host:container`.
    #[serde(skip_serializing_if = "is_zero")]
    pub read: Vec<String>,

    /// Mounts to write to, each `path` or `host:container`.
    #[serde(skip_serializing_if = "is_zero")]
    pub write: Vec<String>,

    /// Access to the network.
    #[serde(skip_serializing_if = "is_zero")]
    pub network: Option<NetworkPermissions>,

    /// Whether the container is privileged.
    #[serde(skip_serializing_if = "is_zero")]
    pub privileged: bool,
}

/// Access to the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkPermissions {
    /// Network mode of the container runtime.
    #[serde(skip_serializing_if = "is_zero")]
    pub mode: String,

    /// Connections that the server opens.
    #[serde(skip_serializing_if = "is_zero")]
    pub outbound: Option<OutboundPermissions>,

    /// Connections that the server accepts.
    #[serde(skip_serializing_if = "is_zero")]
    pub inbound: Option<InboundPermissions>,
}

/// Connections that a server may open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutboundPermissions {
    /// Whether everything is allowed.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_allow_all: bool,

    /// Hosts that are allowed.
    #[serde(skip_serializing_if = "is_zero")]
    pub allow_host: Vec<String>,

    /// Ports that are allowed.
    #[serde(skip_serializing_if = "is_zero")]
    pub allow_port: Vec<u16>,
}

/// Connections that a server may accept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboundPermissions {
    /// Hosts that may connect.
    #[serde(skip_serializing_if = "is_zero")]
    pub allow_host: Vec<String>,
}

impl PermissionProfile {
    /// The built-in profile `network`: everything outside may be reached.
    pub fn network() -> Self {
        Self::named("network", OutboundPermissions { insecure_allow_all: true, ..Default::default() })
    }

    /// The built-in profile `none`: no network.
    pub fn none() -> Self {
        Self::named("none", OutboundPermissions::default())
    }

    fn named(name: &str, outbound: OutboundPermissions) -> Self {
        let network = NetworkPermissions {
            outbound: Some(outbound),
            inbound: Some(InboundPermissions::default()),
            ..Default::default()
        };
        Self { name: name.to_owned(), network: Some(network), ..Default::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_profiles_are_spelled_as_everywhere() {
        for (profile, json) in [
            (
                PermissionProfile::network(),
                r#"{"name":"network","network":{"outbound":{"insecure_allow_all":true},"inbound":{}}}"#,
            ),
            (PermissionProfile::none(), r#"{"name":"none","network":{"outbound":{},"inbound":{}}}"#),
        ] {
            assert_eq!(serde_json::to_string(&profile).unwrap(), json);
        }
    }
}
