//! What requests pass through, as the configuration asks for it.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use thv_config::RunConfig;
use thv_config::middleware::{HeaderForwardParameters, Middleware, OriginParameters};

use super::environment::Environment;
use crate::http::is_loopback;

/// The middlewares that the configuration names, or those that it implies if it names none; with the headers whose
/// values are secrets, and the origins that follow from the address.
pub fn middlewares(config: &RunConfig, environment: &Environment) -> Result<Vec<Middleware>> {
    let entries = match config.middleware_configs.as_slice() {
        [] => config.computed_chain()?,
        named => named.to_vec(),
    };
    let mut all = Vec::with_capacity(entries.len() + 2);
    for entry in &entries {
        let decoded = entry.decode()?;
        for key in decoded.unknown {
            tracing::warn!(middleware = entry.type_, key, "a parameter that nobody knows is ignored");
        }
        all.push(decoded.value);
    }
    all.extend(forwarded_headers(config, environment)?);
    let checks_origin = all.iter().any(|middleware| matches!(middleware, Middleware::Origin(_)));
    if !checks_origin {
        all.extend(
            origins(config).map(|allowed_origins| Middleware::Origin(OriginParameters { allowed_origins })),
        );
    }
    Ok(all)
}

/// All headers for a remote server. The list of middlewares that the operator writes has only those without secrets.
fn forwarded_headers(config: &RunConfig, environment: &Environment) -> Result<Option<Middleware>> {
    let Some(forward) = config.header_forward.as_ref().filter(|_| config.is_remote()) else {
        return Ok(None);
    };
    let mut headers: BTreeMap<String, String> = forward.add_plaintext_headers.0.clone();
    for (header, secret) in &forward.add_headers_from_secret {
        let value = environment
            .secret(secret)
            .with_context(|| format!("header_forward: the header {header} has no value"))?;
        headers.insert(header.clone(), value.expose().to_owned());
    }
    Ok((!headers.is_empty())
        .then(|| Middleware::HeaderForward(HeaderForwardParameters { add_headers: headers.into() })))
}

/// The origins that the configuration names; for an address that only this machine reaches, its own pages.
fn origins(config: &RunConfig) -> Option<Vec<String>> {
    if !config.allowed_origins.is_empty() {
        return Some(config.allowed_origins.clone());
    }
    let own = |host: &str| format!("http://{host}:{}", config.port);
    (is_loopback(&config.host) && config.port != 0)
        .then(|| ["localhost", "127.0.0.1", "[::1]"].map(own).to_vec())
}

#[cfg(test)]
mod tests {
    use thv_config::remote::HeaderForwardConfig;

    use super::*;

    fn types(config: &RunConfig, environment: &Environment) -> Vec<&'static str> {
        middlewares(config, environment).unwrap().iter().map(Middleware::type_name).collect()
    }

    #[test]
    fn an_empty_list_means_the_computed_one() {
        let environment = Environment::read([]);
        let config = RunConfig { host: "0.0.0.0".to_owned(), port: 8080, ..RunConfig::default() };
        assert_eq!(types(&config, &environment), ["bodylimit", "auth", "mcp-parser", "recovery"]);
    }

    #[test]
    fn a_loopback_address_is_guarded_against_other_pages() {
        let environment = Environment::read([]);
        for host in ["localhost", "127.0.0.1", "::1", "127.8.8.8"] {
            let config = RunConfig { host: host.to_owned(), port: 8080, ..RunConfig::default() };
            assert!(types(&config, &environment).contains(&"origin"), "{host}");
        }
        let everywhere = RunConfig {
            host: "0.0.0.0".to_owned(),
            allowed_origins: vec!["https://a".to_owned()],
            ..RunConfig::default()
        };
        assert!(types(&everywhere, &environment).contains(&"origin"));
    }

    #[test]
    fn headers_from_secrets_are_resolved_or_the_proxy_does_not_start() {
        let forward = HeaderForwardConfig {
            add_headers_from_secret: BTreeMap::from([("X-Key".to_owned(), "key".to_owned())]),
            ..HeaderForwardConfig::default()
        };
        let config = RunConfig {
            remote_url: "https://example.com".to_owned().into(),
            header_forward: Some(forward),
            ..RunConfig::default()
        };
        let error = format!("{:#}", middlewares(&config, &Environment::read([])).unwrap_err());
        assert!(error.contains("X-Key") && error.contains("TOOLHIVE_SECRET_key"), "{error}");

        let secret = [("TOOLHIVE_SECRET_key".to_owned(), "hush".to_owned())];
        let all = middlewares(&config, &Environment::read(secret)).unwrap();
        let headers = all.iter().find_map(|middleware| match middleware {
            Middleware::HeaderForward(parameters) => Some(&parameters.add_headers),
            _ => None,
        });
        assert_eq!(headers.unwrap()["X-Key"], "hush");
        assert!(!format!("{all:?}").contains("hush"));
    }

    #[test]
    fn a_middleware_that_does_not_exist_is_an_error() {
        let unknown =
            thv_config::middleware::MiddlewareConfig { type_: "novel".to_owned(), ..Default::default() };
        let config = RunConfig { middleware_configs: vec![unknown], ..RunConfig::default() };
        assert!(middlewares(&config, &Environment::read([])).unwrap_err().to_string().contains("novel"));
    }
}
