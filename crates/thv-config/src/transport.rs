//! How MCP is spoken.

use thv_value::string_enum;

string_enum! {
    /// How the proxy reaches the MCP server.
    #[derive(Default)]
    pub enum Transport {
        /// Over standard input and output.
        #[default]
        Stdio = "stdio",
        /// Over HTTP with server-sent events, the older transport.
        Sse = "sse",
        /// Over streamable HTTP.
        StreamableHttp = "streamable-http",
    }
}

string_enum! {
    /// How clients reach the proxy.
    pub enum ProxyMode {
        /// Over HTTP with server-sent events, the older transport.
        Sse = "sse",
        /// Over streamable HTTP.
        StreamableHttp = "streamable-http",
    }
}

impl Transport {
    /// The mode that an HTTP transport implies. For `stdio` there is a choice.
    pub const fn implied_mode(self) -> Option<ProxyMode> {
        match self {
            Self::Stdio => None,
            Self::Sse => Some(ProxyMode::Sse),
            Self::StreamableHttp => Some(ProxyMode::StreamableHttp),
        }
    }
}
