//! Sessions in Redis.

/// What all keys of a server's sessions begin with, unless its user says otherwise. Servers that share a Redis do
/// not take each other's sessions for their own.
pub fn default_key_prefix(namespace: &str, name: &str) -> String {
    format!("thv:proxy:session:{namespace}:{name}:")
}
