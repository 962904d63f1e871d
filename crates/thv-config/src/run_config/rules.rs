//! What a document must fulfil before it is written, and before a proxy runs by it.

use super::RunConfig;
use super::problem::{Invalid, Problem, ProblemKind};
use crate::json::Json;
use crate::middleware::MiddlewareConfig;
use crate::secret::SecretReference;

impl RunConfig {
    /// Checks the document and reports everything that is wrong with it.
    pub fn validate(&self) -> Result<(), Invalid> {
        let mut report = Report::default();
        self.check(&mut report);
        if report.0.is_empty() { Ok(()) } else { Err(Invalid(report.0)) }
    }

    /// Names every key, so that a new one is checked or passed over on purpose.
    fn check(&self, report: &mut Report) {
        let Self {
            schema_version,
            mcpserver_generation: _,
            image: _,
            remote_url: _,
            registry_api_url: _,
            registry_url: _,
            registry_server_name: _,
            remote_auth_config: _,
            cmd_args: _,
            name,
            container_name: _,
            base_name: _,
            transport: _,
            host: _,
            port: _,
            target_port: _,
            target_host: _,
            allowed_origins: _,
            publish: _,
            permission_profile_name_or_path: _,
            permission_profile: _,
            env_vars: _,
            env_file_dir: _,
            debug: _,
            volumes,
            container_labels: _,
            oidc_config: _,
            token_exchange_config: _,
            upstream_swap_config: _,
            aws_sts_config: _,
            authz_config: _,
            authz_config_path: _,
            audit_config: _,
            audit_config_path: _,
            telemetry_config: _,
            rate_limit_config: _,
            rate_limit_namespace: _,
            secrets,
            k8s_pod_template_patch: _,
            isolate_network: _,
            allow_docker_gateway: _,
            trust_proxy_headers: _,
            strict_protocol_validation: _,
            stateless: _,
            session_ttl,
            proxy_mode: _,
            thv_ca_bundle: _,
            jwks_auth_token_file: _,
            group: _,
            tools_filter: _,
            tools_override: _,
            ignore_config: _,
            middleware_configs: _,
            additional_middleware_configs: _,
            validating_webhooks: _,
            mutating_webhooks: _,
            endpoint_prefix: _,
            runtime_config: _,
            header_forward: _,
            embedded_auth_server_config: _,
            scaling_config: _,
        } = self;
        report.unless(is_known_version(schema_version), "schema_version", ProblemKind::SchemaVersion);
        report.unless(!name.is_empty(), "name", ProblemKind::Empty);
        self.check_server(report);
        self.check_environment(report);
        for (index, volume) in volumes.iter().enumerate() {
            report.unless(is_volume(volume), format!("volumes[{index}]"), ProblemKind::Volume);
        }
        for (index, secret) in secrets.iter().enumerate() {
            let is_reference = SecretReference::parse(secret).is_some();
            report.unless(is_reference, format!("secrets[{index}]"), ProblemKind::Secret);
        }
        let is_negative = session_ttl.as_ref().is_some_and(|ttl| ttl.as_nanos() < 0);
        report.unless(!is_negative, "session_ttl", ProblemKind::NegativeTtl);
        self.check_tools(report);
        self.check_combinations(report);
        self.check_chain(report);
    }

    /// The server and how it is reached.
    fn check_server(&self, report: &mut Report) {
        report.unless(self.is_remote() || !self.image.is_empty(), "image", ProblemKind::NoServer);
        report.unless(!self.host.contains(char::is_whitespace), "host", ProblemKind::HostSpace);
        // Without a host, Go listens everywhere; for a remote server the Go operator insists on one.
        report.unless(!self.is_remote() || !self.host.is_empty(), "host", ProblemKind::Empty);
        match self.transport.implied_mode() {
            None => report.unless(!self.stateless, "stateless", ProblemKind::StatelessStdio),
            Some(implied) => {
                report.unless(self.port != 0, "port", ProblemKind::NoPort);
                report.unless(self.is_remote() || self.target_port != 0, "target_port", ProblemKind::NoPort);
                if let Some(mode) = self.proxy_mode.filter(|mode| *mode != implied) {
                    report.add("proxy_mode", ProblemKind::Mode { transport: self.transport, mode });
                }
            }
        }
    }

    fn check_environment(&self, report: &mut Report) {
        for (name, value) in self.env_vars.iter() {
            let path = || format!("env_vars.{}", name.escape_debug());
            report.unless(
                !name.is_empty() && !name.contains(['=', '\r', '\n']),
                path(),
                ProblemKind::EnvName,
            );
            report.unless(!value.contains(['\r', '\n']), path(), ProblemKind::EnvValue);
        }
    }

    fn check_tools(&self, report: &mut Report) {
        for (index, tool) in self.tools_filter.iter().enumerate() {
            let is_name = !tool.is_empty() && !tool.contains([',', '\r', '\n']);
            report.unless(is_name, format!("tools_filter[{index}]"), ProblemKind::ToolName);
        }
        for (tool, face) in &self.tools_override {
            let path = || format!("tools_override.{}", tool.escape_debug());
            report.unless(!tool.is_empty(), path(), ProblemKind::ToolName);
            let is_idle = face.name.is_empty() && face.description.is_empty();
            report.unless(!is_idle, path(), ProblemKind::IdleOverride);
        }
    }

    /// What goes together and what does not.
    fn check_combinations(&self, report: &mut Report) {
        let redis = self.scaling_config.as_ref().and_then(|scaling| scaling.session_redis.as_ref());
        let has_prefix = |prefix: &str| prefix.is_empty() || prefix.ends_with(':');
        report.unless(
            redis.is_none_or(|redis| has_prefix(&redis.key_prefix)),
            "scaling_config.session_redis.key_prefix",
            ProblemKind::KeyPrefix,
        );
        let is_countable = self.rate_limit_config.is_none() || redis.is_some();
        report.unless(is_countable, "rate_limit_config", ProblemKind::NoRedis);
        let is_signable = self.aws_sts_config.is_none() || self.is_remote();
        report.unless(is_signable, "aws_sts_config", ProblemKind::AwsStsLocal);
        if let Some(server) = &self.embedded_auth_server_config {
            let keeps_token = !server.disable_upstream_token_injection;
            let exchanges = self.token_exchange_config.is_some();
            report.unless(keeps_token || !exchanges, "token_exchange_config", ProblemKind::StrippedToken);
            let signs = self.aws_sts_config.is_some();
            report.unless(keeps_token || !signs, "aws_sts_config", ProblemKind::StrippedToken);
            let upstreams = "embedded_auth_server_config.upstreams";
            report.unless(server.upstreams.len() <= 1, upstreams, ProblemKind::Upstreams);
        }
    }

    /// The list of middlewares is what counts. What the rest of the document asks for must be in it, or a proxy
    /// would run without.
    fn check_chain(&self, report: &mut Report) {
        if self.middleware_configs.is_empty() {
            return;
        }
        let filters_tools = !self.tools_filter.is_empty() || !self.tools_override.is_empty();
        let tools = if self.tools_filter.is_empty() { "tools_override" } else { "tools_filter" };
        let server = self.embedded_auth_server_config.as_ref();
        let strips = server.is_some_and(|server| server.disable_upstream_token_injection);
        let upstream = if strips { "strip-auth" } else { "upstreamswap" };
        for (asked_for, path, middleware) in [
            (self.oidc_config.is_some(), "oidc_config", "auth"),
            (server.is_some(), "embedded_auth_server_config", upstream),
            (self.token_exchange_config.is_some(), "token_exchange_config", "tokenexchange"),
            (self.aws_sts_config.is_some(), "aws_sts_config", "awssts"),
            (self.authz_config.is_some(), "authz_config", "authorization"),
            (self.audit_config.is_some(), "audit_config", "audit"),
            (self.telemetry_config.is_some(), "telemetry_config", "telemetry"),
            (self.rate_limit_config.is_some(), "rate_limit_config", "ratelimit"),
            (filters_tools, tools, "tool-filter"),
            (filters_tools, tools, "tool-call-filter"),
            (!self.validating_webhooks.is_empty(), "validating_webhooks", "validating-webhook"),
            (!self.mutating_webhooks.is_empty(), "mutating_webhooks", "mutating-webhook"),
        ] {
            let is_done = || self.middleware_configs.iter().any(|config| does(config, middleware));
            report.unless(!asked_for || is_done(), path, ProblemKind::Unenforced { middleware });
        }
    }
}

/// Whether an entry of the chain is of a type, and does what that type is for.
fn does(config: &MiddlewareConfig, middleware: &str) -> bool {
    // Without parameters, `auth` takes every caller for the local user.
    let checks_callers = || config.parameters.get("oidc_config").is_some_and(|oidc| *oidc != Json::Null);
    config.type_ == middleware && (middleware != "auth" || checks_callers())
}

#[derive(Default)]
struct Report(Vec<Problem>);

impl Report {
    fn add(&mut self, path: impl Into<String>, kind: ProblemKind) {
        self.0.push(Problem { path: path.into(), kind });
    }

    fn unless(&mut self, fine: bool, path: impl Into<String>, kind: ProblemKind) {
        if !fine {
            self.add(path, kind);
        }
    }
}

/// Newer minor versions add keys, which are tolerated. Another major version means something else.
fn is_known_version(version: &str) -> bool {
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    version.is_empty() || major(version) == major(RunConfig::SCHEMA_VERSION)
}

fn is_volume(volume: &str) -> bool {
    let mut parts = volume.split(':');
    let mut path = || parts.next().is_some_and(|part| !part.is_empty());
    path() && path() && matches!((parts.next(), parts.next()), (None | Some("ro"), None))
}
