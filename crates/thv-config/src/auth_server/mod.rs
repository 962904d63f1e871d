//! The embedded OAuth authorization server.

mod server;
mod storage;
mod trusted_issuer;
mod upstream;

pub use server::{AuthServerConfig, ClientIdMetadata, DelegateClient, SigningKeys, TokenLifespans};
pub use storage::{
    AuthServerStorage, AuthServerStorageType, RedisAuthType, RedisSentinel, RedisStorage, RedisTls, RedisUser,
};
pub use trusted_issuer::{JwtBearerGrant, SubjectBinding, TrustedIssuer};
pub use upstream::{
    ClientRegistration, IdentityFromToken, Oauth2Upstream, OidcUpstream, TokenResponseMapping, Upstream,
    UpstreamType, UserInfo, UserInfoFields,
};
