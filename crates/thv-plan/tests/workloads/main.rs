//! What becomes of an `EmbeddingServer` and of an `MCPRegistry`: snapshots in, plans out.

#[cfg(test)]
mod edits;
#[cfg(test)]
mod embedding_server;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod metadata;
#[cfg(test)]
#[path = "../scene/on_file.rs"]
mod on_file;
#[cfg(test)]
#[path = "../mcp_server/places.rs"]
mod places;
#[cfg(test)]
mod recorded;
#[cfg(test)]
#[path = "../../../../tests/recordings/mod.rs"]
mod recordings;
#[cfg(test)]
mod registry;
#[cfg(test)]
mod single_edit;
#[cfg(test)]
mod support;
