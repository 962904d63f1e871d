//! The one place that looks at the clock.

use jiff::Timestamp;

/// The time, in whole seconds as the API server keeps it.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}
