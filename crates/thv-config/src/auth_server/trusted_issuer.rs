//! Issuers whose tokens are accepted in exchange for our own.

use serde::{Deserialize, Serialize};
use thv_value::GoDuration;

use crate::value::is_zero;

/// An issuer whose tokens are accepted in exchange for our own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrustedIssuer {
    /// URL of the issuer.
    pub issuer_url: String,

    /// Audience that its tokens must name.
    pub expected_audience: String,

    /// Where its keys are. Discovered when empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub jwks_url: String,

    /// Whether it may be reached without TLS.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_allow_http: bool,

    /// Whether it may have a private address.
    #[serde(skip_serializing_if = "is_zero")]
    pub allow_private_ips: bool,

    /// Claim that names the actor. `azp` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub actor_claim: String,

    /// Actors that are accepted.
    #[serde(skip_serializing_if = "is_zero")]
    pub allowed_actors: Vec<String>,

    /// Expression that accepts actors.
    #[serde(skip_serializing_if = "is_zero")]
    pub actor_matcher: String,

    /// Delegate clients that may present its tokens; `*` means all.
    #[serde(skip_serializing_if = "is_zero")]
    pub allowed_delegate_clients: Vec<String>,

    /// Whether its tokens may say who may act (RFC 8693).
    #[serde(skip_serializing_if = "is_zero")]
    pub allow_may_act: bool,

    /// Its tokens as authorization grants (RFC 7523).
    #[serde(skip_serializing_if = "is_zero")]
    pub jwt_bearer_grant: Option<JwtBearerGrant>,
}

/// Tokens as authorization grants (RFC 7523).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JwtBearerGrant {
    /// How old a token may be.
    pub max_assertion_age: GoDuration,

    /// Which subject may reach what.
    #[serde(default)]
    pub subject_bindings: Vec<SubjectBinding>,

    /// Audiences that are accepted besides our own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub accepted_audiences: Vec<String>,
}

/// What a subject may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SubjectBinding {
    /// The subject.
    pub subject: String,

    /// Resources that it may reach.
    pub allowed_resources: Vec<String>,
}
