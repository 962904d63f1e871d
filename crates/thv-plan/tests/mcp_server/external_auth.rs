//! Every type of `MCPExternalAuthConfig` either does something for a server or is told to do nothing.

use serde_json::{Value, json};
use thv_api::kinds::{ExternalAuthType, MCPGroupSpec, VirtualMCPServerSpec};
use thv_plan::{Read, Reference, Referent, mcp_server};

use crate::support::{Scene, children, whole_condition};

/// What comes of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// What the proxy runs is another one.
    Works,
    /// This condition says that it has no effect, and the rest goes on.
    Ignored,
    /// This is the reason why nothing is applied.
    Refused(&'static str),
}

fn config(type_: ExternalAuthType) -> (Value, Fate) {
    let secret = json!({"name": "keys", "key": "k"});
    let (settings, fate) = match type_ {
        ExternalAuthType::TokenExchange => {
            (json!({"tokenUrl": "https://t", "audience": "a", "clientSecretRef": secret}), Fate::Works)
        }
        ExternalAuthType::BearerToken => (json!({"tokenSecretRef": secret}), Fate::Works),
        ExternalAuthType::EmbeddedAuthServer => {
            let provider = json!({"issuerUrl": "https://i", "clientId": "c"});
            let provider = json!({"name": "p", "type": "oidc", "oidcConfig": provider});
            (json!({"issuer": "https://issuer", "upstreamProviders": [provider]}), Fate::Works)
        }
        ExternalAuthType::AwsSts => (
            json!({"region": "eu-central-1", "fallbackRoleArn": "arn:aws:iam::123456789012:role/r"}),
            Fate::Refused("InvalidConfig"),
        ),
        ExternalAuthType::OnBehalfOf => (json!({}), Fate::Refused("EnterpriseRequired")),
        ExternalAuthType::HeaderInjection => {
            (json!({"headerName": "X-Key", "valueSecretRef": secret}), Fate::Ignored)
        }
        ExternalAuthType::UpstreamInject => (json!({"providerName": "p"}), Fate::Ignored),
        ExternalAuthType::CrossAppAccess => (
            json!({"idpTokenUrl": "https://i", "targetTokenUrl": "https://t", "targetAudience": "a"}),
            Fate::Ignored,
        ),
        ExternalAuthType::Unauthenticated => return (json!({"type": type_}), Fate::Ignored),
    };
    (json!({"type": type_, type_.as_str(): settings}), fate)
}

/// A server that signs callers in, as an authorization server needs it, and refers to settings of this type.
fn server(type_: ExternalAuthType) -> (Scene, Fate) {
    let mut scene =
        Scene::of(json!({"oidcConfigRef": {"name": "login", "audience": "http://mcp-web-proxy"}}));
    let (spec, fate) = config(type_);
    let object = |kind: &str, name: &str, spec: Value| {
        json!({
            "apiVersion": "toolhive.stacklok.dev/v1beta1", "kind": kind, "metadata": {"name": name}, "spec": spec,
        })
    };
    scene.refer(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"k": "1"},
    }));
    let issuer = json!({"type": "inline", "inline": {"issuer": "https://issuer"}});
    scene.refer(object("MCPOIDCConfig", "login", issuer));
    scene.refer(object("MCPExternalAuthConfig", "auth", spec));
    (scene, fate)
}

#[test]
fn every_type_works_for_a_server_or_is_told() {
    for type_ in ExternalAuthType::ALL {
        let (mut scene, fate) = server(*type_);
        let before = scene.plan();
        scene.set("externalAuthConfigRef", json!({"name": "auth"}));
        if *type_ == ExternalAuthType::EmbeddedAuthServer {
            let audience = "http://mcp-web-proxy.fleet.svc.cluster.local:8080";
            scene.edit(|spec| spec["oidcConfigRef"]["audience"] = json!(audience));
        }
        let plan = scene.plan();
        let ignored = whole_condition(&plan.status, "SettingsIgnored");
        let validated = whole_condition(&plan.status, "ExternalAuthConfigValidated");
        match fate {
            Fate::Works => {
                assert_eq!((ignored, validated), (None, None), "{type_}");
                assert_ne!(children(&plan), children(&before), "{type_}");
            }
            Fate::Ignored => {
                assert_eq!(validated, None, "{type_}");
                let message = &ignored.unwrap_or_else(|| panic!("nobody tells of {type_}")).message;
                assert!(message.contains(type_.as_str()) && message.contains("groupRef"), "{message}");
                scene.set("groupRef", json!({"name": "tools"}));
                let status = scene.plan().status;
                let message = &whole_condition(&status, "SettingsIgnored").unwrap().message;
                assert!(message.contains("no VirtualMCPServer offers the group"), "{message}");
                // A virtual server that offers the group uses it.
                let gateways = Reference::referrers::<VirtualMCPServerSpec, MCPGroupSpec>("tools");
                let asked = mcp_server::refs(&scene.snapshot.owner, &scene.snapshot.references);
                assert!(asked.contains(&gateways), "{type_}");
                let offers = Read::Malformed("whatever it says".to_owned());
                let found = Referent::Objects(vec![("gateway".to_owned(), offers)]);
                scene.snapshot.references.insert(gateways, Read::Found(found));
                assert_eq!(whole_condition(&scene.plan().status, "SettingsIgnored"), None, "{type_}");
            }
            Fate::Refused(reason) => {
                let validated = validated.unwrap_or_else(|| panic!("nobody tells of {type_}"));
                assert_eq!(
                    (validated.status.as_str(), validated.reason.as_str()),
                    ("False", reason),
                    "{type_}"
                );
            }
        }
    }
}
