//! The embedded OAuth authorization server, as two kinds configure it.

mod server;
mod storage;
mod trusted_issuer;
mod upstream;

pub use server::{ClientIdMetadata, DelegateClient, EmbeddedAuthServer, TokenLifespans};
pub use storage::{
    AuthServerStorage, AuthServerStorageType, RedisSentinel, RedisStorage, RedisTls, RedisUser,
    SentinelService,
};
pub use trusted_issuer::{JwtBearerGrant, SubjectBinding, TrustedIssuer};
pub use upstream::{
    DynamicRegistration, IdentityFromToken, OAuth2Upstream, OidcUpstream, TokenResponseMapping,
    UpstreamProvider, UpstreamType, UserInfo, UserInfoFields, UserInfoMethod,
};
