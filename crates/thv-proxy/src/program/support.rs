//! What a configuration can ask for and this program cannot do. It does not start then: to run without what the
//! user asked for would be worse than not to run.

use thv_config::{RunConfig, Transport};

/// Something that this program cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the configuration asks for {what} ({key}), which this proxy cannot do: {remedy}")]
pub struct Unsupported {
    /// The key that asks for it.
    pub key: &'static str,
    /// What it asks for.
    pub what: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

const REMOVE: &str = "remove it, or run a proxy that can";

/// Fails for the first thing that this program cannot do. What middlewares do is checked with their list.
///
/// Names every key, so that a new one is supported, or refused, or left out on purpose.
pub fn check(config: &RunConfig) -> Result<(), Unsupported> {
    let RunConfig {
        schema_version: _,
        mcpserver_generation: _,
        image: _,
        remote_url: _,
        registry_api_url: _,
        registry_url: _,
        registry_server_name: _,
        remote_auth_config,
        cmd_args: _,
        name: _,
        container_name: _,
        base_name: _,
        transport,
        host: _,
        port: _,
        target_port: _,
        target_host: _,
        allowed_origins: _,
        publish: _,
        // In a cluster, the pod template says what a backend may touch, and the operator has put it there.
        permission_profile_name_or_path: _,
        permission_profile: _,
        env_vars: _,
        env_file_dir: _,
        debug: _,
        volumes: _,
        container_labels: _,
        // These four are in the list of middlewares, or the configuration is not valid.
        oidc_config: _,
        token_exchange_config: _,
        aws_sts_config: _,
        authz_config: _,
        upstream_swap_config,
        authz_config_path,
        // As are these.
        audit_config: _,
        telemetry_config: _,
        rate_limit_config: _,
        tools_filter: _,
        tools_override: _,
        validating_webhooks: _,
        mutating_webhooks: _,
        embedded_auth_server_config: _,
        audit_config_path,
        rate_limit_namespace: _,
        secrets,
        k8s_pod_template_patch: _,
        isolate_network: _,
        allow_docker_gateway: _,
        trust_proxy_headers: _,
        // Backends over HTTP decide for themselves which versions they speak.
        strict_protocol_validation: _,
        stateless: _,
        session_ttl: _,
        proxy_mode: _,
        thv_ca_bundle: _,
        jwks_auth_token_file: _,
        group: _,
        ignore_config: _,
        middleware_configs: _,
        additional_middleware_configs: _,
        endpoint_prefix: _,
        runtime_config: _,
        header_forward: _,
        scaling_config: _,
    } = config;
    let secret_remedy = "hand secrets to the pod template by secretKeyRef, as the operator does";
    let http = "use an MCP server that speaks streamable-http or sse";
    for (asked_for, key, what, remedy) in [
        (*transport == Transport::Stdio, "transport: stdio", "a server over standard input and output", http),
        (remote_auth_config.is_some(), "remote_auth_config", "signing in at a remote server", REMOVE),
        (upstream_swap_config.is_some(), "upstream_swap_config", "tokens of an upstream provider", REMOVE),
        (!authz_config_path.is_empty(), "authz_config_path", "authorization", REMOVE),
        (!audit_config_path.is_empty(), "audit_config_path", "audit records", REMOVE),
        (!secrets.is_empty(), "secrets", "secrets in the backend's environment in plain text", secret_remedy),
    ] {
        if asked_for {
            return Err(Unsupported { key, what, remedy });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use thv_config::remote::RemoteAuthConfig;

    use super::*;

    fn http() -> RunConfig {
        RunConfig { transport: Transport::StreamableHttp, ..RunConfig::default() }
    }

    #[test]
    fn a_plain_configuration_is_supported() {
        assert_eq!(check(&http()), Ok(()));
    }

    #[test]
    fn what_cannot_be_done_is_named() {
        let cases = [
            (RunConfig { transport: Transport::Stdio, ..http() }, "transport: stdio"),
            (
                RunConfig { remote_auth_config: Some(RemoteAuthConfig::default()), ..http() },
                "remote_auth_config",
            ),
            (RunConfig { authz_config_path: "/x".to_owned(), ..http() }, "authz_config_path"),
            (RunConfig { secrets: vec!["a,target=B".to_owned()], ..http() }, "secrets"),
        ];
        for (config, key) in cases {
            assert_eq!(check(&config).unwrap_err().key, key);
        }
    }
}
