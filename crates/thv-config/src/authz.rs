//! Documents that say who may do what.

use serde::{Deserialize, Serialize};

use crate::secret::Guarded;
use crate::value::is_zero;

/// An authorization document.
///
/// In a [`RunConfig`](crate::RunConfig) it stands as it is, because authorizers may define documents of their
/// own; [`Json::decode`](crate::Json::decode) and [`Json::of`](crate::Json::of) convert.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthzDocument {
    /// Version of the form of the document.
    pub version: String,

    /// Which authorizer decides: [`Self::CEDAR`] or [`Self::HTTP`].
    #[serde(rename = "type")]
    pub type_: String,

    /// For [`Self::CEDAR`].
    #[serde(skip_serializing_if = "is_zero")]
    pub cedar: Option<CedarConfig>,

    /// For [`Self::HTTP`].
    #[serde(skip_serializing_if = "is_zero")]
    pub pdp: Option<PdpConfig>,
}

impl AuthzDocument {
    /// The version that is written.
    pub const VERSION: &str = "1.0";
    /// Decisions by Cedar policies.
    pub const CEDAR: &str = "cedarv1";
    /// Decisions by a service that is asked over HTTP.
    pub const HTTP: &str = "httpv1";

    /// A document of Cedar policies.
    pub fn cedar(config: CedarConfig) -> Self {
        let (version, type_) = (Self::VERSION.to_owned(), Self::CEDAR.to_owned());
        Self { version, type_, cedar: Some(config), pdp: None }
    }
}

/// Cedar policies and what they are evaluated with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CedarConfig {
    /// Policies, one in each text.
    pub policies: Vec<String>,

    /// Entities, as Cedar writes them in JSON.
    pub entities_json: String,

    /// Upstream provider whose token has the claims.
    #[serde(skip_serializing_if = "is_zero")]
    pub primary_upstream_provider: String,

    /// Claim with the groups of the caller.
    #[serde(skip_serializing_if = "is_zero")]
    pub group_claim_name: String,

    /// Claim with the roles of the caller.
    #[serde(skip_serializing_if = "is_zero")]
    pub role_claim_name: String,

    /// Entity type of groups. `THVGroup` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub group_entity_type: String,

    /// Claims that are sets of words.
    #[serde(skip_serializing_if = "is_zero")]
    pub multi_valued_claims: Vec<String>,
}

/// A service that decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PdpConfig {
    /// How to reach it.
    #[serde(skip_serializing_if = "is_zero")]
    pub http: Option<PdpHttp>,

    /// What it is told besides who and what.
    #[serde(skip_serializing_if = "is_zero")]
    pub context: Option<PdpContext>,

    /// How claims are handed over: `mpe` or `standard`.
    #[serde(skip_serializing_if = "is_zero")]
    pub claim_mapping: String,
}

/// How to reach a service that decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PdpHttp {
    /// Where it is.
    pub url: Guarded<String>,

    /// How many seconds an answer may take. 30 when zero.
    #[serde(skip_serializing_if = "is_zero")]
    pub timeout: i64,

    /// Whether any certificate is accepted. For tests only.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_skip_verify: bool,
}

/// What a service that decides is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PdpContext {
    /// Whether it is told the arguments of a call.
    #[serde(skip_serializing_if = "is_zero")]
    pub include_args: bool,

    /// Whether it is told the operation.
    #[serde(skip_serializing_if = "is_zero")]
    pub include_operation: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Json;

    #[test]
    fn a_cedar_document_has_its_keys_in_order() {
        let document = AuthzDocument::cedar(CedarConfig {
            policies: vec!["permit(principal, action, resource);".to_owned()],
            group_claim_name: "groups".to_owned(),
            ..CedarConfig::default()
        });
        let json = Json::of(&document).unwrap();
        assert_eq!(
            serde_json::to_string(&json).unwrap(),
            r#"{"version":"1.0","type":"cedarv1","cedar":{"policies":["permit(principal, action, resource);"],"#
                .to_owned()
                + r#""entities_json":"","group_claim_name":"groups"}}"#
        );
        assert_eq!(json.decode::<AuthzDocument>().unwrap().value, document);
    }

    #[test]
    fn a_document_for_a_service_is_read() {
        let text = r#"{"version":"1.0","type":"httpv1","pdp":{"http":{"url":"https://pdp","timeout":5},
            "context":{"include_args":true},"claim_mapping":"standard"}}"#;
        let decoded = serde_json::from_str::<Json>(text).unwrap().decode::<AuthzDocument>().unwrap();
        assert_eq!(decoded.unknown, Vec::<String>::new());
        let pdp = decoded.value.pdp.unwrap();
        assert_eq!((pdp.http.unwrap().timeout, pdp.claim_mapping.as_str()), (5, "standard"));
    }
}
