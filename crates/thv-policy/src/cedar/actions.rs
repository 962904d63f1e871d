//! The actions that a request of MCP can be.

use std::collections::BTreeSet;

use cedar_policy::{EntityUid, Policy};

use super::finding::shorten;

/// What is asked for: `tools/call`, `prompts/get`, and `resources/read`, `subscribe` and `unsubscribe`.
const DECIDED: [&str; 3] = ["call_tool", "get_prompt", "read_resource"];
/// Lists need no permission: they show what may be called, got and read.
const FILTERED: [&str; 3] = ["list_tools", "list_prompts", "list_resources"];
/// The entity type of actions.
const TYPE: &str = "Action";

/// What a policy says about actions that no request has.
pub(super) fn notes(policy: &Policy) -> BTreeSet<String> {
    let literals = policy.entity_literals();
    literals.iter().filter(|literal| literal.type_name().basename() == TYPE).filter_map(note).collect()
}

fn note(action: &EntityUid) -> Option<String> {
    let id = action.id().unescaped();
    let known = |names: [&str; 3]| action.type_name().namespace().is_empty() && names.contains(&id);
    if known(DECIDED) {
        return None;
    }
    let name = shorten(&action.to_string());
    if known(FILTERED) {
        return Some(format!("{name} decides nothing: a list shows whatever the caller may use"));
    }
    Some(format!("no request has the action {name}: use {}", DECIDED.join(", ")))
}
