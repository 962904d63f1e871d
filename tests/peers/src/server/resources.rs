//! Resources, of which one is a template.

use rmcp::ErrorData;
use rmcp::model::ReadResourceResult;
use serde_json::{Value, json};

use super::complete;
use super::content::PNG;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

/// What `resources/list` tells.
pub(super) fn table() -> Value {
    json!([
        {"uri": TEXT, "name": "Text", "description": "A text that never changes", "mimeType": "text/plain"},
        {"uri": BINARY, "name": "Picture", "description": "A picture that never changes", "mimeType": "image/png"},
        {"uri": WATCHED, "name": "Watched", "description": "A text to subscribe to", "mimeType": "text/plain"},
    ])
}

/// What `resources/templates/list` tells.
pub(super) fn templates() -> Value {
    json!([{
        "uriTemplate": "test://template/{id}/data", "name": "Template",
        "description": "One resource for each id", "mimeType": "application/json",
    }])
}

/// The content of one resource.
pub(super) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let with_id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, with_id) {
        (TEXT, _) => {
            json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
        }
        (BINARY, _) => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        (WATCHED, _) => json!({"uri": uri, "mimeType": "text/plain", "text": "Nothing has happened yet."}),
        (_, Some(id)) => {
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
        (_, None) => {
            return Err(ErrorData::resource_not_found(
                "there is no such resource",
                Some(json!({"uri": uri})),
            ));
        }
    };
    complete(json!({"contents": [content]}))
}
