//! `MCPExternalAuthConfig`: ways to sign in to something outside, to share.

mod exchange;
mod simple;
mod spec;

pub use exchange::{AwsRoleMapping, AwsSts, CrossAppAccess, OnBehalfOf, TokenExchange, XaaSubjectTokenType};
pub use simple::{BearerToken, HeaderInjection, UpstreamInject};
pub use spec::{ExternalAuthType, MCPExternalAuthConfig, MCPExternalAuthConfigSpec};
