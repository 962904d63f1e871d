//! Conditions of `MCPGroup`.

use super::condition;

condition! {
    /// Whether the members of the group are known.
    MCPServersChecked = Good "MCPServersChecked" {
        /// They are.
        True Succeeded = "ListMCPServersCheckSucceeded",
        /// They could not be looked up.
        False Failed = "ListMCPServersCheckFailed",
    }
}
