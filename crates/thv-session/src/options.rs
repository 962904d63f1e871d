//! Which Redis, and how to get in.

use std::fmt;

use crate::error::OptionsError;

/// A password that never shows itself. It comes from the environment, not from a file that others can read.
#[derive(Clone)]
pub struct Password(Box<str>);

impl Password {
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Password {
    fn from(password: String) -> Self {
        Self(password.into())
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// A Redis, version 6.2 or later, and the part of it that is ours.
#[derive(Clone, Debug)]
pub struct RedisOptions {
    /// `host:port`.
    pub address: String,
    /// The number of the database.
    pub db: i32,
    /// If it wants one.
    pub password: Option<Password>,
    /// What all keys begin with. It ends with a colon.
    pub prefix: String,
}

impl RedisOptions {
    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        let Self { address, db, password: _, prefix } = self;
        let (host, port) = address.rsplit_once(':').unwrap_or_default();
        if host.is_empty() || !port.parse::<u16>().is_ok_and(|port| port > 0) {
            return Err(OptionsError::Address(address.clone()));
        }
        if *db < 0 {
            return Err(OptionsError::Database(*db));
        }
        if !prefix.ends_with(':') {
            return Err(OptionsError::Prefix(prefix.clone()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> RedisOptions {
        let password = Some(Password::from("tell-nobody".to_owned()));
        RedisOptions {
            address: "redis:6379".to_owned(),
            db: 0,
            password,
            prefix: "thv:proxy:session:ns:web:".to_owned(),
        }
    }

    #[test]
    fn s2_16_a_password_is_never_shown() {
        let shown = format!("{:?}", options());
        assert!(!shown.contains("tell-nobody"), "{shown}");
    }

    #[test]
    fn options_that_cannot_work_are_refused() {
        for address in ["", "redis", ":6379", "redis:", "redis:0", "redis:70000", "redis:x"] {
            let options = RedisOptions { address: address.to_owned(), ..options() };
            assert_eq!(options.check(), Err(OptionsError::Address(address.to_owned())));
        }
        let negative = RedisOptions { db: -1, ..options() };
        assert_eq!(negative.check(), Err(OptionsError::Database(-1)));
        let prefix = RedisOptions { prefix: "web".to_owned(), ..options() };
        assert_eq!(prefix.check(), Err(OptionsError::Prefix("web".to_owned())));
        let v6 = RedisOptions { address: "[::1]:6379".to_owned(), ..options() };
        assert_eq!(v6.check(), Ok(()));
    }
}
