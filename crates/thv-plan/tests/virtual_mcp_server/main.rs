//! What becomes of a `VirtualMCPServer`.

#[cfg(test)]
mod auth;
#[cfg(test)]
mod children;
#[cfg(test)]
#[path = "../mcp_server/difference.rs"]
mod difference;
#[cfg(test)]
mod document;
#[cfg(test)]
#[path = "../mcp_server/edits.rs"]
mod edits;
#[cfg(test)]
mod far_edit;
#[cfg(test)]
mod golden;
#[cfg(test)]
#[path = "../mcp_server/places.rs"]
mod places;
#[cfg(test)]
#[path = "../scene/reference.rs"]
mod reference;
#[cfg(test)]
#[expect(dead_code, reason = "other kinds need more of it")]
#[path = "../scene/mod.rs"]
mod scene;
#[cfg(test)]
mod single_edit;
#[cfg(test)]
mod status;
#[cfg(test)]
mod support;
#[cfg(test)]
mod user_examples;
#[cfg(test)]
mod virtual_edits;
#[cfg(test)]
mod virtual_references;
