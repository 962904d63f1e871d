//! Tools.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorCode, ProtocolVersion, RequestMetaObject,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::content::{WAV, embedded, image, text};
use super::{Everything, List, complete, input, typed};

/// How long tools work that tell of their progress. The suite wants to see that messages come one by one.
const STEP: Duration = Duration::from_millis(50);

/// What `tools/list` tells.
pub(super) fn table() -> Value {
    let plain = |name: &str, what: &str| json!({"name": name, "description": what, "inputSchema": {"type": "object", "properties": {}}});
    let asking = |name: &str, what: &str, argument: &str| {
        let schema = json!({
            "type": "object", "properties": {argument: {"type": "string"}}, "required": [argument],
        });
        json!({"name": name, "description": what, "inputSchema": schema})
    };
    let mut tools = vec![
        // The suite calls the first one without arguments.
        plain("whoami", "Says which pod this is"),
        asking("echo", "Says what you said", "message"),
        asking("test_sampling", "Asks the client's model", "prompt"),
        asking("test_elicitation", "Asks the user", "message"),
        with_header(),
        with_schema(),
    ];
    tools.extend(
        [
            ("test_simple_text", "Answers with a text"),
            ("test_image_content", "Answers with a picture"),
            ("test_audio_content", "Answers with a sound"),
            ("test_embedded_resource", "Answers with a resource"),
            ("test_multiple_content_types", "Answers with a text, a picture and a resource"),
            ("test_error_handling", "Fails"),
            ("test_tool_with_logging", "Logs while it works"),
            ("test_logging_tool", "Logs while it works, if it may"),
            ("test_tool_with_progress", "Tells of its progress"),
            ("test_elicitation_sep1034_defaults", "Asks the user, with defaults"),
            ("test_elicitation_sep1330_enums", "Asks the user to choose"),
            ("test_missing_capability", "Needs a client that has a model"),
            ("test_trigger_tool_change", "Says that the tools have changed"),
            ("test_trigger_prompt_change", "Says that the prompts have changed"),
            ("test_streaming_elicitation", "Asks the user and then answers"),
            ("test_input_required_result_elicitation", "Asks the user and then answers"),
            ("test_input_required_result_sampling", "Asks the client's model and then answers"),
            ("test_input_required_result_list_roots", "Asks for the client's folders and then answers"),
            ("test_input_required_result_request_state", "Remembers what it asked"),
            ("test_input_required_result_tampered_state", "Notices a memory that is not its own"),
            ("test_input_required_result_multiple_inputs", "Asks for three things at once"),
            ("test_input_required_result_multi_round", "Asks twice"),
            ("test_input_required_result_capabilities", "Asks for what the client can give"),
        ]
        .map(|(name, what)| plain(name, what)),
    );
    tools.into()
}

/// A tool with an argument that is also in a header.
fn with_header() -> Value {
    json!({
        "name": "test_header_argument", "description": "Has an argument that is also in a header",
        "inputSchema": {
            "type": "object", "required": ["region"],
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        },
    })
}

/// A tool whose schema uses what schemas of 2020 can do.
fn with_schema() -> Value {
    let either = |a: &str, b: &str| json!({"anyOf": [{"required": [a]}, {"required": [b]}]});
    json!({
        "name": "json_schema_2020_12_tool", "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {
                "$anchor": "addressDef", "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }},
            "properties": {
                "name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"}, "email": {"type": "string"},
            },
            "allOf": [either("phone", "email")],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        },
    })
}

impl Everything {
    /// Calls a tool.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(answer) = input::call(&self.seal, &request, context.client_capabilities())? {
            return Ok(answer);
        }
        let argument = |name: &str| {
            let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
            value.ok_or_else(|| ErrorData::invalid_params(format!("the argument {name} is missing"), None))
        };
        let content = match request.name.as_ref() {
            "echo" => vec![text(argument("message")?)],
            "whoami" => vec![text(std::env::var("HOSTNAME").unwrap_or_default())],
            "test_header_argument" => vec![text(argument("region")?)],
            "test_simple_text" => vec![text("This is a simple text response for testing.")],
            "test_image_content" => vec![image()],
            "test_audio_content" => vec![json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})],
            "test_embedded_resource" => {
                vec![embedded(
                    "test://embedded-resource",
                    "text/plain",
                    "This is an embedded resource content.",
                )]
            }
            "test_multiple_content_types" => {
                let data = json!({"test": "data", "value": 123}).to_string();
                vec![
                    text("Multiple content types test:"),
                    image(),
                    embedded("test://mixed-content-resource", "application/json", &data),
                ]
            }
            "test_error_handling" => {
                let why = text("This tool intentionally returns an error for testing");
                return Ok(complete::<CallToolResult>(json!({"isError": true, "content": [why]}))?.into());
            }
            "json_schema_2020_12_tool" => vec![text("The arguments were accepted.")],
            "test_tool_with_logging" | "test_logging_tool" => vec![log(&context).await?],
            "test_tool_with_progress" => vec![progress(&request, &context).await?],
            "test_sampling" => vec![sample(argument("prompt")?, &context).await?],
            "test_elicitation" => {
                let field = |what: &str| json!({"type": "string", "description": what});
                let fields =
                    json!({"username": field("User's response"), "email": field("User's email address")});
                vec![
                    elicit("User response", argument("message")?, &fields, &["username", "email"], &context)
                        .await?,
                ]
            }
            "test_elicitation_sep1034_defaults" => {
                vec![elicit("Elicitation completed", "Please check", &defaults(), &[], &context).await?]
            }
            "test_elicitation_sep1330_enums" => {
                vec![elicit("Elicitation completed", "Please choose", &choices(), &[], &context).await?]
            }
            "test_missing_capability" => {
                if context.client_capabilities().is_none_or(|able| able.sampling.is_none()) {
                    let data = json!({"requiredCapabilities": {"sampling": {}}});
                    let code = ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY;
                    return Err(ErrorData::new(
                        code,
                        "this tool needs a client that has a model",
                        Some(data),
                    ));
                }
                vec![text("The client has a model.")]
            }
            "test_trigger_tool_change" => vec![self.tell(List::Tools)],
            "test_trigger_prompt_change" => vec![self.tell(List::Prompts)],
            other => return Err(ErrorData::invalid_params(format!("there is no tool {other}"), None)),
        };
        Ok(complete::<CallToolResult>(json!({"content": content}))?.into())
    }

    /// Says that a list has changed. Nobody may be listening.
    fn tell(&self, list: List) -> Value {
        text(format!("{} listen", self.changes.send(list).unwrap_or_default()))
    }
}

/// Logs three times, if the client wants to read it: in the newer era a request says so.
async fn log(context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let modern = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let wanted = !modern || context.meta.log_level().is_some();
    for (number, words) in
        ["Tool execution started", "Tool processing data", "Tool execution completed"].into_iter().enumerate()
    {
        if number > 0 {
            tokio::time::sleep(STEP).await;
        }
        if wanted {
            let message = typed(json!({"level": "info", "logger": "everything", "data": words}))?;
            sent(context.peer.notify_logging_message(message).await)?;
        }
    }
    Ok(text("Tool execution completed with logging"))
}

/// Works in three steps, and tells so if it was given a token for that.
async fn progress(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    let given = request.meta.as_ref().and_then(RequestMetaObject::get_progress_token);
    let token = given.or_else(|| context.meta.get_progress_token());
    for done in [0, 50, 100] {
        if done > 0 {
            tokio::time::sleep(STEP).await;
        }
        if let Some(token) = &token {
            let told = typed(json!({"progressToken": token, "progress": done, "total": 100}))?;
            sent(context.peer.notify_progress(told).await)?;
        }
    }
    Ok(text("Tool execution completed with progress"))
}

/// Asks the client's model.
async fn sample(prompt: &str, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
    let question = json!({"messages": [{"role": "user", "content": text(prompt)}], "maxTokens": 100});
    let answer = json!(sent(context.peer.create_message(typed(question)?).await)?);
    let content =
        answer.get("content").and_then(|content| content.get(0).or(Some(content))?.get("text")?.as_str());
    Ok(text(format!("LLM response: {}", content.unwrap_or_default())))
}

/// Asks the user.
async fn elicit(
    start: &str,
    message: &str,
    fields: &Value,
    required: &[&str],
    context: &RequestContext<RoleServer>,
) -> Result<Value, ErrorData> {
    let mut schema = json!({"type": "object", "properties": fields});
    if let Some(schema) = schema.as_object_mut().filter(|_| !required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    let question = typed(json!({"message": message, "requestedSchema": schema}))?;
    let answer = json!(sent(context.peer.create_elicitation(question).await)?);
    let part = |name: &str| answer.get(name).cloned().unwrap_or_default();
    let action = part("action");
    Ok(text(format!("{start}: action={}, content={}", action.as_str().unwrap_or_default(), part("content"))))
}

/// Fields with defaults, one of each kind.
fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    })
}

/// Fields to choose from, in each way that there is.
fn choices() -> Value {
    let titled = |kind: &str| {
        json!([
            {"const": "value1", "title": format!("First {kind}")},
            {"const": "value2", "title": format!("Second {kind}")},
            {"const": "value3", "title": format!("Third {kind}")},
        ])
    };
    let options = ["option1", "option2", "option3"];
    json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    })
}

/// What came of something that was sent to the client.
fn sent<T>(result: Result<T, rmcp::ServiceError>) -> Result<T, ErrorData> {
    result.map_err(|error| ErrorData::internal_error(format!("the client did not answer: {error}"), None))
}
