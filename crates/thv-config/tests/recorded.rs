//! Documents that the Go operator wrote.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper fails by panicking"
)]

#[path = "../../../tests/recordings/mod.rs"]
mod recordings;
mod support;

use std::collections::BTreeMap;

use serde::Deserialize;
use thv_config::{Checksum, RunConfig};

const CONTENT_CHECKSUM: &str = "toolhive.stacklok.dev/content-checksum";

#[derive(Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: BTreeMap<String, String>,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[test]
fn recorded_documents_come_back_byte_for_byte() {
    let mut documents = 0;
    for object in recordings::recorded("configmaps") {
        let object: ConfigMap = serde_json::from_value(object).unwrap();
        let name = &object.metadata.name;
        let Some(document) = object.data.get("runconfig.json") else { continue };
        documents += 1;
        let decoded = RunConfig::parse(document.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(decoded.unknown, Vec::<String>::new(), "{name}");
        assert_eq!(support::text(&decoded.value), *document, "{name}");
        decoded.value.validate().unwrap_or_else(|error| panic!("{name}: {error}"));
        for config in &decoded.value.middleware_configs {
            let understood = config.decode().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(understood.unknown, Vec::<String>::new(), "{name}: {}", config.type_);
            assert_eq!(understood.value.to_config().unwrap(), *config, "{name}");
        }
        let Metadata { labels, annotations, .. } = &object.metadata;
        let checksum = Checksum::of_content(&object.data, labels, annotations, CONTENT_CHECKSUM);
        assert_eq!(Some(checksum.as_str()), annotations.get(CONTENT_CHECKSUM).map(String::as_str), "{name}");
    }
    assert_eq!(documents, 3);
}
