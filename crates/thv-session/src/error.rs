//! What can go wrong.

use thiserror::Error;

/// The store gave no answer. Never to be read as "there is no such session".
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Unavailable {
    /// Redis cannot be reached. A connection is being sought in the background.
    #[error("the session store cannot be reached")]
    Down,
    /// Redis answered with an error, of which this is the code.
    #[error("the session store refused: {0}")]
    Refused(Box<str>),
    /// There is something under the key that is not a record of that session. It is left as it is.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// Why bytes are not the record of a session. The text never holds any of them.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("a session's record is malformed: {0}")]
pub struct Malformed(pub(crate) Box<str>);

/// Why a Redis cannot be used as described.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OptionsError {
    /// Not `host:port`.
    #[error("the address of Redis is to be host:port, not {0:?}")]
    Address(String),
    /// Redis numbers its databases from 0.
    #[error("the number of the Redis database cannot be {0}")]
    Database(i32),
    /// Without the colon, the prefix `a` would also name the keys of `ab`.
    #[error("the prefix of Redis keys is to end with a colon, which {0:?} does not")]
    Prefix(String),
}
