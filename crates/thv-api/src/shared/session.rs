//! Where sessions are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::cel;
use crate::shared::SecretKeyRef;
use crate::value::string_enum;

/// Where sessions are kept. More than one replica needs Redis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "self.provider == 'redis' ? has(self.address) : true",
        "provider redis needs an address",
    ),
])))]
pub struct SessionStorage {
    /// Kind of store.
    pub provider: SessionProvider,

    /// Address of Redis, as `host:port`. Required for `redis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub address: Option<String>,

    /// Number of the Redis database.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub db: i32,

    /// Prefix of all Redis keys. By default it contains namespace and name, so that servers do not see each
    /// other's sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_prefix: Option<String>,

    /// Password of Redis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_ref: Option<SecretKeyRef>,
}

string_enum! {
    /// Kinds of session stores.
    pub enum SessionProvider {
        /// In the memory of one pod. Sessions end with it.
        Memory = "memory",
        /// In Redis, shared by all replicas.
        Redis = "redis",
    }
}

string_enum! {
    /// How a Service spreads connections over pods.
    pub enum SessionAffinity {
        /// Connections from one address go to one pod.
        ClientIP = "ClientIP",
        /// Any connection goes to any pod.
        None = "None",
    }
    default ClientIP
}
