//! What servers elsewhere need.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::nanoseconds::Nanoseconds;
use crate::secret::{Credential, Guarded};
use crate::value::{is_zero, port};

/// The time that Go writes when there is none.
const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// How the proxy signs in at a remote server.
///
/// Older documents spell the keys as Go spells its fields. Both spellings are read, the present one is
/// written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteAuthConfig {
    /// OAuth client.
    #[serde(alias = "ClientID", skip_serializing_if = "is_zero")]
    pub client_id: String,

    /// Secret of the client, or its name at the secrets provider. Only a name can be written.
    #[serde(alias = "ClientSecret", skip_serializing_if = "is_zero")]
    pub client_secret: Credential,

    /// File with the secret of the client.
    #[serde(alias = "ClientSecretFile", skip_serializing_if = "is_zero")]
    pub client_secret_file: String,

    /// Scopes to ask for.
    #[serde(alias = "Scopes", skip_serializing_if = "is_zero")]
    pub scopes: Vec<String>,

    /// Whether no browser is opened.
    #[serde(alias = "SkipBrowser", skip_serializing_if = "is_zero")]
    pub skip_browser: bool,

    /// How long signing in may take.
    #[serde(alias = "Timeout", skip_serializing_if = "is_zero")]
    pub timeout: Nanoseconds,

    /// Port that the browser returns to.
    #[serde(alias = "CallbackPort", skip_serializing_if = "is_zero", deserialize_with = "port")]
    pub callback_port: u16,

    /// Whether the code is bound to this client (RFC 7636).
    #[serde(alias = "UsePKCE")]
    pub use_pkce: bool,

    /// Resource to ask for (RFC 8707).
    #[serde(alias = "Resource", skip_serializing_if = "is_zero")]
    pub resource: String,

    /// Issuer. Discovered when empty.
    #[serde(alias = "Issuer", skip_serializing_if = "is_zero")]
    pub issuer: String,

    /// Where users sign in. Discovered when empty.
    #[serde(alias = "AuthorizeURL", skip_serializing_if = "is_zero")]
    pub authorize_url: String,

    /// Where tokens are issued. Discovered when empty.
    #[serde(alias = "TokenURL", skip_serializing_if = "is_zero")]
    pub token_url: String,

    /// Headers, as a registry describes them.
    #[serde(alias = "Headers", skip_serializing_if = "is_zero")]
    pub headers: Json,

    /// Environment variables, as a registry describes them.
    #[serde(alias = "EnvVars", skip_serializing_if = "is_zero")]
    pub env_vars: Json,

    /// Further parameters of the authorization request.
    #[serde(alias = "OAuthParams", skip_serializing_if = "is_zero")]
    pub oauth_params: Guarded<BTreeMap<String, String>>,

    /// Name of the parameter for scopes, where a server has its own.
    #[serde(skip_serializing_if = "is_zero")]
    pub scope_param_name: String,

    /// A token, or its name at the secrets provider. Only a name can be written.
    #[serde(alias = "BearerToken", skip_serializing_if = "is_zero")]
    pub bearer_token: Credential,

    /// File with a token.
    #[serde(alias = "BearerTokenFile", skip_serializing_if = "is_zero")]
    pub bearer_token_file: String,

    /// Name of the refresh token at the secrets provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_refresh_token_ref: String,

    /// When the token ends.
    pub cached_token_expiry: String,

    /// Client that was registered.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_client_id: String,

    /// Name of that client's secret at the secrets provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_client_secret_ref: String,

    /// When that secret ends.
    pub cached_secret_expiry: String,

    /// Name of the registration token at the secrets provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_reg_token_ref: String,

    /// URL that served as client id.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_cimd_client_id: String,

    /// Where the registration can be changed.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_reg_client_uri: String,

    /// How the registered client authenticates.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_token_auth_method: String,

    /// Port that was registered for the browser to return to.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "port")]
    pub cached_dcr_callback_port: u16,
}

impl Default for RemoteAuthConfig {
    fn default() -> Self {
        Self {
            client_id: String::new(),
            client_secret: Credential::default(),
            client_secret_file: String::new(),
            scopes: Vec::new(),
            skip_browser: false,
            timeout: Nanoseconds::default(),
            callback_port: 0,
            use_pkce: false,
            resource: String::new(),
            issuer: String::new(),
            authorize_url: String::new(),
            token_url: String::new(),
            headers: Json::Null,
            env_vars: Json::Null,
            oauth_params: Guarded::default(),
            scope_param_name: String::new(),
            bearer_token: Credential::default(),
            bearer_token_file: String::new(),
            cached_refresh_token_ref: String::new(),
            cached_token_expiry: NO_TIME.to_owned(),
            cached_client_id: String::new(),
            cached_client_secret_ref: String::new(),
            cached_secret_expiry: NO_TIME.to_owned(),
            cached_reg_token_ref: String::new(),
            cached_cimd_client_id: String::new(),
            cached_reg_client_uri: String::new(),
            cached_token_auth_method: String::new(),
            cached_dcr_callback_port: 0,
        }
    }
}

/// Headers to add to every request to the remote server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeaderForwardConfig {
    /// Headers with their values.
    #[serde(skip_serializing_if = "is_zero")]
    pub add_plaintext_headers: Guarded<BTreeMap<String, String>>,

    /// Headers with the names of their values at the secrets provider.
    #[serde(skip_serializing_if = "is_zero")]
    pub add_headers_from_secret: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bearer_token_is_written_as_a_reference() {
        let config = RemoteAuthConfig {
            bearer_token: Credential::new("api-keys,target=bearer_token"),
            ..RemoteAuthConfig::default()
        };
        assert_eq!(
            serde_json::to_string(&config).unwrap(),
            r#"{"use_pkce":false,"bearer_token":"api-keys,target=bearer_token","#.to_owned()
                + r#""cached_token_expiry":"0001-01-01T00:00:00Z","cached_secret_expiry":"0001-01-01T00:00:00Z"}"#
        );
    }

    #[test]
    fn older_spellings_are_read() {
        let text = r#"{"ClientID":"a","UsePKCE":true,"Scopes":["b"],"Timeout":5,"CallbackPort":8666}"#;
        let json: Json = serde_json::from_str(text).unwrap();
        let decoded = json.decode::<RemoteAuthConfig>().unwrap();
        assert_eq!(decoded.unknown, Vec::<String>::new());
        let expected = RemoteAuthConfig {
            client_id: "a".to_owned(),
            use_pkce: true,
            scopes: vec!["b".to_owned()],
            timeout: Nanoseconds(5),
            callback_port: 8666,
            ..RemoteAuthConfig::default()
        };
        assert_eq!(decoded.value, expected);
    }

    #[test]
    fn two_spellings_of_one_key_are_refused() {
        let json: Json = serde_json::from_str(r#"{"client_id":"a","ClientID":"b"}"#).unwrap();
        assert!(json.decode::<RemoteAuthConfig>().is_err());
    }
}
