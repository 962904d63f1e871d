//! How to sign in to the servers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thv_value::string_enum;

use super::strategy::{AwsSts, CrossAppAccess, HeaderInjection, OnBehalfOf, TokenExchange, UpstreamInject};
use crate::auth_server::AuthServerConfig;
use crate::value::is_zero;

/// How to sign in to the servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutgoingAuth {
    /// Where the servers and their strategies come from.
    pub source: AuthSource,

    /// For servers that have no strategy of their own. No credentials when absent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub default: Option<AuthStrategy>,

    /// For single servers, by name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub backends: BTreeMap<String, AuthStrategy>,
}

impl OutgoingAuth {
    /// Every strategy, with its place in the document.
    pub fn strategies(&self) -> impl Iterator<Item = (String, &AuthStrategy)> {
        let default = self.default.iter().map(|strategy| ("outgoingAuth.default".to_owned(), strategy));
        let backends = self.backends.iter();
        default.chain(
            backends
                .map(|(name, strategy)| (format!("outgoingAuth.backends.{}", name.escape_debug()), strategy)),
        )
    }

    /// Fills in whose token is handed in: that of the only upstream provider, or of the first one.
    pub(super) fn fill_in(&mut self, auth_server: &AuthServerConfig) {
        let is_only = auth_server.upstreams.len() == 1;
        for strategy in self.default.iter_mut().chain(self.backends.values_mut()) {
            let provider = match strategy {
                AuthStrategy::TokenExchange(TokenExchange { subject_provider_name, .. })
                | AuthStrategy::AwsSts(AwsSts { subject_provider_name, .. }) => subject_provider_name,
                // Its token proves to a third party who the user is: a guess would be the wrong user.
                AuthStrategy::CrossAppAccess(CrossAppAccess { subject_provider_name, .. }) if is_only => {
                    subject_provider_name
                }
                AuthStrategy::Unauthenticated
                | AuthStrategy::HeaderInjection(_)
                | AuthStrategy::UpstreamInject(_)
                | AuthStrategy::OnBehalfOf(_)
                | AuthStrategy::CrossAppAccess(_) => continue,
            };
            if provider.is_empty() && !auth_server.upstreams.is_empty() {
                auth_server.first_upstream().clone_into(provider);
            }
        }
    }
}

string_enum! {
    /// Where servers and their strategies come from.
    pub enum AuthSource {
        /// From the cluster, which is watched.
        Discovered = "discovered",
        /// From the document.
        Inline = "inline",
    }
}

/// A way to sign in to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Keys", into = "Keys")]
pub enum AuthStrategy {
    /// No credentials.
    Unauthenticated,
    /// A fixed header.
    HeaderInjection(HeaderInjection),
    /// An exchange of the caller's token.
    TokenExchange(TokenExchange),
    /// The token of an upstream provider.
    UpstreamInject(UpstreamInject),
    /// Signatures with credentials of an AWS role.
    AwsSts(AwsSts),
    /// The on-behalf-of flow of Microsoft Entra.
    OnBehalfOf(OnBehalfOf),
    /// Cross-app access.
    CrossAppAccess(CrossAppAccess),
}

impl AuthStrategy {
    /// The spelling of its type in the document.
    pub const fn type_name(&self) -> &'static str {
        self.strategy_type().as_str()
    }

    const fn strategy_type(&self) -> StrategyType {
        match self {
            Self::Unauthenticated => StrategyType::Unauthenticated,
            Self::HeaderInjection(_) => StrategyType::HeaderInjection,
            Self::TokenExchange(_) => StrategyType::TokenExchange,
            Self::UpstreamInject(_) => StrategyType::UpstreamInject,
            Self::AwsSts(_) => StrategyType::AwsSts,
            Self::OnBehalfOf(_) => StrategyType::OnBehalfOf,
            Self::CrossAppAccess(_) => StrategyType::CrossAppAccess,
        }
    }
}

string_enum! {
    /// The spellings of [`AuthStrategy`].
    pub enum StrategyType {
        /// No credentials.
        Unauthenticated = "unauthenticated",
        /// A fixed header.
        HeaderInjection = "header_injection",
        /// An exchange of the caller's token.
        TokenExchange = "token_exchange",
        /// The token of an upstream provider.
        UpstreamInject = "upstream_inject",
        /// Signatures with credentials of an AWS role.
        AwsSts = "aws_sts",
        /// The on-behalf-of flow of Microsoft Entra.
        OnBehalfOf = "obo",
        /// Cross-app access.
        CrossAppAccess = "xaa",
    }
}

/// The keys as they stand in the document: a type, and one object that goes with it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Keys {
    #[serde(rename = "type")]
    type_: StrategyType,

    #[serde(default, skip_serializing_if = "is_zero")]
    token_exchange: Option<TokenExchange>,

    #[serde(default, skip_serializing_if = "is_zero")]
    header_injection: Option<HeaderInjection>,

    #[serde(default, skip_serializing_if = "is_zero")]
    upstream_inject: Option<UpstreamInject>,

    #[serde(default, skip_serializing_if = "is_zero")]
    aws_sts: Option<AwsSts>,

    #[serde(default, skip_serializing_if = "is_zero")]
    obo: Option<OnBehalfOf>,

    #[serde(default, skip_serializing_if = "is_zero")]
    xaa: Option<CrossAppAccess>,
}

impl Keys {
    const fn of(type_: StrategyType) -> Self {
        Self {
            type_,
            token_exchange: None,
            header_injection: None,
            upstream_inject: None,
            aws_sts: None,
            obo: None,
            xaa: None,
        }
    }
}

impl TryFrom<Keys> for AuthStrategy {
    type Error = String;

    fn try_from(keys: Keys) -> Result<Self, String> {
        let Keys { type_, token_exchange, header_injection, upstream_inject, aws_sts, obo, xaa } = keys;
        let mut settings = [
            ("tokenExchange", token_exchange.map(Self::TokenExchange)),
            ("headerInjection", header_injection.map(Self::HeaderInjection)),
            ("upstreamInject", upstream_inject.map(Self::UpstreamInject)),
            ("awsSts", aws_sts.map(Self::AwsSts)),
            ("obo", obo.map(Self::OnBehalfOf)),
            ("xaa", xaa.map(Self::CrossAppAccess)),
        ]
        .into_iter()
        .filter_map(|(key, strategy)| strategy.map(|strategy| (key, strategy)));
        let (found, second) = (settings.next(), settings.next());
        // Two ways to sign in, or settings for another way than the one that is asked for: one of them is a mistake.
        match (found, second) {
            (None, _) if type_ == StrategyType::Unauthenticated => Ok(Self::Unauthenticated),
            (None, _) => Err(format!("has the type {type_}, and no settings for it: add them")),
            (Some((_, strategy)), None) if strategy.strategy_type() == type_ => Ok(strategy),
            (Some((key, _)), None) => {
                Err(format!("has the type {type_} and the key {key}: keep what goes with the type"))
            }
            (Some((one, _)), Some((other, _))) => {
                Err(format!("has the keys {one} and {other}: keep the one that goes with the type"))
            }
        }
    }
}

impl From<AuthStrategy> for Keys {
    fn from(strategy: AuthStrategy) -> Self {
        let keys = Self::of(strategy.strategy_type());
        match strategy {
            AuthStrategy::Unauthenticated => keys,
            AuthStrategy::HeaderInjection(settings) => Self { header_injection: Some(settings), ..keys },
            AuthStrategy::TokenExchange(settings) => Self { token_exchange: Some(settings), ..keys },
            AuthStrategy::UpstreamInject(settings) => Self { upstream_inject: Some(settings), ..keys },
            AuthStrategy::AwsSts(settings) => Self { aws_sts: Some(settings), ..keys },
            AuthStrategy::OnBehalfOf(settings) => Self { obo: Some(settings), ..keys },
            AuthStrategy::CrossAppAccess(settings) => Self { xaa: Some(settings), ..keys },
        }
    }
}
