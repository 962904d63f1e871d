//! What a pod is bound to as long as it lives.

use thv_api::names::{annotations, env};

use crate::env::EnvValue;
use crate::proxy::pod::ProxyPod;

/// The revision that a pod was rendered with, and the digest of the configuration that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodIdentity {
    /// The generation of the object that changed the content last.
    pub(crate) stamp: i64,
    /// `<uid>/<number>`.
    pub(crate) revision: String,
    /// The digest of the configuration.
    pub(crate) checksum: String,
}

/// All variables by which a pod knows its identity.
pub(crate) const NAMES: [&str; 3] =
    [env::MCP_SERVER_GENERATION, env::MCP_SERVER_REVISION, env::RUN_CONFIG_CHECKSUM];

/// Variables that get their values with the identity.
pub(crate) const RESERVED: [&str; 1] = [env::MCP_SERVER_REVISION];

/// Variables by which a pod knows its identity, from its own annotations.
pub(crate) fn variables() -> [(String, EnvValue); 2] {
    [
        (env::MCP_SERVER_GENERATION.to_owned(), EnvValue::Annotation(annotations::MCP_SERVER_GENERATION)),
        (env::RUN_CONFIG_CHECKSUM.to_owned(), EnvValue::Annotation(annotations::RUN_CONFIG_CHECKSUM)),
    ]
}

impl PodIdentity {
    /// Pods with this identity. Without, they are what revisions tell apart.
    pub(crate) fn bind<'a>(&self, mut pod: ProxyPod<'a>) -> ProxyPod<'a> {
        let Self { stamp, revision, checksum } = self;
        pod.metadata.annotate(annotations::RUN_CONFIG_CHECKSUM, checksum);
        pod.metadata.annotate(annotations::MCP_SERVER_GENERATION, &stamp.to_string());
        pod.env.set(env::MCP_SERVER_REVISION, EnvValue::literal(revision));
        pod
    }
}

#[cfg(test)]
mod tests {
    use thv_api::shared::EnvVar;

    use super::*;
    use crate::overrides::IgnoredOverrides;
    use crate::proxy::env::compose;

    #[test]
    fn users_cannot_override_the_identity_of_a_pod() {
        for name in NAMES {
            let mut ignored = IgnoredOverrides::default();
            let user = [EnvVar { name: name.to_owned(), value: "mine".to_owned() }];
            let made = compose(variables(), &RESERVED, &user, &mut ignored);
            assert_ne!(made.get(name), Some(&EnvValue::literal("mine")), "{name}");
            assert!(ignored.message().contains(name), "{name}");
        }
    }
}
