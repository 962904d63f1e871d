//! What becomes of an `MCPRemoteProxy`: snapshots in, plans out.

#[cfg(test)]
#[path = "../mcp_server/difference.rs"]
mod difference;
#[cfg(test)]
#[path = "../mcp_server/edits.rs"]
mod edits;
#[cfg(test)]
mod external_auth;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod metadata;
#[cfg(test)]
#[path = "../mcp_server/places.rs"]
mod places;
#[cfg(test)]
mod pod_template;
#[cfg(test)]
mod recorded;
#[cfg(test)]
#[path = "../../../../tests/recordings/mod.rs"]
mod recordings;
#[cfg(test)]
#[path = "../scene/reference.rs"]
mod reference;
#[cfg(test)]
mod remote_edits;
#[cfg(test)]
mod remote_references;
#[cfg(test)]
mod remote_url;
#[cfg(test)]
mod replicas;
#[cfg(test)]
#[path = "../scene/mod.rs"]
mod scene;
#[cfg(test)]
mod single_edit;
#[cfg(test)]
mod status;
#[cfg(test)]
mod support;
