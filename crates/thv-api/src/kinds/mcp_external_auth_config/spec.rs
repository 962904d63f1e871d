//! `MCPExternalAuthConfig`: ways to sign in to something outside, to share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth_server::EmbeddedAuthServer;
use crate::kinds::{
    AwsSts, BearerToken, CrossAppAccess, HeaderInjection, OnBehalfOf, TokenExchange, UpstreamInject,
};
use crate::object::{Column, Kind, Object};
use crate::schema::cel;
use crate::shared::ConfigStatus;
use crate::value::string_enum;

/// A way to sign in to something outside.
pub type MCPExternalAuthConfig = Object<MCPExternalAuthConfigSpec>;

impl Kind for MCPExternalAuthConfigSpec {
    type Status = ConfigStatus;

    const KIND: &'static str = "MCPExternalAuthConfig";
    const PLURAL: &'static str = "mcpexternalauthconfigs";
    const SINGULAR: &'static str = "mcpexternalauthconfig";
    const SHORT_NAMES: &'static [&'static str] = &["extauth", "mcpextauth"];
    const COLUMNS: &'static [Column] = &[
        Column::new("Type", "string", ".spec.type"),
        Column::VALID,
        Column::REFERENCED,
        Column::REFERRERS,
        Column::AGE,
    ];
    const DESCRIPTION: &'static str = "How to obtain credentials for something outside the proxy. Servers \
         refer to it by externalAuthConfigRef or authServerRef.";
}

/// A way to sign in. The settings of the type given, and no others, have to be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = cel(&[
    (
        "self.type == 'tokenExchange' ? has(self.tokenExchange) : !has(self.tokenExchange)",
        "type tokenExchange and the field tokenExchange go together: set both or neither",
    ),
    (
        "self.type == 'headerInjection' ? has(self.headerInjection) : !has(self.headerInjection)",
        "type headerInjection and the field headerInjection go together: set both or neither",
    ),
    (
        "self.type == 'bearerToken' ? has(self.bearerToken) : !has(self.bearerToken)",
        "type bearerToken and the field bearerToken go together: set both or neither",
    ),
    (
        "self.type == 'embeddedAuthServer' ? has(self.embeddedAuthServer) : \
         !has(self.embeddedAuthServer)",
        "type embeddedAuthServer and the field embeddedAuthServer go together: set both or neither",
    ),
    (
        "self.type == 'awsSts' ? has(self.awsSts) : !has(self.awsSts)",
        "type awsSts and the field awsSts go together: set both or neither",
    ),
    (
        "self.type == 'upstreamInject' ? has(self.upstreamInject) : !has(self.upstreamInject)",
        "type upstreamInject and the field upstreamInject go together: set both or neither",
    ),
    (
        "self.type == 'obo' ? has(self.obo) : !has(self.obo)",
        "type obo and the field obo go together: set both or neither",
    ),
    (
        "self.type == 'xaa' ? has(self.xaa) : !has(self.xaa)",
        "type xaa and the field xaa go together: set both or neither",
    ),
    (
        "self.type == 'unauthenticated' ? (!has(self.tokenExchange) && !has(self.headerInjection) && \
         !has(self.bearerToken) && !has(self.embeddedAuthServer) && !has(self.awsSts) && \
         !has(self.upstreamInject) && !has(self.obo) && !has(self.xaa)) : true",
        "type unauthenticated takes no settings: remove them, or choose their type",
    ),
])))]
pub struct MCPExternalAuthConfigSpec {
    /// Which way.
    #[serde(rename = "type")]
    pub type_: ExternalAuthType,

    /// Settings for type `tokenExchange`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_exchange: Option<TokenExchange>,

    /// Settings for type `headerInjection`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_injection: Option<HeaderInjection>,

    /// Settings for type `bearerToken`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearer_token: Option<BearerToken>,

    /// Settings for type `embeddedAuthServer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedded_auth_server: Option<EmbeddedAuthServer>,

    /// Settings for type `awsSts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aws_sts: Option<AwsSts>,

    /// Settings for type `upstreamInject`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_inject: Option<UpstreamInject>,

    /// Settings for type `obo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obo: Option<OnBehalfOf>,

    /// Settings for type `xaa`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xaa: Option<CrossAppAccess>,
}

string_enum! {
    /// Ways to sign in to something outside.
    pub enum ExternalAuthType {
        /// Exchange the caller's token for one of the target (RFC 8693).
        TokenExchange = "tokenExchange",
        /// Send a fixed header.
        HeaderInjection = "headerInjection",
        /// Send a fixed bearer token.
        BearerToken = "bearerToken",
        /// Send nothing.
        Unauthenticated = "unauthenticated",
        /// Run an OAuth authorization server in the proxy, and send the upstream token that it obtained.
        EmbeddedAuthServer = "embeddedAuthServer",
        /// Assume an AWS role with the caller's identity, and sign requests.
        AwsSts = "awsSts",
        /// Send the token of one upstream provider of the authorization server.
        UpstreamInject = "upstreamInject",
        /// Exchange the caller's token with Microsoft Entra, on behalf of the caller.
        OnBehalfOf = "obo",
        /// Obtain an assertion from the identity provider and trade it at the target (cross-app access).
        CrossAppAccess = "xaa",
    }
}
