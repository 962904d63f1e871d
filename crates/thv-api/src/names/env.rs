//! Environment variables.

// Of proxies and virtual servers.

/// The generation of the `MCPServer` that a pod was made for.
pub const MCP_SERVER_GENERATION: &str = "THV_MCPSERVER_GENERATION";
/// The rendered revision that a pod was made for.
pub const MCP_SERVER_REVISION: &str = "THV_MCPSERVER_REVISION";
/// Digest of the configuration that a pod was made for.
pub const RUN_CONFIG_CHECKSUM: &str = "THV_RUNCONFIG_CHECKSUM";
/// Password of the Redis that keeps sessions.
pub const SESSION_REDIS_PASSWORD: &str = "THV_SESSION_REDIS_PASSWORD";
/// Whether a proxy logs more.
pub const DEBUG: &str = "TOOLHIVE_DEBUG";
/// In every pod: the API server. Kubernetes sets it.
pub const KUBERNETES_SERVICE_HOST: &str = "KUBERNETES_SERVICE_HOST";
/// What runs the backend: `kubernetes`.
pub const RUNTIME: &str = "TOOLHIVE_RUNTIME";
/// Where secrets come from: `environment`.
pub const SECRETS_PROVIDER: &str = "TOOLHIVE_SECRETS_PROVIDER";
/// Whether logs are plain text.
pub const UNSTRUCTURED_LOGS: &str = "UNSTRUCTURED_LOGS";
/// Where configuration files are looked for.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
/// The home directory.
pub const HOME: &str = "HOME";
/// Attributes of everything that telemetry sends.
pub const OTEL_RESOURCE_ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
/// Client secret for introspection, in a proxy.
pub const OIDC_CLIENT_SECRET: &str = "TOOLHIVE_OIDC_CLIENT_SECRET";
/// Client secret for token exchange, in a proxy.
pub const TOKEN_EXCHANGE_CLIENT_SECRET: &str = "TOOLHIVE_TOKEN_EXCHANGE_CLIENT_SECRET";
/// User name for the Redis of the authorization server.
pub const AUTH_SERVER_REDIS_USERNAME: &str = "TOOLHIVE_AUTH_SERVER_REDIS_USERNAME";
/// Password for the Redis of the authorization server.
pub const AUTH_SERVER_REDIS_PASSWORD: &str = "TOOLHIVE_AUTH_SERVER_REDIS_PASSWORD";
/// What the variables begin with that hold secrets.
pub const SECRET_PREFIX: &str = "TOOLHIVE_SECRET_";
/// What the variables begin with that hold telemetry headers.
pub const OTEL_HEADER_PREFIX: &str = "TOOLHIVE_OTEL_HEADER_";

// Of virtual servers.

/// Name of the `VirtualMCPServer`.
pub const VMCP_NAME: &str = "VMCP_NAME";
/// Namespace of the `VirtualMCPServer`.
pub const VMCP_NAMESPACE: &str = "VMCP_NAMESPACE";
/// Client secret for introspection, in a virtual server.
pub const VMCP_OIDC_CLIENT_SECRET: &str = "VMCP_OIDC_CLIENT_SECRET";
/// The secret that binds sessions.
pub const VMCP_SESSION_HMAC_SECRET: &str = "VMCP_SESSION_HMAC_SECRET";
/// The address of the pod, by which other pods of the same virtual server reach it.
pub const VMCP_POD_IP: &str = "VMCP_POD_IP";

// Of embedding servers and registries.

/// The model to serve.
pub const MODEL_ID: &str = "MODEL_ID";
/// Token for Hugging Face.
pub const HF_TOKEN: &str = "HF_TOKEN";
/// Where models are kept.
pub const HF_HOME: &str = "HF_HOME";
/// The password file for PostgreSQL.
pub const PGPASSFILE: &str = "PGPASSFILE";

// Of the operator itself.

/// The namespace that the operator runs in.
pub const POD_NAMESPACE: &str = "POD_NAMESPACE";
/// The name of the pod that the operator runs in.
pub const POD_NAME: &str = "POD_NAME";
/// The name of the host that a program runs on, which is the pod's unless that is on the network of its node.
pub const HOSTNAME: &str = "HOSTNAME";
/// The namespaces that the operator looks after. All of them when absent.
pub const WATCH_NAMESPACE: &str = "WATCH_NAMESPACE";
/// Image of proxies.
pub const RUNNER_IMAGE: &str = "TOOLHIVE_RUNNER_IMAGE";
/// Image of virtual servers.
pub const VMCP_IMAGE: &str = "VMCP_IMAGE";
/// Image of registries.
pub const REGISTRY_API_IMAGE: &str = "TOOLHIVE_REGISTRY_API_IMAGE";
/// The address that proxies listen on.
pub const PROXY_HOST: &str = "TOOLHIVE_PROXY_HOST";
/// Pull secrets for all workloads, with commas between them.
pub const DEFAULT_IMAGE_PULL_SECRETS: &str = "TOOLHIVE_DEFAULT_IMAGE_PULL_SECRETS";
/// Redis for workloads that do not name one.
pub const DEFAULT_REDIS_ADDR: &str = "TOOLHIVE_DEFAULT_REDIS_ADDR";
/// Secret with the password of that Redis.
pub const DEFAULT_REDIS_SECRET_NAME: &str = "TOOLHIVE_DEFAULT_REDIS_SECRET_NAME";
/// Key within that Secret.
pub const DEFAULT_REDIS_SECRET_KEY: &str = "TOOLHIVE_DEFAULT_REDIS_SECRET_KEY";
/// Whether to rewrite stored objects to the storage version.
pub const ENABLE_STORAGE_VERSION_MIGRATOR: &str = "TOOLHIVE_ENABLE_STORAGE_VERSION_MIGRATOR";
/// Whether the cluster is OpenShift. Found out when absent.
pub const OPERATOR_OPENSHIFT: &str = "OPERATOR_OPENSHIFT";

/// What a variable that says yes or no means, in Go's notation; nothing if it says neither.
pub fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// A telemetry header from a Secret.
pub fn otel_header(header: &str) -> String {
    format!("{OTEL_HEADER_PREFIX}{}", header.to_ascii_uppercase().replace('-', "_"))
}

/// Client secret of an upstream provider of the authorization server.
pub fn upstream_client_secret(provider: &str) -> String {
    format!("TOOLHIVE_UPSTREAM_CLIENT_SECRET_{}", shouting(provider))
}

/// Token for dynamic registration with an upstream provider of the authorization server.
pub fn upstream_initial_access_token(provider: &str) -> String {
    format!("TOOLHIVE_UPSTREAM_DCR_INITIAL_ACCESS_TOKEN_{}", shouting(provider))
}

/// Secret of a delegate client of the authorization server.
pub fn delegate_client_secret(index: usize) -> String {
    format!("TOOLHIVE_DELEGATE_CLIENT_SECRET_{index}")
}

/// A secret as the environment provider of secrets looks for it. The name stays as it is.
pub fn secret(name: &str) -> String {
    format!("{SECRET_PREFIX}{name}")
}

/// The identifier of the secret for a header that a proxy or virtual server adds.
pub fn header_forward_secret_id(header: &str, owner: &str) -> String {
    format!("HEADER_FORWARD_{}_{}", shouting(header), shouting(owner))
}

/// The secret for a header that a proxy or virtual server adds.
pub fn header_forward_secret(header: &str, owner: &str) -> String {
    secret(&header_forward_secret_id(header, owner))
}

/// The headers that a virtual server adds for an `MCPServerEntry`.
pub fn header_forward(entry: &str) -> String {
    format!("TOOLHIVE_HEADER_FORWARD_{}", shouting(entry))
}

/// Client secret of a token exchange, in a virtual server.
pub fn token_exchange_client_secret(config: &str) -> String {
    format!("{TOKEN_EXCHANGE_CLIENT_SECRET}_{}", shouting(config))
}

/// Value of an injected header, in a virtual server.
pub fn header_injection_value(config: &str) -> String {
    format!("TOOLHIVE_HEADER_INJECTION_VALUE_{}", shouting(config))
}

/// Client secret at the identity provider for cross-app access, in a virtual server.
pub fn xaa_idp_client_secret(config: &str) -> String {
    format!("TOOLHIVE_XAA_IDP_CLIENT_SECRET_{}", shouting(config))
}

/// Client secret at the target for cross-app access, in a virtual server.
pub fn xaa_target_client_secret(config: &str) -> String {
    format!("TOOLHIVE_XAA_TARGET_CLIENT_SECRET_{}", shouting(config))
}

/// Upper case, with an underscore for all but letters and digits.
pub(super) fn shouting(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_are_those_of_go_and_nothing_else() {
        assert_eq!(["1", "t", "T", "TRUE", "true", "True"].map(boolean), [Some(true); 6]);
        assert_eq!(["0", "f", "F", "FALSE", "false", "False"].map(boolean), [Some(false); 6]);
        assert_eq!(["", "yes", "on", "tRUE", " true", "2"].map(boolean), [None; 6]);
    }

    #[test]
    fn names_become_variables() {
        assert_eq!(otel_header("x-api-key"), "TOOLHIVE_OTEL_HEADER_X_API_KEY");
        assert_eq!(upstream_client_secret("my-idp"), "TOOLHIVE_UPSTREAM_CLIENT_SECRET_MY_IDP");
        assert_eq!(
            header_forward_secret("X-Api-Key", "git.hub"),
            "TOOLHIVE_SECRET_HEADER_FORWARD_X_API_KEY_GIT_HUB"
        );
        assert_eq!(header_forward("github"), "TOOLHIVE_HEADER_FORWARD_GITHUB");
        assert_eq!(secret("My-secret"), "TOOLHIVE_SECRET_My-secret");
        assert_eq!(token_exchange_client_secret("cfg"), "TOOLHIVE_TOKEN_EXCHANGE_CLIENT_SECRET_CFG");
    }
}
