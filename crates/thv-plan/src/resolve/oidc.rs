//! Whose tokens are accepted: `MCPOIDCConfig`.

use thv_api::kinds::{InlineOIDC, KubernetesServiceAccountOIDC, MCPOIDCConfigSpec, OIDCSource};
use thv_api::shared::{CABundleSource, OIDCConfigRef};

use super::ca_bundle;
use super::config::{self, Config, complete, read, valid};
use super::need::Need;
use super::outcome::{Cause, Outcome, Unusable};
use super::url::web_url_error;
use crate::invalid::InvalidList;
use crate::reference::{Reference, References};

/// An identity provider, and what is particular to the object that refers to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Oidc {
    /// The identity provider.
    pub config: Config<MCPOIDCConfigSpec>,
    /// The audience that tokens must have.
    pub audience: String,
    /// The scopes to advertise, if the object names some.
    pub scopes: Option<Vec<String>>,
    /// The URL by which clients know the object.
    pub resource_url: String,
}

/// What is wrong with an identity provider.
pub fn validate(spec: &MCPOIDCConfigSpec) -> Result<(), InvalidList> {
    let MCPOIDCConfigSpec { type_, kubernetes_service_account, inline } = spec;
    let mut invalid = InvalidList::default();
    let mut paired = |set: bool, source: OIDCSource| {
        let text =
            if set { "does not belong to the type: remove it" } else { "is missing for the type: set it" };
        invalid.unless(set == (*type_ == source), source.as_str(), text);
    };
    paired(kubernetes_service_account.is_some(), OIDCSource::KubernetesServiceAccount);
    paired(inline.is_some(), OIDCSource::Inline);
    if let Some(cluster) = kubernetes_service_account {
        invalid.below("kubernetesServiceAccount", validate_cluster(cluster));
    }
    if let Some(inline) = inline {
        invalid.below("inline", validate_inline(inline));
    }
    invalid.finish()
}

fn validate_cluster(cluster: &KubernetesServiceAccountOIDC) -> Result<(), InvalidList> {
    let KubernetesServiceAccountOIDC {
        service_account: _,
        namespace: _,
        issuer,
        jwks_url,
        introspection_url,
        use_cluster_auth: _,
    } = cluster;
    let mut invalid = InvalidList::default();
    let named = [("jwksUrl", jwks_url.as_deref()), ("introspectionUrl", introspection_url.as_deref())];
    let urls = [("issuer", Some(issuer.as_str()))].into_iter().chain(named);
    for (path, url) in urls.filter_map(|(path, url)| Some((path, url.filter(|url| !url.is_empty())?))) {
        if let Some(error) = web_url_error(url, true) {
            invalid.add(path, error);
        }
    }
    invalid.finish()
}

fn validate_inline(inline: &InlineOIDC) -> Result<(), InvalidList> {
    let InlineOIDC {
        issuer,
        jwks_url,
        introspection_url,
        client_id: _,
        client_secret_ref: _,
        // A condition of its own tells about the bundle.
        ca_bundle_ref: _,
        jwks_auth_token_path: _,
        jwks_allow_private_ip: _,
        protected_resource_allow_private_ip: _,
        insecure_allow_http,
    } = inline;
    let mut invalid = InvalidList::default();
    let named = [
        ("jwksUrl", jwks_url.as_deref(), *insecure_allow_http),
        ("introspectionUrl", introspection_url.as_deref(), true),
    ];
    if let Some(error) = web_url_error(issuer, *insecure_allow_http) {
        invalid.add("issuer", error);
    }
    for (path, url, allow_http) in named {
        if let Some(error) = url.filter(|url| !url.is_empty()).and_then(|url| web_url_error(url, allow_http))
        {
            invalid.add(path, error);
        }
    }
    invalid.finish()
}

/// The keys that an identity provider needs. Its certificate authorities are apart: see [`ca_bundle`].
pub(super) fn needs(spec: &MCPOIDCConfigSpec) -> Vec<Need> {
    let MCPOIDCConfigSpec { type_: _, kubernetes_service_account: _, inline } = spec;
    let secret = inline.as_ref().and_then(|inline| inline.client_secret_ref.as_ref());
    secret.map(|secret| Need::secret("inline.clientSecretRef", secret)).into_iter().collect()
}

/// The certificate authorities of an identity provider.
pub(crate) fn ca_bundle(spec: &MCPOIDCConfigSpec) -> Option<&CABundleSource> {
    spec.inline.as_ref().and_then(|inline| inline.ca_bundle_ref.as_ref())
}

/// What has to be read for a reference.
pub(crate) fn references(reference: &OIDCConfigRef, known: &References) -> Vec<Reference> {
    let name = &reference.name;
    let all = |spec: &MCPOIDCConfigSpec| {
        let bundle = ca_bundle(spec).and_then(|source| ca_bundle::need("caBundleRef", source));
        needs(spec).into_iter().chain(bundle).collect()
    };
    config::references(
        Reference::object::<MCPOIDCConfigSpec>(name),
        known.object::<MCPOIDCConfigSpec>(name),
        all,
    )
}

/// What becomes of a reference. `default_resource_url` is the URL by which clients know the object that refers, unless
/// the reference says otherwise.
pub(crate) fn resolve(
    path: &str,
    reference: Option<&OIDCConfigRef>,
    references: &References,
    default_resource_url: &str,
) -> Outcome<Oidc> {
    Outcome::of(reference, |reference| usable(path, reference, references, default_resource_url))
}

fn usable(
    path: &str,
    reference: &OIDCConfigRef,
    references: &References,
    default: &str,
) -> Result<Oidc, Unusable> {
    let OIDCConfigRef { name, audience, scopes, resource_url: _ } = reference;
    let spec = read(path, references.object::<MCPOIDCConfigSpec>(name), name)?;
    let mut config = valid(path, spec, name, validate(spec))?;
    config.notes = notes(spec);
    if audience.trim().is_empty() {
        let message = "oidcConfigRef.audience is empty: name the audience of this server";
        return Err(Cause::Invalid.at(path, message));
    }
    complete::<MCPOIDCConfigSpec>(path, &needs(spec), name, references)?;
    let scopes = scopes.clone().filter(|scopes| !scopes.is_empty());
    Ok(Oidc { config, audience: audience.clone(), scopes, resource_url: resource_url(reference, default) })
}

/// The URL by which clients know the object that refers.
pub(super) fn resource_url(reference: &OIDCConfigRef, default: &str) -> String {
    reference.resource_url.clone().filter(|url| !url.is_empty()).unwrap_or_else(|| default.to_owned())
}

/// Settings that nothing in a proxy can follow.
pub(crate) fn notes(spec: &MCPOIDCConfigSpec) -> Vec<String> {
    let cluster = spec.kubernetes_service_account.as_ref();
    let one_account = cluster.is_some_and(|it| it.service_account.is_some() || it.namespace.is_some());
    let private_resource = spec.inline.as_ref().is_some_and(|it| it.protected_resource_allow_private_ip);
    let account = "kubernetesServiceAccount.serviceAccount and .namespace have no effect: tokens of every service \
                   account with the audience are accepted; restrict callers with authorization rules";
    let private =
        "inline.protectedResourceAllowPrivateIP has no effect: the proxy does not fetch its own metadata";
    [(one_account, account), (private_resource, private)]
        .into_iter()
        .filter(|(applies, _)| *applies)
        .map(|(_, note)| note.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_spec(spec: serde_json::Value) -> Result<(), String> {
        validate(&serde_json::from_value(spec).unwrap()).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn sound_providers_are_valid() {
        check_spec(json!({"type": "inline", "inline": {"issuer": "https://idp.example"}})).unwrap();
        check_spec(json!({"type": "kubernetesServiceAccount", "kubernetesServiceAccount": {}})).unwrap();
        let http = json!({"issuer": "http://idp", "jwksUrl": "http://idp/keys", "insecureAllowHTTP": true});
        check_spec(json!({"type": "inline", "inline": http})).unwrap();
    }

    #[test]
    fn nonsense_is_told_with_its_place() {
        for (spec, part) in [
            (json!({"type": "inline"}), "inline: is missing"),
            (
                json!({"type": "inline", "inline": {"issuer": "https://i"}, "kubernetesServiceAccount": {}}),
                "kubernetesServiceAccount: does not belong",
            ),
            (json!({"type": "inline", "inline": {"issuer": "http://i"}}), "inline.issuer: is an http URL"),
            (json!({"type": "inline", "inline": {"issuer": "idp"}}), "inline.issuer: is not a URL"),
            (
                json!({"type": "inline", "inline": {"issuer": "https://i", "jwksUrl": "http://i/k"}}),
                "inline.jwksUrl: is an http URL",
            ),
        ] {
            let error = check_spec(spec).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_has_no_effect_is_noted() {
        let spec =
            json!({"type": "kubernetesServiceAccount", "kubernetesServiceAccount": {"serviceAccount": "a"}});
        assert_eq!(notes(&serde_json::from_value(spec).unwrap()).len(), 1);
    }
}
