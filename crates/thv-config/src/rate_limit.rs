//! Rate limits.

use serde::{Deserialize, Serialize};
use thv_value::GoDuration;

use crate::value::is_zero;

/// Limits on calls. A call has to pass all that apply to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RateLimitConfig {
    /// Limit over all callers together.
    #[serde(skip_serializing_if = "is_zero")]
    pub shared: Option<RateLimitBucket>,

    /// Limit for every caller by itself.
    #[serde(skip_serializing_if = "is_zero")]
    pub per_user: Option<RateLimitBucket>,

    /// Further limits on single tools.
    #[serde(skip_serializing_if = "is_zero")]
    pub tools: Vec<ToolRateLimit>,
}

/// A token bucket. A call takes a token; without a token left it is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitBucket {
    /// Size of the bucket.
    pub max_tokens: i32,

    /// Time in which an empty bucket becomes full.
    pub refill_period: GoDuration,
}

/// Limits on one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ToolRateLimit {
    /// Name of the tool.
    pub name: String,

    /// Limit over all callers together.
    #[serde(skip_serializing_if = "is_zero")]
    pub shared: Option<RateLimitBucket>,

    /// Limit for every caller by itself.
    #[serde(skip_serializing_if = "is_zero")]
    pub per_user: Option<RateLimitBucket>,
}
