//! What remote servers need.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shared::SecretKeyRef;
use crate::value::string_enum;

/// Headers to add to every request to the remote server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeaderForward {
    /// Headers with values that anyone may read. Do not put credentials here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_plaintext_headers: Option<BTreeMap<String, String>>,

    /// Headers with values from Secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["headerName"]))]
    pub add_headers_from_secret: Option<Vec<SecretHeader>>,
}

/// A header with its value in a Secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretHeader {
    /// Name of the header.
    #[schemars(length(min = 1, max = 255))]
    pub header_name: String,

    /// Where the value is.
    pub value_secret_ref: SecretKeyRef,
}

string_enum! {
    /// MCP transports over HTTP.
    pub enum HttpTransport {
        /// HTTP with server-sent events, the older transport.
        Sse = "sse",
        /// Streamable HTTP.
        StreamableHttp = "streamable-http",
    }
    default StreamableHttp
}
