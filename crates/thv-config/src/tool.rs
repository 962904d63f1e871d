//! How tools present themselves.

use serde::{Deserialize, Serialize};

use crate::value::is_zero;

/// Another face for a tool. What is empty stays as the server has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolOverride {
    /// Name that clients see.
    #[serde(skip_serializing_if = "is_zero")]
    pub name: String,

    /// Description that clients see.
    #[serde(skip_serializing_if = "is_zero")]
    pub description: String,
}

/// The same for the filters, which have both keys always.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolFace {
    /// Name that clients see.
    pub name: String,

    /// Description that clients see.
    pub description: String,
}

impl From<ToolOverride> for ToolFace {
    fn from(ToolOverride { name, description }: ToolOverride) -> Self {
        Self { name, description }
    }
}
