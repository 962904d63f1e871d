//! What can be wrong with a document.

use std::fmt;

use crate::transport::{ProxyMode, Transport};

/// All that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub Vec<Problem>);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the run configuration is not valid: ")?;
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}

/// Something that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The place in the document, such as `volumes[0]`.
    pub path: String,
    /// What is wrong there.
    pub kind: ProblemKind,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.path, self.kind, self.kind.remedy())
    }
}

/// What is wrong. Names but no values: those may be credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The document is of a form that this program does not know.
    #[error("is a version that this program does not know")]
    SchemaVersion,

    /// There is neither an image nor a remote URL.
    #[error("there is neither an image nor a remote_url")]
    NoServer,

    /// Something has no name.
    #[error("is empty")]
    Empty,

    /// A host has white space in it.
    #[error("contains white space")]
    HostSpace,

    /// The mode is not that of the transport.
    #[error("is {mode}, and the transport is {transport}")]
    Mode {
        /// The transport.
        transport: Transport,
        /// The mode.
        mode: ProxyMode,
    },

    /// A port is needed and not there.
    #[error("is missing or 0, and the transport is HTTP")]
    NoPort,

    /// The name of an environment variable cannot be one.
    #[error("the name of a variable is empty, or contains `=` or a line break")]
    EnvName,

    /// The value of an environment variable has more than one line.
    #[error("the value contains a line break")]
    EnvValue,

    /// A mount has another form.
    #[error("is not of the form host:container or host:container:ro")]
    Volume,

    /// A secret has another form.
    #[error("is not of the form NAME,target=VARIABLE")]
    Secret,

    /// The name of a tool cannot be one.
    #[error("the name of a tool is empty, or contains a comma or a line break")]
    ToolName,

    /// An override that overrides nothing.
    #[error("overrides neither the name nor the description")]
    IdleOverride,

    /// A server without sessions over a transport that is one.
    #[error("is true, and the transport is stdio")]
    StatelessStdio,

    /// A session that would end before it began.
    #[error("is negative")]
    NegativeTtl,

    /// A prefix that runs into the keys.
    #[error("does not end with `:`")]
    KeyPrefix,

    /// Calls cannot be counted.
    #[error("is there, and scaling_config.session_redis is not")]
    NoRedis,

    /// A role is only assumed towards remote servers.
    #[error("is there, and remote_url is not")]
    AwsStsLocal,

    /// A token is to be both removed and used.
    #[error("is there, and embedded_auth_server_config.disable_upstream_token_injection removes the token")]
    StrippedToken,

    /// Something is configured that the list of middlewares leaves out, so that nobody would do it.
    #[error("is there, and middleware_configs has no {middleware} for it")]
    Unenforced {
        /// The middleware that would.
        middleware: &'static str,
    },

    /// A proxy signs in with one provider.
    #[error("has more than one provider")]
    Upstreams,
}

impl ProblemKind {
    /// What to do about it.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::SchemaVersion => "run an operator and a proxy of the same version",
            Self::NoServer => "give the image to run, or the URL of a remote server",
            Self::Empty => "give it a value",
            Self::HostSpace => "give a host name or an IP address",
            Self::Mode { .. } => "leave proxy_mode out, or set it to the transport",
            Self::NoPort => "give a port from 1 to 65535",
            Self::EnvName => "rename the variable",
            Self::EnvValue => "put the value on one line, or into a file",
            Self::Volume => "write the path on the host and that in the container, both not empty",
            Self::Secret => "name the secret and the variable that it goes to",
            Self::ToolName => "name one tool in each entry",
            Self::IdleOverride => "give a name or a description, or remove the override",
            Self::StatelessStdio => "remove stateless, or use an HTTP transport",
            Self::NegativeTtl => "give a duration such as 2h, or leave it out",
            Self::KeyPrefix => "append a colon",
            Self::NoRedis => "configure Redis as session storage, or remove the limits",
            Self::AwsStsLocal => "remove it: only requests to remote servers can be signed",
            Self::StrippedToken => "allow upstream tokens, or remove what uses them",
            Self::Unenforced { .. } => {
                "let the operator write the document anew, or empty middleware_configs"
            }
            Self::Upstreams => "keep one; only a VirtualMCPServer can use several",
        }
    }
}
