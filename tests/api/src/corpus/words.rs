//! Other definitions have other words for the same rules.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use crate::corpus::Corpus;
use crate::corpus::schema::{place_of, rules, stored_schema};
use crate::crds;

/// Puts the messages of the definitions under test in the place of ours, when they are not ours. Rules that are
/// on the same place in the same position are taken to be the same; if they are not, the verdicts will tell.
pub(crate) fn speak_like_the_definitions(corpus: &mut Corpus) -> Result<()> {
    if !crds::are_from_elsewhere() {
        return Ok(());
    }
    for ours in thv_api::crds() {
        let kind = &ours.spec.names.kind;
        let schema = stored_schema(&ours)?;
        let (ours, theirs) = (messages(&schema), messages(&stored_schema(&crds::definition(kind)?)?));
        let cases = corpus.cases.iter_mut().filter(|case| case.kind == *kind);
        for cause in cases.flat_map(|case| &mut case.causes) {
            let place = place_of(&schema, &cause.field).unwrap_or_default();
            let Some(messages) = ours.get(&place) else { continue };
            let position = messages.iter().position(|message| message.contains(&cause.message));
            let other = position.and_then(|index| theirs.get(&place)?.get(index));
            if let Some(other) = other {
                cause.message.clone_from(other);
            }
        }
    }
    Ok(())
}

/// The messages of all rules, by place.
fn messages(schema: &Value) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for rule in rules(schema) {
        found.entry(rule.place).or_default().push(rule.message);
    }
    found
}
