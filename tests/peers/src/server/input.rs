//! Answers that ask back: what the newer era has instead of requests from the server.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, InputRequiredResult, InputResponses,
    RequestStateCodec,
};
use serde_json::{Map, Value, json};

use super::content::text;
use super::{complete, typed};

/// Any replica takes up the state that another has sealed. A server for tests has no secrets to keep.
const KEY: &[u8] = b"a key that everybody knows, because this server is for tests";

/// Seals the state that a client carries from one round to the next.
pub(super) struct Seal(RequestStateCodec);

impl Seal {
    pub(super) fn new() -> Self {
        Self(RequestStateCodec::new_unchecked(KEY))
    }

    fn seal(&self, state: &str) -> String {
        self.0.seal(state.as_bytes())
    }

    /// The state, or an error if it is not one that we have sealed.
    fn open(&self, sealed: &str) -> Result<String, ErrorData> {
        let refused = || ErrorData::invalid_params("the state is not one that this server has sealed", None);
        String::from_utf8(self.0.open(sealed).map_err(|_| refused())?).map_err(|_| refused())
    }
}

/// An answer that asks for more.
pub(super) fn required(requests: &Value, state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({"resultType": "input_required", "inputRequests": requests});
    if let (Some(state), Some(fields)) = (state, result.as_object_mut()) {
        fields.insert("requestState".to_owned(), state.into());
    }
    typed(result)
}

/// A question to the user, with one field to fill in.
pub(super) fn elicitation(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

/// A question to the client's model.
fn sampling(prompt: &str) -> Value {
    let messages = json!([{"role": "user", "content": text(prompt)}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}})
}

/// Which folders the client works on.
fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

/// What the user filled in, as text; nothing if it is missing or not what was asked for.
pub(super) fn elicited(responses: Option<&InputResponses>, key: &str, field: &str) -> Option<String> {
    let value = responses?.get(key)?.get("content")?.get(field)?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// A response of any form, as text.
fn response(responses: Option<&InputResponses>, key: &str) -> Option<String> {
    responses?.get(key).filter(|value| value.is_object()).map(Value::to_string)
}

/// Calls a tool that asks back, or says that this is none of them.
pub(super) fn call(
    seal: &Seal,
    request: &CallToolRequestParams,
    capabilities: Option<ClientCapabilities>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let responses = request.input_responses.as_ref();
    let state = request.request_state.as_deref().map(|sealed| seal.open(sealed)).transpose()?;
    let name = || elicitation("What is your name?", "name", "string");
    let ask = |requests: Value, state: Option<&str>| {
        required(&requests, state.map(|state| seal.seal(state)))
            .map(|asked| Some(CallToolResponse::from(asked)))
    };
    let tell = |words: String| {
        complete(json!({"content": [text(words)]})).map(|result| Some(CallToolResponse::Complete(result)))
    };
    match request.name.as_ref() {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            match elicited(responses, "user_name", "name") {
                Some(name) => tell(format!("Hello, {name}!")),
                None => ask(json!({"user_name": name()}), None),
            }
        }
        "test_input_required_result_sampling" => match response(responses, "capital_question") {
            Some(answer) => tell(format!("The model says: {answer}")),
            None => ask(json!({"capital_question": sampling("What is the capital of France?")}), None),
        },
        "test_input_required_result_list_roots" => match response(responses, "client_roots") {
            Some(answer) => tell(format!("The roots are: {answer}")),
            None => ask(json!({"client_roots": roots()}), None),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            match (elicited(responses, "confirm", "ok"), state.as_deref()) {
                (Some(_), Some("confirming")) => tell("state-ok".to_owned()),
                _ => ask(
                    json!({"confirm": elicitation("Please confirm", "ok", "boolean")}),
                    Some("confirming"),
                ),
            }
        }
        "test_input_required_result_multiple_inputs" => {
            let (greeting, roots_told) =
                (response(responses, "greeting"), response(responses, "client_roots"));
            match (elicited(responses, "user_name", "name"), greeting, roots_told) {
                (Some(name), Some(greeting), Some(roots)) => tell(format!("{name}: {greeting}, {roots}")),
                _ => ask(
                    json!({
                        "user_name": name(), "greeting": sampling("Generate a greeting"), "client_roots": roots(),
                    }),
                    Some("asking for three things"),
                ),
            }
        }
        "test_input_required_result_multi_round" => {
            let color = elicited(responses, "step2", "color");
            match (state.as_deref(), elicited(responses, "step1", "name"), color) {
                (Some("round 1"), Some(_), _) | (Some("round 2"), _, None) => {
                    let question = elicitation("Step 2: What is your favorite color?", "color", "string");
                    ask(json!({"step2": question}), Some("round 2"))
                }
                (Some("round 2"), _, Some(color)) => tell(format!("Your favorite color is {color}.")),
                _ => ask(
                    json!({"step1": elicitation("Step 1: What is your name?", "name", "string")}),
                    Some("round 1"),
                ),
            }
        }
        "test_input_required_result_capabilities" => {
            let capabilities = capabilities.unwrap_or_default();
            let mut requests = Map::new();
            if capabilities.elicitation.is_some() {
                requests.insert("user_name".to_owned(), name());
            }
            if capabilities.sampling.is_some() {
                requests.insert("greeting".to_owned(), sampling("Generate a greeting"));
            }
            if capabilities.roots.is_some() {
                requests.insert("client_roots".to_owned(), roots());
            }
            if requests.is_empty() {
                tell("You can do nothing for me.".to_owned())
            } else {
                ask(requests.into(), None)
            }
        }
        _ => Ok(None),
    }
}
