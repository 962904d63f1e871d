//! Replicas, and the sessions that they share.

use serde::{Deserialize, Serialize};

use crate::value::is_zero;

/// Replicas, and the sessions that they share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScalingConfig {
    /// Replicas of the backend. Absent: nobody's business but an autoscaler's. Zero is a number like others.
    #[serde(skip_serializing_if = "is_zero")]
    pub backend_replicas: Option<i32>,

    /// Redis for sessions. Its password comes by environment variable.
    #[serde(skip_serializing_if = "is_zero")]
    pub session_redis: Option<SessionRedis>,
}

/// Redis for sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionRedis {
    /// Address, as `host:port`.
    #[serde(skip_serializing_if = "is_zero")]
    pub address: String,

    /// Number of the database.
    #[serde(skip_serializing_if = "is_zero")]
    pub db: i32,

    /// Prefix of all keys.
    #[serde(skip_serializing_if = "is_zero")]
    pub key_prefix: String,
}
