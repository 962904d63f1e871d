//! Records in Redis.

use std::sync::Arc;

use redis::{Cmd, Value};

use crate::error::{Malformed, Unavailable};
use crate::key::Key;
use crate::link::{Link, Repeat};
use crate::options::RedisOptions;
use crate::record::Record;

/// Writes ARGV[2] if ARGV[1] is still what there is, to the last byte, and says 1; otherwise says what there is.
/// Sent whole each time: it is short, and a swap is rare.
const SWAP: &str = "\
local now = redis.call('GET', KEYS[1])
if now == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
  return 1
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return now";

/// The part of a Redis that is ours.
#[derive(Debug)]
pub(crate) struct Remote {
    link: Link,
    prefix: Box<str>,
    /// After how many seconds a record that nobody asks for vanishes.
    expiry: u64,
}

/// What became of a swap.
pub(crate) enum Swapped {
    Yes,
    No(Option<Arc<Record>>),
}

impl Remote {
    pub(crate) fn new(options: &RedisOptions, expiry: u64) -> Self {
        Self { link: Link::new(options), prefix: options.prefix.as_str().into(), expiry }
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Reads a record, which then lives anew.
    pub(crate) async fn read(&self, key: Key) -> Result<Option<Arc<Record>>, Unavailable> {
        let mut command = self.command("GETEX", key);
        command.arg("EX").arg(self.expiry);
        decoded(key, self.link.send(&command, Repeat::Once).await?)
    }

    /// Writes a record unless there is one. If the connection breaks meanwhile, it may have been written.
    pub(crate) async fn create(&self, record: &Record) -> Result<bool, Unavailable> {
        let mut command = self.command("SET", record.key);
        command.arg(record.encode()?).arg("NX").arg("EX").arg(self.expiry);
        match self.link.send(&command, Repeat::Never).await? {
            Value::Okay => Ok(true),
            Value::Nil => Ok(false),
            _ => Err(unexpected()),
        }
    }

    /// Writes `new` in the place of `seen`.
    pub(crate) async fn swap(&self, seen: &Record, new: &Record) -> Result<Swapped, Unavailable> {
        let bytes = new.encode()?;
        let mut command = redis::cmd("EVAL");
        command.arg(SWAP).arg(1).arg(self.name(seen.key));
        command.arg(seen.as_stored()?).arg(bytes.as_slice()).arg(self.expiry);
        match self.link.send(&command, Repeat::Once).await? {
            Value::Int(1) => Ok(Swapped::Yes),
            // Sent twice, because the connection broke before the first answer came.
            Value::BulkString(now) if now == bytes => Ok(Swapped::Yes),
            now => Ok(Swapped::No(decoded(seen.key, now)?)),
        }
    }

    pub(crate) async fn remove(&self, key: Key) -> Result<(), Unavailable> {
        self.link.send(&self.command("DEL", key), Repeat::Once).await.map(|_| ())
    }

    fn command(&self, name: &str, key: Key) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(self.name(key));
        command
    }

    fn name(&self, key: Key) -> String {
        format!("{}{}", self.prefix, key.as_str())
    }
}

fn decoded(key: Key, value: Value) -> Result<Option<Arc<Record>>, Unavailable> {
    match value {
        Value::Nil => Ok(None),
        Value::BulkString(bytes) => Ok(Some(Arc::new(Record::decode(key, &bytes)?))),
        _ => Err(unexpected()),
    }
}

fn unexpected() -> Unavailable {
    Malformed("the answer is of another kind".into()).into()
}
