//! Where sessions are kept, if not in memory.

use thv_api::shared::{SecretKeyRef, SessionProvider, SessionStorage};

use super::need::{Need, check};
use super::outcome::{Cause, Outcome, Unusable};
use crate::invalid::InvalidList;
use crate::reference::{Reference, References};
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

/// The password of the Redis that an object names.
pub(crate) fn needs(storage: &SessionStorage) -> Vec<Need> {
    let SessionStorage { provider, address: _, db: _, key_prefix: _, password_ref } = storage;
    match provider {
        SessionProvider::Memory => Vec::new(),
        SessionProvider::Redis => {
            password_ref.iter().map(|secret| Need::secret("sessionStorage.passwordRef", secret)).collect()
        }
    }
}

/// What has to be read because of the operator's settings: the password of the Redis for objects that name none.
pub(crate) fn default_references(storage: Option<&SessionStorage>, settings: &Settings) -> Vec<Reference> {
    let default = settings.default_redis.as_ref().filter(|_| storage.is_none());
    let password = default.and_then(|redis| redis.password.as_ref());
    password.map(|(secret, _)| Reference::secret(secret)).into_iter().collect()
}

/// What becomes of the storage that an object asks for, or of the one that the operator gives to all that do not
/// ask.
pub(crate) fn resolve(
    path: &str,
    storage: Option<&SessionStorage>,
    settings: &Settings,
    references: &References,
    key_prefix: String,
) -> Outcome<SessionRedis> {
    match (storage, &settings.default_redis) {
        (Some(storage), _) => match storage.provider {
            SessionProvider::Memory => Outcome::NotReferenced,
            SessionProvider::Redis => {
                Outcome::of(Some(storage), |storage| named(path, storage, references, key_prefix))
            }
        },
        (None, default) => {
            Outcome::of(default.as_ref(), |default| default_redis(path, default, references, key_prefix))
        }
    }
}

fn named(
    path: &str,
    storage: &SessionStorage,
    references: &References,
    default: String,
) -> Result<SessionRedis, Unusable> {
    let SessionStorage { provider: _, address, db, key_prefix, password_ref } = storage;
    let address = address.clone().unwrap_or_default();
    let key_prefix = key_prefix.clone().filter(|prefix| !prefix.is_empty()).unwrap_or(default);
    let mut invalid = InvalidList::default();
    invalid.required(&address, "sessionStorage.address");
    invalid.unless(
        key_prefix.ends_with(':'),
        "sessionStorage.keyPrefix",
        "does not end with a colon: add one",
    );
    invalid.unless(*db >= 0, "sessionStorage.db", "is negative: use 0 or more");
    invalid.finish().map_err(|invalid| Cause::Invalid.at(path, invalid.to_string()))?;
    check(path, &needs(storage), references)?;
    Ok(SessionRedis { address, db: *db, key_prefix, password: password_ref.clone() })
}

fn default_redis(
    path: &str,
    default: &DefaultRedis,
    references: &References,
    key_prefix: String,
) -> Result<SessionRedis, Unusable> {
    let DefaultRedis { address, password } = default;
    let password = password.as_ref().map(|(name, key)| SecretKeyRef { name: name.clone(), key: key.clone() });
    // Whoever loads the snapshot may know the settings of the operator or not; only what was read can be missing.
    let needs: Vec<Need> = password
        .iter()
        .map(|secret| Need::secret("the default Redis of the operator", secret))
        .filter(|need| references.contains(&need.reference()))
        .collect();
    check(path, &needs, references)?;
    Ok(SessionRedis { address: address.clone(), db: 0, key_prefix, password })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use thv_api::names::sessions::default_key_prefix;

    use super::*;

    fn storage(value: serde_json::Value) -> SessionStorage {
        serde_json::from_value(value).unwrap()
    }

    fn with_default() -> Settings {
        let password = Some(("redis".to_owned(), "redis-password".to_owned()));
        let default_redis = Some(DefaultRedis { address: "shared:6379".to_owned(), password });
        Settings { default_redis, ..Settings::default() }
    }

    fn run(storage: Option<&SessionStorage>, settings: &Settings) -> Outcome<SessionRedis> {
        resolve("spec.sessionStorage", storage, settings, &References::new(), default_key_prefix("ns", "web"))
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
            (missing, Cause::Incomplete),
            (json!({"provider": "redis"}), Cause::Invalid),
            (json!({"provider": "redis", "address": "r:1", "keyPrefix": "x"}), Cause::Invalid),
        ] {
            let outcome = run(Some(&storage(value)), &Settings::default());
            assert_eq!(outcome.unusable().unwrap().cause, expected);
        }
    }
}
