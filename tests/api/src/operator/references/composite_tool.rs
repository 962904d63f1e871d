//! Composite tools: what they say of themselves, and of the virtual servers that use them.

use kube::ResourceExt as _;
use kube::api::DynamicObject;
use serde_json::{Value, json};
use thv_testbed::in_namespace;

use super::{Stage, condition};

const KIND: &str = "VirtualMCPCompositeToolDefinition";

/// A tool with two steps, the second of which reads this.
fn tool(read: &str) -> Value {
    json!({
        "name": "find_and_tell", "description": "Finds something, and tells people",
        "steps": [
            {"id": "find", "type": "tool", "tool": "search", "arguments": {"query": "{{.params.query}}"}},
            {"id": "tell", "type": "tool", "tool": "send", "arguments": {"text": read}},
        ],
    })
}

/// A virtual server that uses these tools.
fn gateway(tools: &[&str]) -> Value {
    let refs: Vec<_> = tools.iter().map(|name| json!({"name": name})).collect();
    json!({
        "groupRef": {"name": "elsewhere"}, "incomingAuth": {"type": "anonymous"},
        "config": {"compositeToolRefs": refs},
    })
}

/// What a tool says of itself: whether it is valid, why, and whether it is ready.
fn verdict(tool: &DynamicObject) -> [Value; 3] {
    let status = &tool.data["status"];
    let [validated, ready] = ["WorkflowValidated", "Ready"].map(|type_| condition(tool, type_));
    assert_eq!(validated["status"], ready["status"]);
    [status["validationStatus"].clone(), validated["reason"].clone(), ready["reason"].clone()]
}

#[tokio::test]
async fn a_composite_tool_says_what_is_wrong_with_it_and_where_until_it_is_mended() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        let fine = stage.settle(KIND, "t", tool("{{.steps.find.output.text}}")).await?;
        assert_eq!(verdict(&fine), ["Valid", "ValidationSuccess", "WorkflowReady"]);
        assert_eq!(fine.data["status"]["validationErrors"], Value::Null);
        assert!(fine.finalizers().is_empty());

        for (read, reason, says) in [
            ("{{.steps.find.output.text", "TemplateInvalid", "is no template: line 1"),
            ("{{.steps.nobody.output.text}}", "TemplateInvalid", "there is no such step"),
        ] {
            let mark = stage.operator.recorder.mark();
            let broken = stage.settle(KIND, "t", tool(read)).await?;
            assert_eq!(verdict(&broken), ["Invalid", reason, "WorkflowNotReady"], "{read}");
            let errors = broken.data["status"]["validationErrors"].as_array().cloned().unwrap_or_default();
            let text = errors[0].as_str().unwrap_or_default();
            assert!(text.starts_with("spec.steps[1].arguments.text: ") && text.contains(says), "{text}");
            assert_eq!((errors.len(), stage.writes(mark, KIND, "t")), (1, vec!["Apply status".to_owned()]));
        }

        let mark = stage.operator.recorder.mark();
        let mut cyclic = tool("{{.steps.find.output.text}}");
        cyclic["steps"][0]["dependsOn"] = json!(["tell"]);
        cyclic["steps"][1]["dependsOn"] = json!(["find"]);
        let broken = stage.settle(KIND, "t", cyclic).await?;
        assert_eq!(verdict(&broken), ["Invalid", "DependencyCycle", "WorkflowNotReady"]);

        let mended = stage.settle(KIND, "t", tool("{{.steps.find.output.text}}")).await?;
        let (mut before, mut after) = (fine.data["status"].clone(), mended.data["status"].clone());
        // What differs is when, and of which generation.
        for status in [&mut before, &mut after] {
            status["observedGeneration"] = Value::Null;
            for condition in status["conditions"].as_array_mut().into_iter().flatten() {
                condition["observedGeneration"] = Value::Null;
                condition["lastTransitionTime"] = Value::Null;
            }
        }
        assert_eq!(before, after);
        assert_eq!(stage.writes(mark, KIND, "t"), ["Apply status", "Apply status"]);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_composite_tool_names_the_virtual_servers_that_use_it_and_goes_at_any_time() {
    in_namespace(async |space| {
        let stage = Stage::start(&space).await?;
        let servers = async |name: &str, who: Value| {
            let what = format!("{who} use it");
            let is_so = |tool: &DynamicObject| tool.data["status"]["referencingVirtualServers"] == who;
            stage.until(KIND, name, &what, is_so).await
        };
        // One is there before the tool is.
        stage.make("VirtualMCPServer", "b", gateway(&["one"])).await?;
        stage.settle(KIND, "one", tool("text")).await?;
        stage.settle(KIND, "two", tool("text")).await?;
        servers("one", json!(["b"])).await?;
        stage.make("VirtualMCPServer", "a", gateway(&["one", "two"])).await?;
        servers("one", json!(["a", "b"])).await?;
        servers("two", json!(["a"])).await?;
        stage.referred_by(KIND, "one", "VirtualMCPServer a, b").await?;

        stage.make("VirtualMCPServer", "a", gateway(&["two"])).await?;
        servers("one", json!(["b"])).await?;
        stage.delete("VirtualMCPServer", "b").await?;
        servers("one", Value::Null).await?;
        stage.referred_by(KIND, "one", "").await?;

        let mark = stage.operator.recorder.mark();
        stage.delete(KIND, "two").await?;
        stage.gone(KIND, "two").await?;
        assert_eq!(stage.writes(mark, KIND, "two"), Vec::<String>::new());
        Ok(())
    })
    .await;
}
