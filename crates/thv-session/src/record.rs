//! What is known about a session.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

use crate::key::Key;
use crate::owner::Owner;
use crate::wire::Unknown;

/// The longest `initialize` that is kept. A session with a longer one cannot be started again at its backend.
pub const INIT_BODY_LIMIT: usize = 64 * 1024;

/// The record of a session. To change one, change a [clone](Clone) of it: what others wrote into it comes along.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What it is kept under.
    pub key: Key,
    /// By which kind of proxy it was made.
    pub kind: Kind,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last written. Reading does not change it.
    pub updated_at: Timestamp,
    /// What proxies know about it.
    pub metadata: Metadata,
    pub(crate) unknown: Unknown,
}

impl Record {
    /// A record that has not been stored yet.
    pub fn new(key: Key, kind: Kind, now: Timestamp, metadata: Metadata) -> Self {
        Self { key, kind, created_at: now, updated_at: now, metadata, unknown: Unknown::default() }
    }

    /// Whether this identity, or nobody, is who made the session. A session without an owner, as ToolHive makes
    /// them, belongs to no identity.
    pub fn belongs_to(&self, who: Option<&Owner>) -> bool {
        self.metadata.owner.as_ref() == who
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn weight(&self) -> usize {
        let Self { key: _, kind: _, created_at: _, updated_at: _, metadata, unknown } = self;
        let Metadata { backend_url, backend_sid, init_body, owner: _, pod, rest } = metadata;
        let optional = [backend_url, backend_sid, init_body, pod].into_iter().flatten().map(String::len);
        let rest = rest.iter().map(|(name, value)| name.len() + value.len() + 2 * size_of::<String>());
        size_of::<Self>() + optional.sum::<usize>() + rest.sum::<usize>() + unknown.weight()
    }
}

/// Which kind of proxy made a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One that passes HTTP on.
    Mcp,
    /// One that speaks HTTP with server-sent events for a server on standard input and output.
    Sse,
    /// One that speaks streamable HTTP for such a server.
    Streamable,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Mcp, Self::Sse, Self::Streamable];

    /// As it stands in a record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Sse => "sse",
            Self::Streamable => "streamable",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a record says about a session's backend and its owner.
#[derive(Clone, Default, PartialEq)]
pub struct Metadata {
    /// The URL of the backend's Service. ToolHive's records of `sse` sessions have none.
    pub backend_url: Option<String>,
    /// The backend's own name for the session, if it is no longer the client's.
    pub backend_sid: Option<String>,
    /// The `initialize` with which the session can be started again. It is not stored when it is longer than
    /// [`INIT_BODY_LIMIT`].
    pub init_body: Option<String>,
    /// Whom the session belongs to.
    pub owner: Option<Owner>,
    /// The backend that serves it: ordinal, pod uid and container id.
    pub pod: Option<String>,
    /// What others have written.
    pub rest: BTreeMap<String, String>,
}

impl Metadata {
    pub(crate) const BACKEND_URL: &str = "backend_url";
    pub(crate) const BACKEND_SID: &str = "backend_sid";
    pub(crate) const INIT_BODY: &str = "init_body";
    pub(crate) const OWNER: &str = "thv_owner";
    pub(crate) const POD: &str = "thv_pod";
}

impl fmt::Debug for Metadata {
    /// Without the backend's id, which is as good as a key, and without what clients sent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { backend_url, backend_sid, init_body, owner, pod, rest } = self;
        f.debug_struct("Metadata")
            .field("backend_url", backend_url)
            .field("has_backend_sid", &backend_sid.is_some())
            .field("init_body_length", &init_body.as_ref().map(String::len))
            .field("owner", owner)
            .field("pod", pod)
            .field("rest", &rest.keys())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(owner: Option<Owner>) -> Record {
        let metadata = Metadata {
            backend_sid: Some("tell-nobody".to_owned()),
            init_body: Some("what-the-client-said".to_owned()),
            owner,
            rest: BTreeMap::from([("k".to_owned(), "value-of-another".to_owned())]),
            ..Metadata::default()
        };
        Record::new(Key::of("tell-nobody"), Kind::Mcp, Timestamp::UNIX_EPOCH, metadata)
    }

    #[test]
    fn a_session_belongs_to_who_made_it_only() {
        let (alice, bob) = (Owner::of("i", "alice"), Owner::of("i", "bob"));
        assert!(record(Some(alice)).belongs_to(Some(&alice)));
        assert!(!record(Some(alice)).belongs_to(Some(&bob)));
        assert!(!record(Some(alice)).belongs_to(None));
        assert!(record(None).belongs_to(None));
        assert!(!record(None).belongs_to(Some(&alice)));
    }

    #[test]
    fn debugging_a_record_shows_no_id_and_no_content() {
        let shown = format!("{:?}", record(None));
        for hidden in ["tell-nobody", "what-the-client-said", "value-of-another"] {
            assert!(!shown.contains(hidden), "{shown}");
        }
    }

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(Kind::parse("MCP"), None);
    }
}
