//! A server that does what the official conformance suite asks of one, in both eras of MCP, and a little more for
//! people: `echo` and `whoami`.
//!
//! What it offers is written down as the JSON that goes over the wire; the SDK makes its types of it.

#![expect(
    deprecated,
    reason = "the older era has logging, sampling and subscriptions, and is served as well"
)]

mod content;
mod input;
mod prompts;
mod resources;
mod tools;

use std::convert::Infallible;
use std::sync::Arc;

use anyhow::Result;
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CompletionInfo, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use self::input::Seal;

/// Where it answers.
const PATH: &str = "/mcp";
/// How long clients may keep what was listed, in milliseconds.
const TTL: u64 = 1_000;

/// The server. All sessions share it.
#[derive(Clone)]
struct Everything {
    /// Says that a list has changed, to whoever listens.
    changes: broadcast::Sender<List>,
    seal: Arc<Seal>,
}

/// What can change while the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Tools,
    Prompts,
}

/// Whether clients of the older era get a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sessions {
    /// Yes, and answers are streams.
    Kept,
    /// No, and answers are plain JSON where that will do.
    None,
}

/// Serves until something breaks.
pub async fn serve(listener: TcpListener, sessions: Sessions) -> Result<()> {
    let everything = Everything { changes: broadcast::channel(16).0, seal: Arc::new(Seal::new()) };
    // Which names lead here is for the network to decide; a check of `Host` is for servers on a desktop.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(sessions == Sessions::Kept)
        .with_json_response(sessions == Sessions::None);
    let service: StreamableHttpService<Everything, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(everything.clone()), Arc::default(), config);
    loop {
        let (stream, _) = listener.accept().await?;
        let service = service.clone();
        let answer = service_fn(move |request: Request<Incoming>| {
            let service = service.clone();
            async move {
                if request.uri().path() == PATH {
                    return Ok::<_, Infallible>(service.handle(request).await.map(Either::Left));
                }
                let mut nothing = Response::new(Either::Right(Full::<Bytes>::default()));
                *nothing.status_mut() = StatusCode::NOT_FOUND;
                Ok(nothing)
            }
        });
        let connection =
            http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
        // A connection that breaks is the client's matter.
        tokio::spawn(async move { connection.await.ok() });
    }
}

/// JSON as a type of the SDK.
fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// The same for a result that asks nothing back. The SDK leaves that out where the older era does not know it.
fn complete<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    if let Some(fields) = result.as_object_mut() {
        fields.insert("resultType".to_owned(), "complete".into());
    }
    typed(result)
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({
            "completions": {}, "logging": {}, "prompts": {"listChanged": true},
            "resources": {"subscribe": true}, "tools": {"listChanged": true},
        });
        let capabilities: ServerCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("everything", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = ListToolsResult::with_all_items(typed(tools::table())?);
        Ok(all.with_ttl_ms(TTL).with_cache_scope(CacheScope::Public))
    }

    /// The SDK compares headers with arguments by it.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools: Vec<Tool> = typed(tools::table()).ok()?;
        tools.into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let all = ListPromptsResult::with_all_items(typed(prompts::table())?);
        Ok(all.with_ttl_ms(TTL).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = ListResourcesResult::with_all_items(typed(resources::table())?);
        Ok(all.with_ttl_ms(TTL).with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let all = ListResourceTemplatesResult::with_all_items(typed(resources::templates())?);
        Ok(all.with_ttl_ms(TTL).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(&request.uri)?.with_ttl_ms(TTL).with_cache_scope(CacheScope::Private).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let words = ["paris", "park", "party"].into_iter();
        let fitting =
            words.filter(|word| word.starts_with(&request.argument.value)).map(str::to_owned).collect();
        let values = CompletionInfo::with_all_values(fitting);
        Ok(CompleteResult::new(values.map_err(|error| ErrorData::internal_error(error, None))?))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = context.cancelled() => return Ok(()),
            };
            // A stream that did not ask for it is not told; the SDK says so with an error.
            match change {
                Ok(List::Tools) => drop(context.sink().notify_tool_list_changed().await),
                Ok(List::Prompts) => drop(context.sink().notify_prompt_list_changed().await),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            }
        }
    }
}
