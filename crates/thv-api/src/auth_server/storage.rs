//! Where the authorization server keeps its state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::cel;
use crate::shared::SecretKeyRef;
use crate::value::{GoDuration, string_enum};

/// Where the authorization server keeps its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthServerStorage {
    /// Kind of store.
    #[serde(rename = "type", default)]
    pub type_: AuthServerStorageType,

    /// How to reach Redis. For type `redis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redis: Option<RedisStorage>,
}

string_enum! {
    /// Kinds of stores for the authorization server.
    pub enum AuthServerStorageType {
        /// In the memory of the proxy. Everyone signs in again after a restart.
        Memory = "memory",
        /// In Redis, shared by all replicas.
        Redis = "redis",
    }
    default Memory
}

/// How to reach Redis. Give either `addr` or `sentinelConfig`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "(has(self.addr) && self.addr.size() > 0) != has(self.sentinelConfig)",
        "set either addr or sentinelConfig",
    ),
    (
        "!(has(self.clusterMode) && self.clusterMode) || (has(self.addr) && self.addr.size() > 0)",
        "clusterMode needs the addr of the cluster",
    ),
])))]
pub struct RedisStorage {
    /// Address, as `host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addr: Option<String>,

    /// Whether the address is that of a Redis Cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_mode: Option<bool>,

    /// How to find the master through Sentinel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentinel_config: Option<RedisSentinel>,

    /// User to connect as.
    pub acl_user_config: RedisUser,

    /// How long connecting may take.
    #[serde(default = "default_dial_timeout")]
    pub dial_timeout: GoDuration,

    /// How long a read may take.
    #[serde(default = "default_read_timeout")]
    pub read_timeout: GoDuration,

    /// How long a write may take.
    #[serde(default = "default_write_timeout")]
    pub write_timeout: GoDuration,

    /// Connect to Redis over TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<RedisTls>,

    /// Connect to Sentinel over TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentinel_tls: Option<RedisTls>,
}

/// How to find the Redis master through Sentinel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedisSentinel {
    /// Name of the master that Sentinel watches.
    pub master_name: String,

    /// Addresses of the Sentinels, as `host:port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub sentinel_addrs: Option<Vec<String>>,

    /// Service to find the Sentinels by, in place of addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentinel_service: Option<SentinelService>,

    /// Number of the database.
    #[serde(default)]
    pub db: i32,
}

/// A Service in front of the Sentinels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentinelService {
    /// Name of the Service.
    pub name: String,

    /// Namespace of the Service. That of this object when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,

    /// Port of Sentinel.
    #[serde(default = "default_port")]
    pub port: i32,
}

/// Credentials for Redis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedisUser {
    /// User name. The default user when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username_secret_ref: Option<SecretKeyRef>,

    /// Password.
    pub password_secret_ref: SecretKeyRef,
}

/// TLS towards Redis. Being present is enough to use it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RedisTls {
    /// Certificate authority to trust. Those of the system when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_cert_secret_ref: Option<SecretKeyRef>,

    /// Whether to accept any certificate. For tests only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure_skip_verify: Option<bool>,
}

fn default_dial_timeout() -> GoDuration {
    GoDuration::literal("5s", 5)
}

fn default_read_timeout() -> GoDuration {
    GoDuration::literal("3s", 3)
}

fn default_write_timeout() -> GoDuration {
    GoDuration::literal("3s", 3)
}

fn default_port() -> i32 {
    26_379
}
