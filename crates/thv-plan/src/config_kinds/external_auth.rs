//! `MCPExternalAuthConfig`: how credentials are obtained.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::auth_server::EmbeddedAuthServer;
use thv_api::conditions::Observation;
use thv_api::conditions::config::external_auth::{IdentitySynthesized, Valid};
use thv_api::kinds::MCPExternalAuthConfigSpec;
use thv_api::names::finalizers;

use super::ConfigKind;
use crate::invalid::InvalidList;
use crate::resolve::{auth_server, external_auth};

impl ConfigKind for MCPExternalAuthConfigSpec {
    type Valid = Valid;

    const FINALIZER: &'static str = finalizers::MCP_EXTERNAL_AUTH_CONFIG;
    const VALID: Valid = Valid::Succeeded;
    const INVALID: Valid = Valid::Failed;

    fn validate(&self) -> Result<Vec<String>, InvalidList> {
        external_auth::validate(self).map(|()| Vec::new())
    }

    fn unsupported(&self) -> Option<(Valid, String)> {
        external_auth::unsupported(self).map(|why| (Valid::EnterpriseRequired, why.to_owned()))
    }

    fn more_conditions(&self, observe: &Observation<'_>) -> Vec<Condition> {
        self.embedded_auth_server.iter().map(|server| identity(server, observe)).collect()
    }
}

/// Whether identities are made up: an OAuth 2 provider that is asked for nothing says nothing about the user.
fn identity(server: &EmbeddedAuthServer, observe: &Observation<'_>) -> Condition {
    let silent = auth_server::without_identity(server);
    if silent.is_empty() {
        return observe.condition(IdentitySynthesized::AllHaveUserInfo, "all providers say who the user is");
    }
    observe.condition(
        IdentitySynthesized::WithoutUserInfo,
        format!(
            "users of {} get an identity that is made up for every sign-in, because the provider does not say who they \
             are: set userInfo or identityFromToken",
            silent.join(", "),
        ),
    )
}
