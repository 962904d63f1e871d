//! The request log, and what tests say about it.

use std::fmt;

use super::exchange::{Exchange, Verb};
use super::pattern::Pattern;

/// A moment in a request log.
///
/// The default is its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(pub(super) usize);

/// Requests in the order in which they arrived.
#[derive(Clone, Debug, Default)]
pub struct RequestLog(pub(super) Vec<Exchange>);

impl RequestLog {
    /// The requests, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Exchange> {
        self.0.iter()
    }

    /// Only the requests that `pattern` means.
    #[must_use]
    pub fn only(&self, pattern: &Pattern) -> Self {
        Self(self.iter().filter(|exchange| pattern.matches(exchange)).cloned().collect())
    }

    /// Only the requests that can change an object.
    #[must_use]
    pub fn writes(&self) -> Self {
        self.only(&Pattern::write())
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails the test, showing the requests, if there are any.
    #[track_caller]
    pub fn assert_empty(&self, what: &str) {
        assert!(self.is_empty(), "expected no {what}, but there were {}:\n{self}", self.len());
    }

    /// Fails the test if an object was replaced whole.
    #[track_caller]
    pub fn assert_no_put(&self) {
        self.only(&Pattern::verb(Verb::Put)).assert_empty("PUT");
    }

    /// Fails the test if something was read after the first write.
    #[track_caller]
    pub fn assert_reads_before_writes(&self) {
        let first_write =
            self.iter().find(|exchange| exchange.verb.is_write()).map(|exchange| exchange.number);
        let late = self.iter().filter(|exchange| {
            matches!(exchange.verb, Verb::Get | Verb::List)
                && first_write.is_some_and(|first| exchange.number > first)
        });
        Self(late.cloned().collect()).assert_empty("read after the first write");
    }
}

impl fmt::Display for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.iter().try_for_each(|exchange| writeln!(f, "  {exchange}"))
    }
}
