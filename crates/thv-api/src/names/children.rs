//! Names of the objects that belong to ours, and of the keys within them.

/// Children of an `MCPServer`.
pub mod mcp_server {
    /// The Deployment of the proxy.
    pub fn deployment(name: &str) -> String {
        name.to_owned()
    }

    /// The Service of the proxy.
    pub fn proxy_service(name: &str) -> String {
        format!("mcp-{name}-proxy")
    }

    /// The ConfigMap with the configuration of the proxy.
    pub fn run_config(name: &str) -> String {
        format!("{name}-runconfig")
    }

    /// The ConfigMap with the authorization rules that stand in the spec.
    pub fn inline_authz(name: &str) -> String {
        format!("{name}-authz-inline")
    }

    /// The ServiceAccount, Role and RoleBinding of the proxy.
    pub fn proxy_runner(name: &str) -> String {
        format!("{name}-proxy-runner")
    }

    /// The ServiceAccount of the backend, unless the user names one.
    pub fn backend_service_account(name: &str) -> String {
        format!("{name}-sa")
    }

    /// The StatefulSet of the backend, which the proxy applies.
    pub fn backend(name: &str) -> String {
        name.to_owned()
    }

    /// The headless Service of the backend, for the HTTP transports.
    pub fn backend_headless_service(name: &str) -> String {
        format!("mcp-{name}-headless")
    }

    /// The Service of the backend, for the HTTP transports.
    pub fn backend_service(name: &str) -> String {
        format!("mcp-{name}")
    }
}

/// Children of an `MCPRemoteProxy`.
pub mod mcp_remote_proxy {
    /// The Deployment of the proxy.
    pub fn deployment(name: &str) -> String {
        name.to_owned()
    }

    /// The Service of the proxy.
    pub fn service(name: &str) -> String {
        format!("mcp-{name}-remote-proxy")
    }

    /// The ConfigMap with the configuration of the proxy.
    pub fn run_config(name: &str) -> String {
        format!("{name}-runconfig")
    }

    /// The ConfigMap with the authorization rules that stand in the spec.
    pub fn inline_authz(name: &str) -> String {
        format!("{name}-authz-inline")
    }

    /// The ServiceAccount, Role and RoleBinding of the proxy.
    pub fn proxy_runner(name: &str) -> String {
        format!("{name}-remote-proxy-runner")
    }
}

/// Children of a `VirtualMCPServer`.
pub mod virtual_mcp_server {
    /// The Deployment.
    pub fn deployment(name: &str) -> String {
        name.to_owned()
    }

    /// The Service.
    pub fn service(name: &str) -> String {
        format!("vmcp-{name}")
    }

    /// The ConfigMap with the configuration.
    pub fn config(name: &str) -> String {
        format!("{name}-vmcp-config")
    }

    /// The ServiceAccount, Role and RoleBinding.
    pub fn service_account(name: &str) -> String {
        format!("{name}-vmcp")
    }

    /// The Lease of the pod that reports the status.
    pub fn lease(name: &str) -> String {
        format!("{name}-vmcp")
    }

    /// The Secret that binds sessions.
    pub fn hmac_secret(name: &str) -> String {
        format!("{name}-hmac-secret")
    }
}

/// Children of an `EmbeddingServer`.
pub mod embedding_server {
    /// The StatefulSet.
    pub fn stateful_set(name: &str) -> String {
        name.to_owned()
    }

    /// The Service.
    pub fn service(name: &str) -> String {
        name.to_owned()
    }

    /// The volume claim of one pod.
    pub fn volume_claim(name: &str, ordinal: u32) -> String {
        format!("{}-{name}-{ordinal}", super::super::volumes::MODEL_CACHE)
    }
}

/// Children of an `MCPRegistry`.
pub mod mcp_registry {
    /// The Deployment and the Service.
    pub fn api(name: &str) -> String {
        format!("{name}-api")
    }

    /// The ConfigMap with the configuration.
    pub fn config(name: &str) -> String {
        format!("{name}-registry-server-config")
    }

    /// The ServiceAccount, Role and RoleBinding.
    pub fn service_account(name: &str) -> String {
        format!("{name}-registry-api")
    }
}

/// Keys within ConfigMaps and Secrets of ours.
pub mod keys {
    /// The configuration of a proxy.
    pub const RUN_CONFIG: &str = "runconfig.json";
    /// Authorization rules.
    pub const AUTHZ: &str = "authz.json";
    /// The configuration of a virtual server or registry.
    pub const CONFIG: &str = "config.yaml";
    /// The configuration of the authorization server in a virtual server.
    pub const AUTH_SERVER_CONFIG: &str = "authserver-config.yaml";
    /// The secret that binds sessions.
    pub const HMAC_SECRET: &str = "hmac-secret";
    /// Certificate authorities, unless the user names another key.
    pub const CA_BUNDLE: &str = "ca.crt";
    /// The password of the default Redis, unless the user names another key.
    pub const REDIS_PASSWORD: &str = "redis-password";
}

/// The name of a Service within the cluster.
pub fn service_host(service: &str, namespace: &str) -> String {
    format!("{service}.{namespace}.svc.cluster.local")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_those_of_the_go_operator() {
        assert_eq!(mcp_server::proxy_service("fetch"), "mcp-fetch-proxy");
        assert_eq!(mcp_server::run_config("fetch"), "fetch-runconfig");
        assert_eq!(mcp_server::inline_authz("fetch"), "fetch-authz-inline");
        assert_eq!(mcp_server::proxy_runner("fetch"), "fetch-proxy-runner");
        assert_eq!(mcp_server::backend_service_account("fetch"), "fetch-sa");
        assert_eq!(mcp_server::backend_headless_service("fetch"), "mcp-fetch-headless");
        assert_eq!(mcp_server::backend_service("fetch"), "mcp-fetch");
        assert_eq!(mcp_remote_proxy::service("far"), "mcp-far-remote-proxy");
        assert_eq!(mcp_remote_proxy::proxy_runner("far"), "far-remote-proxy-runner");
        assert_eq!(virtual_mcp_server::service("all"), "vmcp-all");
        assert_eq!(virtual_mcp_server::config("all"), "all-vmcp-config");
        assert_eq!(virtual_mcp_server::service_account("all"), "all-vmcp");
        assert_eq!(virtual_mcp_server::hmac_secret("all"), "all-hmac-secret");
        assert_eq!(embedding_server::volume_claim("emb", 0), "model-cache-emb-0");
        assert_eq!(mcp_registry::api("reg"), "reg-api");
        assert_eq!(mcp_registry::config("reg"), "reg-registry-server-config");
        assert_eq!(mcp_registry::service_account("reg"), "reg-registry-api");
        assert_eq!(service_host("mcp-fetch-proxy", "ns"), "mcp-fetch-proxy.ns.svc.cluster.local");
    }
}
