//! `MCPRemoteProxy`: a proxy in front of a server that runs elsewhere.
//!
//! It is a kind with a proxy, and its plan is that of all of those. Here is what it has of its own: which URLs are
//! allowed (`checks`), and conditions that no other kind has. `planned` has what the engine wants to know of the kind.

mod checks;
mod conditions;
mod planned;
mod proxied;

use thv_api::kinds::MCPRemoteProxySpec;
use thv_api::names::children::{mcp_remote_proxy, service_host};

/// The address of a proxy within the cluster. The path is that of the remote server, whatever clients ask for.
pub(crate) fn url(namespace: &str, name: &str, spec: &MCPRemoteProxySpec) -> String {
    let host = service_host(&mcp_remote_proxy::service(name), namespace);
    format!("http://{host}:{}", spec.proxy_port)
}
