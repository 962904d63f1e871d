//! How tools are aggregated, searched and scripted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::DECIMAL;
use crate::schema::{PlainInt, cel};
use crate::shared::{ToolConfigRef, ToolOverride};
use crate::value::{GoDuration, string_enum};

/// How the tools of all servers become one list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Aggregation {
    /// What to do about tools of the same name.
    #[serde(default)]
    pub conflict_resolution: ConflictResolution,

    /// Settings for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_resolution_config: Option<ConflictResolutionConfig>,

    /// Which tools of single servers to offer, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<WorkloadTools>>,

    /// Whether to hide all tools. Composite tools can still use them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_all_tools: Option<bool>,

    /// Whether to offer the tools of servers that `tools` does not name. Yes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_tool_visibility: Option<ToolVisibility>,
}

string_enum! {
    /// What to do about tools of the same name.
    pub enum ConflictResolution {
        /// Put the name of the server before the name of every tool.
        Prefix = "prefix",
        /// The server that comes first in `priorityOrder` has the tool.
        Priority = "priority",
        /// An error, until overrides give every tool its own name.
        Manual = "manual",
    }
    default Prefix
}

/// Settings for conflict resolution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConflictResolutionConfig {
    /// What to put before the name of a tool; `{workload}` stands for the name of the server. For `prefix`.
    #[serde(default = "default_prefix_format")]
    pub prefix_format: String,

    /// Names of servers, most important first. For `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority_order: Option<Vec<String>>,
}

/// Which tools of a server to offer, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadTools {
    /// Name of the server.
    pub workload: String,

    /// A shared choice of tools. What is said here comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_config_ref: Option<ToolConfigRef>,

    /// Names of the tools to offer. All of them when absent or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Vec<String>>,

    /// Other faces for tools, by the name that the server gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrides: Option<BTreeMap<String, ToolOverride>>,

    /// Whether to hide all tools of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_all: Option<bool>,
}

string_enum! {
    /// Whether tools are offered.
    pub enum ToolVisibility {
        /// They are.
        Allow = "allow",
        /// They are not.
        Deny = "deny",
    }
}

/// Tool search: clients see a search tool in place of all tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "!has(self.embeddingHeaders) || (has(self.embeddingProvider) && self.embeddingProvider == \
         'openai')",
        "embeddingHeaders are sent to provider openai only: set embeddingProvider to openai, or \
         remove them",
    ),
    (
        "!has(self.embeddingHeaders) || self.embeddingHeaders.all(k, \
         k.matches('^[!#$%&\\\\x27*+.^_\\\\x60|~0-9A-Za-z-]+$') && !(k.lowerAscii() in \
         ['authorization', 'content-type']))",
        "embeddingHeaders has a name that is no HTTP header name, or is Authorization or \
         Content-Type, which are set for you",
    ),
])))]
pub struct Optimizer {
    /// What the embedding service speaks.
    #[serde(default)]
    pub embedding_provider: EmbeddingProvider,

    /// URL of the embedding service. Filled in from `spec.embeddingServerRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_service: Option<String>,

    /// How long a call to the embedding service may take.
    #[serde(default = "default_embedding_service_timeout")]
    pub embedding_service_timeout: GoDuration,

    /// Model to ask for. For `openai`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_model: Option<String>,

    /// Headers to send to the embedding service. `Authorization` and `Content-Type` are refused. For
    /// `openai`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        extend(
            "maxProperties" = 32,
            "additionalProperties" = {
                "maxLength": 8192,
                "minLength": 1,
                "pattern": r"^[^\x00-\x08\x0A-\x1F\x7F]*$",
                "type": "string"
            }
        )
    )]
    pub embedding_headers: Option<BTreeMap<String, String>>,

    /// How many tools a search may return. 8 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PlainInt>", range(min = 1, max = 50))]
    pub max_tools_to_return: Option<i64>,

    /// Weight of search by meaning against search by words, from `0` to `1`. `0.5` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DECIMAL))]
    pub hybrid_search_semantic_ratio: Option<String>,

    /// How far in meaning a tool may be, from `0` to `2`. `1.0` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DECIMAL))]
    pub semantic_distance_threshold: Option<String>,
}

string_enum! {
    /// What an embedding service speaks.
    pub enum EmbeddingProvider {
        /// Text Embeddings Inference, as an `EmbeddingServer` does.
        Tei = "tei",
        /// The OpenAI API.
        OpenAi = "openai",
    }
    default Tei
}

/// Small scripts over the tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodeMode {
    /// Whether clients may run scripts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,

    /// How many steps a script may take.
    #[serde(default = "default_step_limit")]
    #[schemars(range(min = 1))]
    pub step_limit: i64,

    /// How many calls a script may make at once.
    #[serde(default = "default_parallel_max_concurrency")]
    #[schemars(with = "PlainInt", range(min = 1))]
    pub parallel_max_concurrency: i64,

    /// How long a call from a script may take.
    #[serde(default = "default_tool_call_timeout")]
    pub tool_call_timeout: GoDuration,
}

fn default_prefix_format() -> String {
    "{workload}_".to_owned()
}

fn default_embedding_service_timeout() -> GoDuration {
    GoDuration::literal("30s", 30)
}

fn default_step_limit() -> i64 {
    100_000
}

fn default_parallel_max_concurrency() -> i64 {
    10
}

fn default_tool_call_timeout() -> GoDuration {
    GoDuration::literal("30s", 30)
}
