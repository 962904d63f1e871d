//! The objects that are measured with.

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use kube::Api;
use kube::api::{ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};
use thv_api::kinds::{MCPServer, VirtualMCPServer};

use crate::bench::site::Site;

/// How many creations are under way at once.
const AT_ONCE: usize = 32;

/// How many objects there are.
#[derive(Clone, Copy)]
pub(super) struct Fleet {
    pub(super) servers: usize,
    /// How many of each kind of configuration, shared by the servers.
    configs: usize,
    groups: usize,
    /// How many virtual servers, each of a group.
    gateways: usize,
}

impl Fleet {
    /// Servers that refer to nothing.
    pub(super) const fn plain(servers: usize) -> Self {
        Self { servers, configs: 0, groups: 0, gateways: 0 }
    }

    /// Servers that refer to one object of every kind of configuration, and to a group, each of which a virtual server
    /// offers.
    pub(super) const MIXED: Self = Self { servers: 1_000, configs: 100, groups: 50, gateways: 50 };

    pub(super) const fn is_mixed(self) -> bool {
        self.configs > 0
    }

    /// What it is called on the page.
    pub(super) fn title(self) -> String {
        let Self { servers, configs, groups, gateways } = self;
        if self.is_mixed() {
            format!(
                "{servers} servers, {configs} objects of each kind of configuration, {groups} groups, {gateways} virtual \
                 servers"
            )
        } else {
            format!("{servers} servers")
        }
    }

    /// How many objects have a Deployment.
    pub(super) const fn workloads(self) -> usize {
        self.servers + self.gateways
    }

    /// Creates what servers refer to, then the servers, and then those that offer them, many at once, and hands each over.
    pub(super) async fn create(self, site: &Site, mut hand_over: impl FnMut(DynamicObject)) -> Result<()> {
        let create = async |body: Value| {
            let created =
                api(site, &body).create(&PostParams::default(), &serde_json::from_value(body)?).await;
            created.context("cannot create an object")
        };
        for objects in [self.shared(), self.all_servers(), (0..self.gateways).map(gateway).collect()] {
            let mut created = stream::iter(objects).map(create).buffer_unordered(AT_ONCE);
            while let Some(object) = created.try_next().await? {
                hand_over(object);
            }
        }
        Ok(())
    }

    /// Everything that servers refer to.
    pub(super) fn shared(self) -> Vec<Value> {
        let configs =
            (0..self.configs).flat_map(|number| SHARED.iter().map(move |shared| shared.object(number)));
        let groups = (0..self.groups).map(|number| GROUP.object(number));
        configs.chain(groups).collect()
    }

    pub(super) fn all_servers(self) -> Vec<Value> {
        (0..self.servers).map(|number| self.server(number)).collect()
    }

    /// A server like many: an image, an argument, some environment, resources; and what it shares with others.
    fn server(self, number: usize) -> Value {
        let mut spec = json!({
            "image": "localhost/server:1", "transport": "streamable-http", "proxyPort": 8080, "mcpPort": 8080,
            "args": ["--verbose"],
            "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "REGION", "value": "somewhere"}],
            "resources": {"limits": {"cpu": "100m", "memory": "128Mi"}, "requests": {"cpu": "10m", "memory": "64Mi"}},
        });
        let shared = SHARED.iter().map(|shared| (shared, self.configs)).chain([(&GROUP, self.groups)]);
        for (shared, count) in shared {
            if let (Some(index), Some(fields)) = (number.checked_rem(count), spec.as_object_mut()) {
                fields.insert(shared.field.to_owned(), (shared.reference)(shared.name(index), number));
            }
        }
        json!({
            "apiVersion": MCPServer::api_version_text(), "kind": "MCPServer",
            "metadata": {"name": format!("server-{number:05}")}, "spec": spec,
        })
    }
}

/// A virtual server that offers a group.
fn gateway(number: usize) -> Value {
    json!({
        "apiVersion": VirtualMCPServer::api_version_text(), "kind": "VirtualMCPServer",
        "metadata": {"name": format!("gateway-{number:03}")},
        "spec": {"groupRef": {"name": GROUP.name(number)}, "incomingAuth": {"type": "anonymous"}},
    })
}

/// A kind that servers refer to.
struct Shared {
    kind: &'static str,
    version: &'static str,
    /// The field of a server that names it.
    field: &'static str,
    /// How a server of this number refers to one of this name.
    reference: fn(String, usize) -> Value,
    spec: fn() -> Value,
}

/// A reference that is nothing but a name.
fn by_name(name: String, _: usize) -> Value {
    json!({"name": name})
}

impl Shared {
    fn name(&self, number: usize) -> String {
        format!("{}-{number:03}", self.kind.to_ascii_lowercase())
    }

    fn object(&self, number: usize) -> Value {
        json!({
            "apiVersion": format!("toolhive.stacklok.dev/{}", self.version), "kind": self.kind,
            "metadata": {"name": self.name(number)}, "spec": (self.spec)(),
        })
    }
}

const GROUP: Shared = Shared {
    kind: "MCPGroup",
    version: "v1beta1",
    field: "groupRef",
    reference: by_name,
    spec: || json!({"description": "servers that belong together"}),
};

const SHARED: [Shared; 6] = [
    Shared {
        kind: "MCPToolConfig",
        version: "v1beta1",
        field: "toolConfigRef",
        reference: by_name,
        spec: || json!({"toolsFilter": ["find", "all"], "toolsOverride": {"list": {"name": "all"}}}),
    },
    Shared {
        kind: "MCPOIDCConfig",
        version: "v1beta1",
        field: "oidcConfigRef",
        reference: |name, number| json!({"name": name, "audience": format!("https://server-{number:05}")}),
        spec: || json!({"type": "inline", "inline": {"issuer": "https://login.example.com", "clientId": "c"}}),
    },
    Shared {
        kind: "MCPTelemetryConfig",
        version: "v1beta1",
        field: "telemetryConfigRef",
        reference: by_name,
        spec: || json!({"openTelemetry": {"enabled": true, "endpoint": "c:4318", "tracing": {"enabled": true}}}),
    },
    Shared {
        kind: "MCPAuthzConfig",
        version: "v1beta1",
        field: "authzConfigRef",
        reference: by_name,
        spec: || json!({"type": "cedarv1", "config": {"policies": ["permit(principal, action, resource);"]}}),
    },
    Shared {
        kind: "MCPExternalAuthConfig",
        version: "v1beta1",
        field: "externalAuthConfigRef",
        reference: by_name,
        spec: || {
            let exchange = json!({"tokenUrl": "https://login.example.com/token", "audience": "a"});
            json!({"type": "tokenExchange", "tokenExchange": exchange})
        },
    },
    Shared {
        kind: "MCPWebhookConfig",
        version: "v1alpha1",
        field: "webhookConfigRef",
        reference: by_name,
        spec: || json!({"validating": [{"name": "w", "url": "https://hook.example.com/mcp"}]}),
    },
];

/// Objects of the kind of this one, as an administrator sees them.
fn api(site: &Site, body: &Value) -> Api<DynamicObject> {
    let text = |field: &str| body.get(field).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or_default();
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, text("kind")));
    site.api_with(&resource)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_a_name_of_its_own_and_shares_what_it_refers_to() {
        let (one, other) = (Fleet::MIXED.server(1), Fleet::MIXED.server(101));
        assert_ne!(one["metadata"]["name"], other["metadata"]["name"]);
        assert_ne!(one["spec"]["oidcConfigRef"]["audience"], other["spec"]["oidcConfigRef"]["audience"]);
        for field in ["toolConfigRef", "telemetryConfigRef", "authzConfigRef", "webhookConfigRef", "groupRef"]
        {
            assert!(one["spec"][field].is_object());
            assert_eq!(one["spec"][field], other["spec"][field], "{field}");
        }
        let names: Vec<_> =
            Fleet::MIXED.shared().iter().map(|object| object["metadata"]["name"].clone()).collect();
        assert!(names.contains(&one["spec"]["groupRef"]["name"]) && names.len() == 650);
        assert!(Fleet::plain(3).server(1)["spec"].get("groupRef").is_none());
    }
}
