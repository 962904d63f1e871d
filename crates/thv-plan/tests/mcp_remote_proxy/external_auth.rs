//! Every type of `MCPExternalAuthConfig` either does something for a remote proxy or is told to do nothing.

use serde_json::{Value, json};
use thv_api::kinds::{ExternalAuthType, MCPGroupSpec, MCPRemoteProxySpec, VirtualMCPServerSpec};
use thv_plan::{Read, Reference, Referent, Refers as _};

use crate::support::{Scene, children, condition, whole_condition};

/// What comes of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// What the proxy runs is another one.
    Works,
    /// A condition says that it has no effect, and the rest goes on.
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
            Fate::Works,
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

/// A proxy that signs callers in, as an authorization server needs it, beside settings of this type.
fn proxy(type_: ExternalAuthType) -> (Scene, Fate) {
    let audience = "http://mcp-web-remote-proxy.fleet.svc.cluster.local:8080";
    let mut scene = Scene::of(json!({"oidcConfigRef": {"name": "login", "audience": audience}}));
    let (spec, fate) = config(type_);
    scene.refer(json!({"kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"k": "1"}}));
    let issuer = json!({"type": "inline", "inline": {"issuer": "https://issuer"}});
    scene.refer(json!({"kind": "MCPOIDCConfig", "metadata": {"name": "login"}, "spec": issuer}));
    scene.refer(json!({"kind": "MCPExternalAuthConfig", "metadata": {"name": "auth"}, "spec": spec}));
    (scene, fate)
}

#[test]
fn every_type_works_for_a_remote_proxy_or_is_told() {
    for type_ in ExternalAuthType::ALL {
        let (mut scene, fate) = proxy(*type_);
        let before = scene.plan();
        scene.set("externalAuthConfigRef", json!({"name": "auth"}));
        let plan = scene.plan();
        let ignored = whole_condition(&plan.status, "SettingsIgnored");
        let validated = condition(&plan.status, "ExternalAuthConfigValidated");
        match fate {
            Fate::Works => {
                assert_eq!(
                    (ignored, validated),
                    (None, Some(("True", "ExternalAuthConfigValid"))),
                    "{type_}"
                );
                assert_ne!(children(&plan), children(&before), "{type_}");
            }
            Fate::Ignored => {
                assert_eq!(validated, Some(("True", "ExternalAuthConfigValid")), "{type_}");
                let message = &ignored.unwrap_or_else(|| panic!("nobody tells of {type_}")).message;
                assert!(message.contains(type_.as_str()) && message.contains("MCPRemoteProxy"), "{message}");
                // A virtual server that offers the group uses it.
                scene.set("groupRef", json!({"name": "tools"}));
                let gateways = Reference::referrers::<VirtualMCPServerSpec, MCPGroupSpec>("tools");
                let snapshot = &mut scene.snapshot;
                let asked =
                    MCPRemoteProxySpec::refs(&snapshot.owner, &snapshot.references, &snapshot.settings);
                assert!(asked.contains(&gateways), "{type_}");
                let found = Referent::Objects(vec![("gateway".to_owned(), Read::Malformed(String::new()))]);
                snapshot.references.insert(gateways, Read::Found(found));
                assert_eq!(whole_condition(&scene.status(), "SettingsIgnored"), None, "{type_}");
            }
            Fate::Refused(reason) => {
                assert_eq!(validated, Some(("False", reason)), "{type_}");
                assert_eq!(
                    condition(&plan.status, "AuthConfigured"),
                    Some(("False", "AuthInvalid")),
                    "{type_}"
                );
            }
        }
    }
}
