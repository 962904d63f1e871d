//! What time it is.

use jiff::Timestamp;

/// Now, for what others read.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}
