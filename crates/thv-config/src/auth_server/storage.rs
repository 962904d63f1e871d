//! Where the authorization server keeps its state.

use serde::{Deserialize, Serialize};
use thv_value::{GoDuration, string_enum};

use crate::value::{empty_is_none, is_zero};

string_enum! {
    /// Kinds of stores.
    #[derive(Default)]
    pub enum AuthServerStorageType {
        /// In the memory of the proxy.
        #[default]
        Memory = "memory",
        /// In Redis, shared by all replicas.
        Redis = "redis",
    }
}

string_enum! {
    /// Ways to authenticate to Redis.
    #[derive(Default)]
    pub enum RedisAuthType {
        /// As a user with a password.
        #[default]
        AclUser = "aclUser",
    }
}

/// Where the authorization server keeps its state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthServerStorage {
    /// Kind of store.
    #[serde(rename = "type")]
    pub type_: AuthServerStorageType,

    /// How to reach Redis. For type `redis`.
    #[serde(skip_serializing_if = "is_zero")]
    pub redis_config: Option<RedisStorage>,
}

/// How to reach Redis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedisStorage {
    /// Address, as `host:port`.
    #[serde(skip_serializing_if = "is_zero")]
    pub addr: String,

    /// Whether the address is that of a Redis Cluster.
    #[serde(skip_serializing_if = "is_zero")]
    pub cluster_mode: bool,

    /// How to find the master through Sentinel.
    #[serde(skip_serializing_if = "is_zero")]
    pub sentinel_config: Option<RedisSentinel>,

    /// How to authenticate.
    pub auth_type: RedisAuthType,

    /// User to connect as.
    #[serde(skip_serializing_if = "is_zero")]
    pub acl_user_config: Option<RedisUser>,

    /// Prefix of all keys.
    pub key_prefix: String,

    /// How long connecting may take.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub dial_timeout: Option<GoDuration>,

    /// How long a read may take.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub read_timeout: Option<GoDuration>,

    /// How long a write may take.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub write_timeout: Option<GoDuration>,

    /// TLS towards Redis.
    #[serde(skip_serializing_if = "is_zero")]
    pub tls: Option<RedisTls>,

    /// TLS towards Sentinel.
    #[serde(skip_serializing_if = "is_zero")]
    pub sentinel_tls: Option<RedisTls>,
}

/// How to find the Redis master through Sentinel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedisSentinel {
    /// Name of the master that Sentinel watches.
    pub master_name: String,

    /// Addresses of the Sentinels, as `host:port`.
    pub sentinel_addrs: Vec<String>,

    /// Number of the database.
    #[serde(skip_serializing_if = "is_zero")]
    pub db: i32,
}

/// User to connect as, by the environment variables that name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedisUser {
    /// Environment variable with the user name. The default user when empty.
    pub username_env_var: String,

    /// Environment variable with the password.
    pub password_env_var: String,
}

/// TLS towards Redis. Being present is enough to use it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedisTls {
    /// Whether any certificate is accepted. For tests only.
    #[serde(skip_serializing_if = "is_zero")]
    pub insecure_skip_verify: bool,

    /// File with the certificate authorities to trust. Those of the system when empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub ca_cert_file: String,
}
