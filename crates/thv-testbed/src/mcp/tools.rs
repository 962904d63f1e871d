//! Tools that do what a test asks for.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::answer::event;
use super::message::{Error, INVALID_PARAMS};
use super::methods::Context;
use super::modern;

/// A minute: a call that sleeps longer is a mistake of the test.
const LONGEST: u64 = 60_000;
/// 64 MiB.
const LARGEST: u64 = 64 << 20;

/// What `tools/list` tells.
pub(super) fn list() -> Value {
    let number = |what: &str| json!({"type": "integer", "minimum": 0, "description": what});
    let tool = |name: &str, what: &str, properties: Value| {
        let schema = json!({"type": "object", "properties": properties});
        json!({"name": name, "description": what, "inputSchema": schema})
    };
    json!([
        tool("echo", "says the same", json!({"text": {"type": "string"}})),
        tool(
            "sleep",
            "answers after a while, and tells its progress if asked to",
            json!({"ms": number("milliseconds"), "steps": number("how often it tells")}),
        ),
        tool("payload", "an answer of this size", json!({"bytes": number("how large")})),
        tool("counter", "how often this session has called it", json!({})),
        tool("whoami", "which instance this is, and which headers it saw", json!({})),
        tool("notify", "sends messages on the stream of the session", json!({"count": number("how many")})),
        tool(
            "fail",
            "fails: with an error of the protocol if it has a code",
            json!({"code": {"type": "integer"}})
        ),
    ])
}

/// The result of `tools/call`.
pub(super) async fn call(context: &Context, params: &Map<String, Value>) -> Result<Value, Error> {
    let nothing = Map::new();
    let arguments = params.get("arguments").and_then(Value::as_object).unwrap_or(&nothing);
    let number = |name: &str, usual: u64| arguments.get(name).and_then(Value::as_u64).unwrap_or(usual);
    match params.get("name").and_then(Value::as_str).unwrap_or_default() {
        "echo" => Ok(text(arguments.get("text").and_then(Value::as_str).unwrap_or_default())),
        "sleep" => {
            sleep(context, params, number("ms", 0).min(LONGEST), number("steps", 0)).await;
            Ok(text("slept"))
        }
        "payload" => {
            let size = usize::try_from(number("bytes", 0).min(LARGEST)).unwrap_or_default();
            Ok(text(&"x".repeat(size)))
        }
        "counter" => match &context.session {
            Some(session) => Ok(text(&session.increment().to_string())),
            None => Ok(failure("there is no session to count for")),
        },
        "whoami" => Ok(whoami(context)),
        "notify" => {
            notify(context, number("count", 1));
            Ok(text("notified"))
        }
        "fail" => match arguments.get("code").and_then(Value::as_i64) {
            Some(code) => Err(Error::new(code, "failed as asked")),
            None => Ok(failure("failed as asked")),
        },
        _ => Err(Error::new(INVALID_PARAMS, "there is no such tool")),
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn failure(why: &str) -> Value {
    json!({"content": [{"type": "text", "text": why}], "isError": true})
}

/// Sleeps in as many parts as progress is told, on the stream that will carry the answer.
async fn sleep(context: &Context, params: &Map<String, Value>, milliseconds: u64, steps: u64) {
    let token = params.get("_meta").and_then(|meta| meta.get("progressToken"));
    let (Some(token), Some(stream), true) = (token, &context.related, steps > 0) else {
        return tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    };
    for step in 1..=steps {
        tokio::time::sleep(Duration::from_millis(milliseconds / steps)).await;
        let params = json!({"progressToken": token, "progress": step, "total": steps});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        if stream.send(event(None, &message)).await.is_err() {
            return;
        }
    }
}

fn whoami(context: &Context) -> Value {
    let environment = |name: &str| std::env::var(name).unwrap_or_default();
    let mut headers = BTreeMap::<&str, Vec<String>>::new();
    for (name, value) in &context.headers {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        headers.entry(name.as_str()).or_default().push(value);
    }
    let known = json!({
        "name": context.state.options.name, "pod": environment("POD_NAME"), "hostname": environment("HOSTNAME"),
        "session": context.session.as_ref().map(|session| session.id()), "headers": headers,
    });
    json!({"content": [{"type": "text", "text": known.to_string()}], "structuredContent": known})
}

/// Messages that nobody asked for: to the session, or to all subscribers where there are no sessions.
fn notify(context: &Context, count: u64) {
    for number in 1..=count {
        match &context.session {
            Some(session) => {
                let params = json!({"level": "info", "logger": "notify", "data": {"number": number}});
                let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
                session.send(&message);
            }
            None => modern::announce(&context.state),
        }
    }
}
