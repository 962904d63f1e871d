//! What becomes of an `MCPServer`: snapshots in, plans out.

#[cfg(test)]
mod difference;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod external_auth;
#[cfg(test)]
mod far_edit;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod metadata;
#[cfg(test)]
mod places;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod recorded;
#[cfg(test)]
#[path = "../../../../tests/recordings/mod.rs"]
mod recordings;
#[cfg(test)]
#[path = "../scene/reference.rs"]
mod reference;
#[cfg(test)]
mod references;
#[cfg(test)]
mod rendering;
#[cfg(test)]
mod replicas;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod revision;
#[cfg(test)]
mod rotation;
#[cfg(test)]
#[path = "../scene/mod.rs"]
mod scene;
#[cfg(test)]
mod sequences;
#[cfg(test)]
mod single_edit;
#[cfg(test)]
mod status;
#[cfg(test)]
mod support;
