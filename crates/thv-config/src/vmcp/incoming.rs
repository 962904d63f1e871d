//! Who may call.

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use crate::value::is_zero;

/// Who may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Keys", into = "Keys")]
pub struct IncomingAuth {
    /// How callers prove who they are.
    pub callers: Callers,

    /// Who of them may call what. All may call everything when absent.
    pub authz: Option<Authz>,
}

/// How callers prove who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callers {
    /// They do not.
    Anonymous,
    /// They are the user whom the program runs as.
    Local,
    /// By a token of an identity provider.
    Oidc(Box<IncomingOidc>),
}

/// Whose tokens callers must bring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct IncomingOidc {
    /// Issuer that tokens must name.
    pub issuer: String,

    /// Client for introspection.
    pub client_id: String,

    /// Environment variable with the secret of the client.
    #[serde(skip_serializing_if = "is_zero")]
    pub client_secret_env: String,

    /// Audience that tokens must name.
    pub audience: String,

    /// The resource that this server is, for protected resource metadata.
    #[serde(skip_serializing_if = "is_zero")]
    pub resource: String,

    /// Where the keys of the issuer are. Discovered when empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub jwks_url: String,

    /// Where opaque tokens are looked up.
    #[serde(skip_serializing_if = "is_zero")]
    pub introspection_url: String,

    /// Scopes to advertise.
    #[serde(skip_serializing_if = "is_zero")]
    pub scopes: Vec<String>,

    /// Whether the protected resource metadata may name a private address.
    #[serde(skip_serializing_if = "is_zero")]
    pub protected_resource_allow_private_ip: bool,

    /// Whether the keys may be fetched from a private address.
    #[serde(skip_serializing_if = "is_zero")]
    pub jwks_allow_private_ip: bool,

    /// Whether the issuer may be reached without TLS.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_allow_http: bool,

    /// File with the certificate authorities to trust.
    #[serde(skip_serializing_if = "is_zero")]
    pub ca_bundle_path: String,

    /// File with a token for requests to the issuer. Go has no such key, and so cannot fetch the keys of a
    /// cluster that wants to know who asks.
    #[serde(skip_serializing_if = "is_zero")]
    pub jwks_auth_token_path: String,
}

string_enum! {
    /// What decides.
    pub enum AuthzType {
        /// Cedar policies.
        Cedar = "cedar",
        /// Nothing: everything is allowed.
        None = "none",
    }
}

/// Who may call what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Authz {
    /// What decides.
    #[serde(rename = "type")]
    pub type_: AuthzType,

    /// Policies, one in each text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub policies: Vec<String>,

    /// Entities, as Cedar writes them in JSON. None when empty.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub entities_json: String,

    /// Upstream provider whose token has the claims.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub primary_upstream_provider: String,

    /// Claim with the groups of the caller.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub group_claim_name: String,

    /// Claim with the roles of the caller.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub role_claim_name: String,

    /// Entity type of groups. `THVGroup` when absent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub group_entity_type: String,

    /// Claims that are sets of words. Go has no such key here, and so decides otherwise than a proxy with the
    /// same policies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub multi_valued_claims: Vec<String>,
}

string_enum! {
    /// The spellings of [`Callers`].
    pub enum CallersType {
        /// They prove nothing.
        Anonymous = "anonymous",
        /// They are the user whom the program runs as.
        Local = "local",
        /// They bring a token.
        Oidc = "oidc",
    }
}

/// The keys as they stand in the document.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Keys {
    #[serde(rename = "type")]
    type_: CallersType,

    #[serde(default, skip_serializing_if = "is_zero")]
    oidc: Option<Box<IncomingOidc>>,

    #[serde(default, skip_serializing_if = "is_zero")]
    authz: Option<Authz>,
}

impl TryFrom<Keys> for IncomingAuth {
    type Error = &'static str;

    fn try_from(Keys { type_, oidc, authz }: Keys) -> Result<Self, &'static str> {
        let callers = match (type_, oidc) {
            (CallersType::Anonymous, None) => Callers::Anonymous,
            (CallersType::Local, None) => Callers::Local,
            (CallersType::Oidc, Some(oidc)) => Callers::Oidc(oidc),
            (CallersType::Oidc, None) => {
                return Err("has the type oidc, and the key oidc is missing: name the identity provider");
            }
            // Whoever wrote the block believes that it protects something.
            (CallersType::Anonymous | CallersType::Local, Some(_)) => {
                return Err("has the key oidc, and its type is another: write type: oidc, or remove the key");
            }
        };
        Ok(Self { callers, authz })
    }
}

impl From<IncomingAuth> for Keys {
    fn from(IncomingAuth { callers, authz }: IncomingAuth) -> Self {
        let (type_, oidc) = match callers {
            Callers::Anonymous => (CallersType::Anonymous, None),
            Callers::Local => (CallersType::Local, None),
            Callers::Oidc(oidc) => (CallersType::Oidc, Some(oidc)),
        };
        Self { type_, oidc, authz }
    }
}
