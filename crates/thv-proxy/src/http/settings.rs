//! What a proxy is told about itself.

use std::time::Duration;

/// What a proxy is told about itself.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether `X-Forwarded-*` headers of clients are believed when they are told where to send messages.
    pub trust_forwarded: bool,
    /// A prefix for the path that clients are told.
    pub endpoint_prefix: String,
    /// Whether the backend has no sessions and takes nothing but POST.
    pub stateless: bool,
    /// How long a session lives without being used.
    pub session_ttl: Duration,
    /// How many bytes the bodies of all requests in flight may have together.
    pub bodies: usize,
    /// How long things may take.
    pub times: Times,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// From the first byte of a request to the end of its head.
    pub head: Duration,
    /// Between two requests on a connection.
    pub idle: Duration,
    /// For the body of a request.
    pub body: Duration,
    /// For room for a body, when there are many at once.
    pub room: Duration,
    /// For a connection to a backend to come up.
    pub connect: Duration,
    /// For a backend to become ready for a POST.
    pub backend: Duration,
    /// For starting a lost backend session again.
    pub replay: Duration,
    /// For answers of an instance that vanished.
    pub farewell: Duration,
    /// How long an idle connection to a backend is used again. Servers that close idle connections do so after five
    /// seconds or more.
    pub reuse: Duration,
    /// How long connections are still accepted after the end was announced.
    pub accept: Duration,
    /// After which time from then on everything is over.
    pub drain: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            trust_forwarded: false,
            endpoint_prefix: String::new(),
            stateless: false,
            session_ttl: Duration::from_hours(2),
            bodies: 64 << 20,
            times: Times::default(),
        }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            idle: Duration::from_mins(2),
            body: Duration::from_secs(30),
            room: Duration::from_secs(5),
            connect: Duration::from_secs(5),
            backend: Duration::from_secs(10),
            replay: Duration::from_secs(30),
            farewell: Duration::from_secs(5),
            reuse: Duration::from_secs(4),
            accept: Duration::from_secs(5),
            drain: Duration::from_secs(27),
        }
    }
}
