//! Where sessions are kept.

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use crate::value::is_zero;

string_enum! {
    /// Kinds of stores.
    pub enum SessionProvider {
        /// The memory of the program.
        Memory = "memory",
        /// Redis, which all replicas share.
        Redis = "redis",
    }
}

/// Where sessions are kept. The password of Redis comes by environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStorage {
    /// Kind of store.
    pub provider: SessionProvider,

    /// Address of Redis, as `host:port`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub address: String,

    /// Number of the Redis database.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub db: i32,

    /// Prefix of all keys in Redis.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub key_prefix: String,
}
