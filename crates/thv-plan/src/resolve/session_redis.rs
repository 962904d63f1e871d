//! Where sessions are kept, if not in memory.

use thv_api::conditions::mcp_server::Ready;
use thv_api::shared::{SecretKeyRef, SessionProvider, SessionStorage};

use super::flaw::Flaws;
use super::need::{Need, check};
use super::outcome::{Hitch, Outcome, outcome};
use crate::reference::References;
use crate::settings::{DefaultRedis, Settings};

/// A Redis that keeps sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRedis {
    /// `host:port`.
    pub address: String,
    /// The number of the database.
    pub db: i32,
    /// What all keys begin with, with a colon at the end.
    pub key_prefix: String,
    /// Where the password is.
    pub password: Option<SecretKeyRef>,
}

/// The password of the Redis that a server names.
pub(super) fn needs(storage: &SessionStorage) -> Vec<Need> {
    let SessionStorage { provider, address: _, db: _, key_prefix: _, password_ref } = storage;
    match provider {
        SessionProvider::Memory => Vec::new(),
        SessionProvider::Redis => {
            password_ref.iter().map(|secret| Need::secret("sessionStorage.passwordRef", secret)).collect()
        }
    }
}

/// What becomes of the storage that a server asks for, or of the one that the operator gives to all that do not
/// ask.
pub(super) fn resolve(
    storage: Option<&SessionStorage>,
    settings: &Settings,
    references: &References,
    key_prefix: String,
) -> Outcome<SessionRedis, Ready> {
    let redis = match (storage, &settings.default_redis) {
        (Some(storage), _) => match storage.provider {
            SessionProvider::Memory => return Outcome::NotReferenced,
            SessionProvider::Redis => named(storage, references, key_prefix),
        },
        (None, Some(default)) => default_redis(default, references, key_prefix),
        (None, None) => return Outcome::NotReferenced,
    };
    outcome(redis, Ready::NotReady, Ready::NotReady)
}

fn named(storage: &SessionStorage, references: &References, default: String) -> Result<SessionRedis, Hitch> {
    let SessionStorage { provider: _, address, db, key_prefix, password_ref } = storage;
    let address = address.clone().unwrap_or_default();
    let key_prefix = key_prefix.clone().filter(|prefix| !prefix.is_empty()).unwrap_or(default);
    let mut flaws = Flaws::default();
    flaws.required(&address, "sessionStorage.address");
    flaws.unless(key_prefix.ends_with(':'), "sessionStorage.keyPrefix", "does not end with a colon: add one");
    flaws.unless(*db >= 0, "sessionStorage.db", "is negative: use 0 or more");
    flaws.finish().map_err(|invalid| Hitch::Invalid(invalid.to_string()))?;
    check(&needs(storage), references)?;
    Ok(SessionRedis { address, db: *db, key_prefix, password: password_ref.clone() })
}

fn default_redis(
    default: &DefaultRedis,
    references: &References,
    key_prefix: String,
) -> Result<SessionRedis, Hitch> {
    let DefaultRedis { address, password } = default;
    let password = password.as_ref().map(|(name, key)| SecretKeyRef { name: name.clone(), key: key.clone() });
    // Whoever loads the snapshot may know the settings of the operator or not; only what was read can be missing.
    let needs: Vec<Need> = password
        .iter()
        .map(|secret| Need::secret("the default Redis of the operator", secret))
        .filter(|need| references.contains(&need.reference()))
        .collect();
    check(&needs, references)?;
    Ok(SessionRedis { address: address.clone(), db: 0, key_prefix, password })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use thv_api::names::sessions::default_key_prefix;

    use super::*;
    use crate::resolve::Fault;

    fn storage(value: serde_json::Value) -> SessionStorage {
        serde_json::from_value(value).unwrap()
    }

    fn with_default() -> Settings {
        let password = Some(("redis".to_owned(), "redis-password".to_owned()));
        let default_redis = Some(DefaultRedis { address: "shared:6379".to_owned(), password });
        Settings { default_redis, ..Settings::default() }
    }

    fn run(storage: Option<&SessionStorage>, settings: &Settings) -> Outcome<SessionRedis, Ready> {
        resolve(storage, settings, &References::new(), default_key_prefix("ns", "web"))
    }

    #[test]
    fn keys_begin_with_namespace_and_name() {
        let outcome =
            run(Some(&storage(json!({"provider": "redis", "address": "r:1"}))), &Settings::default());
        assert_eq!(outcome.usable().unwrap().key_prefix, "thv:proxy:session:ns:web:");
    }

    #[test]
    fn the_default_redis_is_used_with_its_password() {
        let redis = run(None, &with_default()).usable().unwrap().clone();
        assert_eq!(redis.address, "shared:6379");
        assert_eq!(redis.password.unwrap().name, "redis");
    }

    #[test]
    fn memory_means_memory_even_with_a_default_redis() {
        assert_eq!(
            run(Some(&storage(json!({"provider": "memory"}))), &with_default()),
            Outcome::NotReferenced
        );
    }

    #[test]
    fn a_missing_password_is_waited_for_and_nonsense_is_not() {
        let missing =
            json!({"provider": "redis", "address": "r:1", "passwordRef": {"name": "s", "key": "k"}});
        for (value, expected) in [
            (missing, Fault::Waiting),
            (json!({"provider": "redis"}), Fault::Terminal),
            (json!({"provider": "redis", "address": "r:1", "keyPrefix": "x"}), Fault::Terminal),
        ] {
            let outcome = run(Some(&storage(value)), &Settings::default());
            let Outcome::Unusable { fault, .. } = outcome else { panic!("{outcome:?}") };
            assert_eq!(fault, expected);
        }
    }
}
