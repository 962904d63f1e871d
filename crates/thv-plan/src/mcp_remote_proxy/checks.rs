//! What can be wrong with a spec by itself, and what to do about it.

use thv_api::kinds::MCPRemoteProxySpec;

use crate::invalid::InvalidList;
use crate::proxy;
use crate::resolve::remote_url;
use crate::syntax;

/// The field with the URL of the remote server.
pub(super) const REMOTE_URL: &str = "spec.remoteUrl";

/// Longest name of a proxy: its Service `mcp-<name>-remote-proxy` has to be a DNS label.
const MAX_NAME: usize = 46;

/// Everything that is wrong.
pub(super) fn validate(name: &str, spec: &MCPRemoteProxySpec) -> InvalidList {
    let mut invalid = InvalidList::default();
    let message = format!(
        "a Service is named after it, so it may have {MAX_NAME} characters at most, and only lower-case letters, digits \
         and hyphens: create the proxy under another name"
    );
    invalid.unless(syntax::is_dns_label(name, MAX_NAME), "metadata.name", message);
    if let Err(url) = remote_url::check(REMOTE_URL, &spec.remote_url, spec.allow_private_endpoint) {
        invalid.merge(url.into());
    }
    if let Some(resources) = &spec.resources {
        proxy::validate::resources(resources, &mut invalid);
    }
    if let Some(overrides) = &spec.resource_overrides {
        proxy::validate::overrides(overrides, &mut invalid);
    }
    invalid
}
