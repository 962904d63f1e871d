//! Rate limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::cel;
use crate::value::GoDuration;

/// Limits on calls. A call has to pass all limits that apply to it. Needs session storage in Redis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "has(self.shared) || has(self.perUser) || (has(self.tools) && size(self.tools) > 0)",
        "set shared, perUser or tools: rate limiting with none of them limits nothing",
    ),
])))]
pub struct RateLimiting {
    /// Limit over all callers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<RateLimitBucket>,

    /// Limit for every caller by itself. Needs authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_user: Option<RateLimitBucket>,

    /// Further limits on single tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub tools: Option<Vec<ToolRateLimit>>,
}

/// A token bucket. A call takes a token; without a token left it is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitBucket {
    /// Size of the bucket: how many calls may come at once.
    #[schemars(range(min = 1))]
    pub max_tokens: i32,

    /// Time in which an empty bucket becomes full, such as `1m`.
    #[schemars(with = "String")]
    pub refill_period: GoDuration,
}

/// Limits on one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "has(self.shared) || has(self.perUser)",
        "set shared, perUser or both: a limit with neither limits nothing",
    ),
])))]
pub struct ToolRateLimit {
    /// Name of the tool.
    #[schemars(length(min = 1))]
    pub name: String,

    /// Limit over all callers together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<RateLimitBucket>,

    /// Limit for every caller by itself. Needs authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_user: Option<RateLimitBucket>,
}
