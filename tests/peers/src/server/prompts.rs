//! Prompts.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResponse, GetPromptResult};
use serde_json::{Value, json};

use super::content::{embedded, image, text};
use super::{complete, input};

/// What `prompts/list` tells.
pub(super) fn table() -> Value {
    let argument = |name: &str, what: &str| json!({"name": name, "description": what, "required": true});
    json!([
        {"name": "test_simple_prompt", "description": "Has no arguments"},
        {"name": "test_prompt_with_arguments", "description": "Has two arguments",
         "arguments": [argument("arg1", "The first"), argument("arg2", "The second")]},
        {"name": "test_prompt_with_embedded_resource", "description": "Has a resource in it",
         "arguments": [argument("resourceUri", "Which resource")]},
        {"name": "test_prompt_with_image", "description": "Has a picture in it"},
        {"name": "test_input_required_result_prompt", "description": "Asks the user before it answers"},
    ])
}

/// One prompt.
pub(super) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
        value.ok_or_else(|| ErrorData::invalid_params(format!("the argument {name} is missing"), None))
    };
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1")?, argument("arg2")?);
            vec![text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = "Embedded resource content for testing.";
            vec![
                embedded(argument("resourceUri")?, "text/plain", resource),
                text("Please process the embedded resource above."),
            ]
        }
        "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        "test_input_required_result_prompt" => {
            let Some(context) = input::elicited(request.input_responses.as_ref(), "user_context", "context")
            else {
                let question = input::elicitation("What context should the prompt use?", "context", "string");
                return Ok(input::required(&json!({"user_context": question}), None)?.into());
            };
            vec![text(format!("Use this context: {context}"))]
        }
        other => return Err(ErrorData::invalid_params(format!("there is no prompt {other}"), None)),
    };
    let messages: Vec<_> =
        contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    Ok(complete::<GetPromptResult>(json!({"messages": messages}))?.into())
}
