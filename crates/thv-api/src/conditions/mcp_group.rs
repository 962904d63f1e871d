//! Conditions of `MCPGroup`.

pub use super::common::Referenced;
use super::{condition, polarities};

condition! {
    /// Whether the members of the group are known.
    MCPServersChecked = Good "MCPServersChecked" {
        /// They are.
        True Succeeded = "ListMCPServersCheckSucceeded",
        /// They could not be looked up.
        False Failed = "ListMCPServersCheckFailed",
    }
}

polarities![MCPServersChecked, Referenced];
