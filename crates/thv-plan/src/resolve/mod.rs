//! What objects refer to, and whether it can be used. Nothing here knows which kind of object refers.
//!
//! Each module is about one kind of configuration:
//!
//! - `references` says what has to be read for it, hence watched.
//! - `validate` has the rules over its spec alone, so that whoever looks after that kind applies the same rules.
//! - `resolve` says what became of a reference to it: an [`Outcome`].

pub mod auth_server;
pub mod authz;
mod authz_document;
pub mod ca_bundle;
mod config;
pub mod external_auth;
pub(crate) mod gateway_auth;
pub(crate) mod group;
pub(crate) mod headers;
mod need;
pub mod oidc;
mod outcome;
pub mod permission_profile;
pub(crate) mod remote_url;
pub(crate) mod secrets;
pub mod session_redis;
mod strategy;
pub mod telemetry;
pub mod tools;
mod url;
pub mod webhooks;

pub use self::auth_server::AuthServer;
pub use self::authz::{Authz, SharedAuthz};
pub use self::ca_bundle::CaBundle;
pub use self::config::{Config, config_hash};
pub use self::external_auth::{ExternalAuth, ExternalAuthMethod};
pub use self::headers::{Headers, SecretHeaderValue};
pub use self::oidc::Oidc;
pub use self::outcome::{Cause, Outcome, Unusable};
pub use self::permission_profile::{Profile, ProfileOrigin};
pub use self::session_redis::SessionRedis;
pub use self::telemetry::Telemetry;

pub(crate) use self::need::Need;
pub(crate) use self::outcome::Misfit;
pub(crate) use self::strategy::{Strategy, strategy};
