//! Where traces and metrics go: `MCPTelemetryConfig`.

use std::collections::BTreeMap;

use thv_api::kinds::{MCPTelemetryConfigSpec, OpenTelemetry, SensitiveHeader};
use thv_api::names::env;
use thv_api::shared::{SecretKeyRef, TelemetryConfigRef};

use super::ca_bundle::{self, CaBundle};
use super::config::{self, Config, complete, read, valid};
use super::need::Need;
use super::outcome::{Outcome, Unusable};
use crate::invalid::InvalidList;
use crate::reference::{Reference, References};

/// Telemetry settings, and what is particular to the object that refers to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Telemetry {
    /// The settings.
    pub config: Config<MCPTelemetryConfigSpec>,
    /// The name to report under.
    pub service_name: String,
    /// The namespace to report.
    pub namespace: String,
    /// Certificate authorities of the endpoint.
    pub ca_bundle: Option<CaBundle>,
}

/// What is wrong with telemetry settings.
pub fn validate(spec: &MCPTelemetryConfigSpec) -> Result<(), InvalidList> {
    let MCPTelemetryConfigSpec { open_telemetry, prometheus: _ } = spec;
    let mut invalid = InvalidList::default();
    if let Some(otel) = open_telemetry {
        invalid.below("openTelemetry", validate_otel(otel));
    }
    invalid.finish()
}

fn validate_otel(otel: &OpenTelemetry) -> Result<(), InvalidList> {
    let OpenTelemetry {
        enabled: _,
        endpoint,
        insecure,
        headers,
        sensitive_headers,
        resource_attributes: _,
        metrics,
        tracing,
        use_legacy_attributes: _,
        ca_bundle_ref,
    } = otel;
    let mut invalid = InvalidList::default();
    let sends =
        metrics.as_ref().is_some_and(|it| it.enabled) || tracing.as_ref().is_some_and(|it| it.enabled);
    let has_endpoint = endpoint.as_ref().is_some_and(|endpoint| !endpoint.is_empty());
    invalid.unless(!has_endpoint || sends, "endpoint", "has nothing to receive: enable tracing or metrics");
    if let Some(tracing) = tracing {
        let rate = tracing.sampling_rate.parse::<f64>().is_ok_and(|rate| (0.0..=1.0).contains(&rate));
        invalid.unless(rate, "tracing.samplingRate", "is not a number from 0 to 1");
    }
    let mut variables: BTreeMap<String, &str> = BTreeMap::new();
    for (index, SensitiveHeader { name, secret_key_ref }) in sensitive_headers.iter().flatten().enumerate() {
        let path = format!("sensitiveHeaders[{index}]");
        let SecretKeyRef { name: secret, key } = secret_key_ref;
        invalid.required(name, format!("{path}.name"));
        invalid.required(secret, format!("{path}.secretKeyRef.name"));
        invalid.required(key, format!("{path}.secretKeyRef.key"));
        let twice = headers.as_ref().is_some_and(|headers| headers.contains_key(name));
        invalid.unless(!twice, format!("{path}.name"), "is in headers too: keep one of them");
        if let Some(other) = variables.insert(env::otel_header(name), name) {
            invalid.add(
                format!("{path}.name"),
                format!("differs from {other:?} in case or dashes only: keep one"),
            );
        }
    }
    if let Some(bundle) = ca_bundle_ref {
        invalid.unless(!insecure, "caBundleRef", "is of no use with insecure: remove one of them");
        invalid.below("caBundleRef", ca_bundle::validate(bundle));
    }
    invalid.finish()
}

/// The keys that telemetry settings need.
pub(super) fn needs(spec: &MCPTelemetryConfigSpec) -> Vec<Need> {
    let MCPTelemetryConfigSpec { open_telemetry, prometheus: _ } = spec;
    let Some(otel) = open_telemetry else { return Vec::new() };
    let headers = sorted_headers(otel).into_iter().map(|header| {
        Need::secret(format!("openTelemetry.sensitiveHeaders[{:?}]", header.name), &header.secret_key_ref)
    });
    let bundle = otel.ca_bundle_ref.as_ref();
    headers.chain(bundle.and_then(|source| ca_bundle::need("openTelemetry.caBundleRef", source))).collect()
}

/// The headers from Secrets, by name: their order in the spec has no meaning.
pub(crate) fn sorted_headers(otel: &OpenTelemetry) -> Vec<&SensitiveHeader> {
    let mut headers: Vec<_> = otel.sensitive_headers.iter().flatten().collect();
    headers.sort_by_key(|header| &header.name);
    headers
}

/// What has to be read for a reference.
pub(crate) fn references(reference: &TelemetryConfigRef, known: &References) -> Vec<Reference> {
    let name = &reference.name;
    config::references(
        Reference::object::<MCPTelemetryConfigSpec>(name),
        known.object::<MCPTelemetryConfigSpec>(name),
        needs,
    )
}

/// What becomes of the reference of an object of this namespace and name.
pub(crate) fn resolve(
    path: &str,
    reference: Option<&TelemetryConfigRef>,
    references: &References,
    namespace: &str,
    owner: &str,
) -> Outcome<Telemetry> {
    Outcome::of(reference, |TelemetryConfigRef { name, service_name }| {
        let config = usable(path, name, references)?;
        let otel = config.spec.open_telemetry.as_ref();
        let source = otel.and_then(|otel| otel.ca_bundle_ref.as_ref());
        let service_name = service_name.as_deref().filter(|name| !name.is_empty()).unwrap_or(owner);
        Ok(Telemetry {
            ca_bundle: source.and_then(|source| ca_bundle::present(source, references)),
            service_name: service_name.to_owned(),
            namespace: namespace.to_owned(),
            config,
        })
    })
}

fn usable(
    path: &str,
    name: &str,
    references: &References,
) -> Result<Config<MCPTelemetryConfigSpec>, Unusable> {
    let spec = read(path, references.object::<MCPTelemetryConfigSpec>(name), name)?;
    let config = valid(path, spec, name, validate(spec))?;
    complete::<MCPTelemetryConfigSpec>(path, &needs(spec), name, references)?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check_otel(otel: Value) -> Result<(), String> {
        let spec = serde_json::from_value(json!({"openTelemetry": otel})).unwrap();
        validate(&spec).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn sound_settings_are_valid() {
        validate(&MCPTelemetryConfigSpec::default()).unwrap();
        check_otel(json!({"enabled": true, "endpoint": "c:4318", "tracing": {"enabled": true}})).unwrap();
    }

    #[test]
    fn nonsense_is_told_with_its_place() {
        let header = |name: &str| json!({"name": name, "secretKeyRef": {"name": "s", "key": "k"}});
        for (otel, part) in [
            (json!({"endpoint": "c:4318"}), "openTelemetry.endpoint: has nothing to receive"),
            (json!({"headers": {"a": "b"}, "sensitiveHeaders": [header("a")]}), "is in headers too"),
            (json!({"sensitiveHeaders": [header("x-a"), header("X_A")]}), "differs from \"x-a\""),
            (
                json!({"insecure": true, "caBundleRef": {"configMapRef": {"name": "c", "key": "k"}}}),
                "of no use",
            ),
            (json!({"caBundleRef": {}}), "caBundleRef.configMapRef: is missing"),
            (json!({"tracing": {"samplingRate": "2"}}), "samplingRate"),
        ] {
            let error = check_otel(otel).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_order_of_headers_does_not_matter() {
        let header = |name: &str| json!({"name": name, "secretKeyRef": {"name": "s", "key": "k"}});
        let needs_of = |headers: Value| {
            needs(&serde_json::from_value(json!({"openTelemetry": {"sensitiveHeaders": headers}})).unwrap())
        };
        assert_eq!(needs_of(json!([header("a"), header("b")])), needs_of(json!([header("b"), header("a")])));
    }
}
