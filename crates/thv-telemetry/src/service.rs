//! What the service is, as collectors and Prometheus are told.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use thv_config::telemetry::TelemetryConfig;

/// The server that this proxy stands in front of, and where the proxy runs.
#[derive(Clone, Copy)]
pub struct Service<'a> {
    /// Name of the server.
    pub server: &'a str,
    /// Its transport.
    pub transport: &'a str,
    /// Version of this program.
    pub version: &'a str,
    /// The environment. It is given, so that it is read in one place and tests can have their own.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
}

impl Service<'_> {
    /// What the service is: the environment says it first, the configuration has the last word.
    pub fn attributes(&self, config: &TelemetryConfig) -> BTreeMap<String, String> {
        let mut attributes: BTreeMap<String, String> = (self.environment)("OTEL_RESOURCE_ATTRIBUTES")
            .as_deref()
            .map(resource_attributes)
            .unwrap_or_default();
        let name = if config.service_name.is_empty() {
            format!("thv-{}", self.server)
        } else {
            config.service_name.clone()
        };
        let version = if config.service_version.is_empty() { self.version } else { &config.service_version };
        attributes.insert("service.name".into(), name);
        attributes.insert("service.version".into(), version.into());
        attributes.extend(config.custom_attributes.clone());
        attributes
    }
}

/// `key=value` pairs behind commas, values percent-encoded. What is not a pair is passed over.
fn resource_attributes(text: &str) -> BTreeMap<String, String> {
    text.split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .filter(|(key, _)| !key.is_empty())
        .map(|(key, value)| (key.to_owned(), percent_decode_str(value).decode_utf8_lossy().into_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(config: &TelemetryConfig, environment: &str) -> BTreeMap<String, String> {
        let lookup = |name: &str| (name == "OTEL_RESOURCE_ATTRIBUTES").then(|| environment.to_owned());
        Service { server: "github", transport: "sse", version: "1.2.3", environment: &lookup }
            .attributes(config)
    }

    #[test]
    fn the_environment_is_merged_and_the_configuration_wins() {
        let config = TelemetryConfig {
            custom_attributes: BTreeMap::from([("team".into(), "blue".into())]),
            ..TelemetryConfig::default()
        };
        let merged = attributes(&config, "team=red, zone = a%20b ,service.name=x,nonsense,=y");
        let expected =
            [("service.name", "thv-github"), ("service.version", "1.2.3"), ("team", "blue"), ("zone", "a b")];
        assert_eq!(merged, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn a_name_and_a_version_of_the_configuration_are_taken() {
        let config = TelemetryConfig {
            service_name: "mine".into(),
            service_version: "7".into(),
            ..TelemetryConfig::default()
        };
        let merged = attributes(&config, "");
        assert_eq!(merged["service.name"], "mine");
        assert_eq!(merged["service.version"], "7");
    }
}
