//! What each method answers, whichever way it came.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::message::{Error, INVALID_PARAMS, METHOD_NOT_FOUND};
use super::session::Session;
use super::state::State;
use super::tools;

/// The versions with sessions, the newest first.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const NOTE: &str = "note://everything";
const PROMPT: &str = "greet";

/// Who calls, and how to reach them.
pub(super) struct Context {
    pub(super) state: Arc<State>,
    pub(super) session: Option<Arc<Session>>,
    pub(super) headers: HeaderMap,
    /// The stream on which the answer will be sent, if it is one.
    pub(super) related: Option<mpsc::Sender<Bytes>>,
}

/// The result of `initialize`.
pub(super) fn initialize(state: &State, params: &Map<String, Value>) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let [newest, ..] = LEGACY;
    let version = LEGACY.into_iter().find(|version| Some(*version) == wanted).unwrap_or(newest);
    json!({
        "protocolVersion": version, "capabilities": capabilities(), "serverInfo": server_info(state),
        "instructions": "A server to test with.",
    })
}

pub(super) fn capabilities() -> Value {
    json!({
        "tools": {"listChanged": true}, "resources": {"subscribe": true}, "prompts": {}, "completions": {},
        "logging": {},
    })
}

pub(super) fn server_info(state: &State) -> Value {
    json!({"name": state.options.name, "version": env!("CARGO_PKG_VERSION")})
}

/// Carries a method out.
pub(super) async fn call(
    context: &Context,
    method: &str,
    params: &Map<String, Value>,
) -> Result<Value, Error> {
    let mut running = Running::new(&context.state);
    let outcome = match method {
        "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => Ok(json!({})),
        "tools/list" => Ok(json!({"tools": tools::list()})),
        "tools/call" => tools::call(context, params).await,
        "resources/list" => {
            Ok(json!({"resources": [{"uri": NOTE, "name": "everything", "mimeType": "text/plain"}]}))
        }
        "resources/templates/list" => Ok(json!({"resourceTemplates": []})),
        "resources/read" => match params.get("uri").and_then(Value::as_str) {
            Some(NOTE) => Ok(json!({"contents": [{"uri": NOTE, "mimeType": "text/plain", "text": "42"}]})),
            _ => Err(Error::new(INVALID_PARAMS, "there is no such resource")),
        },
        "prompts/list" => Ok(json!({"prompts": [{"name": PROMPT, "description": "says hello"}]})),
        "prompts/get" => match params.get("name").and_then(Value::as_str) {
            Some(PROMPT) => {
                Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]}))
            }
            _ => Err(Error::new(INVALID_PARAMS, "there is no such prompt")),
        },
        "completion/complete" => Ok(json!({"completion": {"values": []}})),
        _ => Err(Error::new(METHOD_NOT_FOUND, format!("there is no method {method}"))),
    };
    running.is_done = true;
    outcome
}

/// Counts a call for as long as it is worked on.
struct Running {
    state: Arc<State>,
    is_done: bool,
}

impl Running {
    fn new(state: &Arc<State>) -> Self {
        state.count(|counts| counts.running += 1);
        Self { state: state.clone(), is_done: false }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.state.count(|counts| {
            counts.running -= 1;
            counts.abandoned += u64::from(!self.is_done);
        });
    }
}
