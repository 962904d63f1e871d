//! Issuers whose tokens the authorization server accepts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::RESOURCE_URL;
use crate::schema::cel;
use crate::value::GoDuration;

/// An issuer whose tokens can be exchanged for ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "!has(self.allowedDelegateClients) || !('*' in self.allowedDelegateClients) || \
         size(self.allowedDelegateClients) == 1",
        "allowedDelegateClients is either \"*\" alone or a list of client ids",
    ),
    (
        "!(has(self.allowMayAct) && self.allowMayAct && '*' in self.allowedDelegateClients)",
        "allowMayAct needs the delegate clients named one by one, not \"*\"",
    ),
    (
        "!has(self.actorClaim) || !(self.actorClaim in ['sub', 'iss', 'aud', 'exp', 'iat', 'nbf', \
         'jti', 'name', 'email', 'scope', 'scp', 'may_act'])",
        "actorClaim names a reserved claim: take client_id, azp, appid, cid or another claim \
         that identifies the client",
    ),
    (
        "!(has(self.allowPrivateIPs) && self.allowPrivateIPs) || (has(self.jwksUrl) && self.jwksUrl \
         != \"\")",
        "allowPrivateIPs needs a jwksUrl",
    ),
    (
        "(has(self.jwtBearerGrant) && !((has(self.actorClaim) && size(self.actorClaim) > 0) || \
         (has(self.actorMatcher) && size(self.actorMatcher) > 0) || (has(self.allowMayAct) && \
         self.allowMayAct) || (has(self.allowedActors) && size(self.allowedActors) > 0))) || \
         (has(self.expectedAudience) && size(self.expectedAudience) > 0)",
        "set expectedAudience; only an issuer with nothing but a jwtBearerGrant can do without",
    ),
    (
        "!((has(self.expectedAudience) && size(self.expectedAudience) > 0) || (has(self.actorClaim) \
         && size(self.actorClaim) > 0) || (has(self.actorMatcher) && size(self.actorMatcher) > 0) || \
         (has(self.allowMayAct) && self.allowMayAct)) || (has(self.allowedDelegateClients) && \
         size(self.allowedDelegateClients) > 0)",
        "expectedAudience, actorClaim, actorMatcher and allowMayAct are about delegation: name \
         the allowedDelegateClients",
    ),
])))]
pub struct TrustedIssuer {
    /// Its issuer URL, as in the `iss` claim.
    #[schemars(length(min = 1, max = 2048))]
    pub issuer_url: String,

    /// Where its keys are. Found by discovery when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub jwks_url: Option<String>,

    /// Audience that its tokens must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub expected_audience: Option<String>,

    /// Whether plain http is fine. For tests only.
    #[serde(rename = "insecureAllowHTTP", default, skip_serializing_if = "Option::is_none")]
    pub insecure_allow_http: Option<bool>,

    /// Whether its keys may be fetched from a private address. Needs `jwksUrl`.
    #[serde(rename = "allowPrivateIPs", default, skip_serializing_if = "Option::is_none")]
    pub allow_private_ips: Option<bool>,

    /// Claim of the token that names who acts, such as `azp` or `client_id`. `azp` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub actor_claim: Option<String>,

    /// CEL expression over the claims that says whether the actor is acceptable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub actor_matcher: Option<String>,

    /// Actors that are acceptable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 50),
        inner(length(min = 1, max = 256)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub allowed_actors: Option<Vec<String>>,

    /// Our clients that may exchange these tokens. A single `*` stands for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 50),
        inner(length(min = 1, max = 256)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub allowed_delegate_clients: Option<Vec<String>>,

    /// Whether the `may_act` claim of the token decides who may act.
    #[serde(default)]
    pub allow_may_act: bool,

    /// Accept its tokens as assertions by themselves, without a client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwt_bearer_grant: Option<JwtBearerGrant>,
}

/// Tokens as assertions, for workloads that have no client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "duration(self.maxAssertionAge) > duration('0s')",
        "maxAssertionAge must be longer than nothing, such as 5m",
    ),
    (
        "self.subjectBindings.all(binding, self.subjectBindings.filter(other, other.subject == \
         binding.subject).size() == 1)",
        "a subject can have one binding: merge those that name the same subject",
    ),
])))]
pub struct JwtBearerGrant {
    /// Subjects that are accepted, each once.
    #[schemars(length(min = 1, max = 50), extend("x-kubernetes-list-type" = "atomic"))]
    pub subject_bindings: Vec<SubjectBinding>,

    /// Audiences that assertions may have..
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 50),
        inner(length(min = 1, max = 2048), regex(pattern = RESOURCE_URL)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub accepted_audiences: Option<Vec<String>>,

    /// How old an assertion may be.
    #[schemars(with = "String")]
    pub max_assertion_age: GoDuration,
}

/// What one subject may get a token for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubjectBinding {
    /// The subject, as in the `sub` claim. No wildcards.
    #[schemars(length(min = 1, max = 256), regex(pattern = "^[^*]+$"))]
    pub subject: String,

    /// Resources it may ask for, as URLs.
    #[schemars(
        length(min = 1, max = 50),
        inner(length(min = 1, max = 2048), regex(pattern = RESOURCE_URL)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub allowed_resources: Vec<String>,
}
