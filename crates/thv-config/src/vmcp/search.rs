//! Tool search, and scripts over tools.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use super::duration::CanonicalDuration;
use crate::secret::Guarded;
use crate::value::{empty_is_none, is_zero};

/// Tool search: clients see a search tool in place of all tools. To have this configuration is to do so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Optimizer {
    /// URL of the embedding service. Search by words only when empty.
    #[serde(skip_serializing_if = "is_zero")]
    pub embedding_service: Guarded<String>,

    /// How long a call to the embedding service may take. Half a minute when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub embedding_service_timeout: Option<CanonicalDuration>,

    /// What the embedding service speaks. `tei` when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub embedding_provider: Option<EmbeddingProvider>,

    /// Model to ask for. For `openai`.
    #[serde(skip_serializing_if = "is_zero")]
    pub embedding_model: String,

    /// Headers to send to the embedding service. For `openai`.
    #[serde(skip_serializing_if = "is_zero")]
    pub embedding_headers: Guarded<BTreeMap<String, String>>,

    /// How many tools a search may return. 8 when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_tools_to_return: i64,

    /// Weight of search by meaning against search by words, from `0` to `1`. `0.5` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub hybrid_search_semantic_ratio: String,

    /// How far in meaning a tool may be, from `0` to `2`. `1.0` when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub semantic_distance_threshold: String,
}

string_enum! {
    /// What an embedding service speaks.
    pub enum EmbeddingProvider {
        /// Text Embeddings Inference, as an `EmbeddingServer` does.
        Tei = "tei",
        /// The OpenAI API.
        OpenAi = "openai",
    }
}

/// Small scripts over the tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CodeMode {
    /// Whether clients may run scripts.
    #[serde(skip_serializing_if = "is_zero")]
    pub enabled: bool,

    /// How many steps a script may take. 100,000 when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub step_limit: i64,

    /// How many calls a script may make at once. 10 when absent.
    #[serde(skip_serializing_if = "is_zero")]
    pub parallel_max_concurrency: i64,

    /// How long a call from a script may take. Half a minute when absent.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "empty_is_none")]
    pub tool_call_timeout: Option<CanonicalDuration>,
}
