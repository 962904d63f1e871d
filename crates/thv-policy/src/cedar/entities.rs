//! The entities that policies are about, from their JSON.

use std::collections::HashMap;
use std::error::Error;

use cedar_policy::entities_errors::EntitiesError;
use cedar_policy::{Entities, Entity};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::finding::{Finding, Part, shorten};
use super::hierarchy::is_small;
use super::outline::{ENTITIES, TooBig, outline};
use super::position::Position;

/// What a document says of one entity. The reference takes what is not said for nothing; Cedar in Rust insists on it.
#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    uid: &'a RawValue,
    #[serde(borrow)]
    attrs: Option<&'a RawValue>,
    #[serde(borrow)]
    parents: Option<&'a RawValue>,
    #[serde(borrow)]
    tags: Option<&'a RawValue>,
}

impl Listed<'_> {
    /// Stays text, in which Cedar notices a key that is there twice.
    fn parse(&self) -> Result<Entity, String> {
        let Self { uid, attrs, parents, tags } = *self;
        let attrs = attrs.map_or("{}", RawValue::get);
        let parents = parents.map_or("[]", RawValue::get);
        let tags = tags.map_or("{}", RawValue::get);
        let json = format!(r#"{{"uid":{uid},"attrs":{attrs},"parents":{parents},"tags":{tags}}}"#);
        Entity::from_json_str(json, None).map_err(|error| said(&error))
    }
}

/// Reads a list of entities. An empty text has none.
pub(super) fn parse(json: &str) -> Result<Entities, Vec<Finding>> {
    if json.trim().is_empty() {
        return Ok(Entities::empty());
    }
    if let Err(TooBig { offset, message: _ }) = outline(json, &ENTITIES) {
        let message =
            "from here on, the document is too long or nested too deep: use fewer entities".to_owned();
        return Err(vec![Finding {
            part: Part::Entities,
            position: Some(Position::of(json, offset)),
            message,
        }]);
    }
    let listed: Vec<Listed<'_>> =
        serde_json::from_str(json).map_err(|error| vec![malformed(json, &error)])?;
    let (mut entities, mut errors) = (Vec::with_capacity(listed.len()), Vec::new());
    for (index, one) in listed.iter().enumerate() {
        match one.parse() {
            Ok(entity) => entities.push(entity),
            Err(error) => errors.push(finding(Part::Entity(index), &error)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut parents = HashMap::with_capacity(entities.len());
    for entity in &entities {
        let (uid, _, above) = entity.clone().into_inner();
        parents.insert(uid, above);
    }
    if !is_small(&parents) {
        let message = "the entities have too many ancestors in all: leave out levels of the hierarchy";
        return Err(vec![finding(Part::Entities, message)]);
    }
    Entities::from_entities(entities, None).map_err(|error| vec![finding(Part::Entities, &said(&error))])
}

fn finding(part: Part, message: &str) -> Finding {
    Finding { part, position: None, message: shorten(message) }
}

fn malformed(json: &str, error: &serde_json::Error) -> Finding {
    let message = match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => "is not JSON",
        Category::Data => "is not a list of entities: each is an object with uid, attrs and parents",
    };
    let line: usize = json.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let position = Position::of(json, line + error.column().saturating_sub(1));
    Finding { part: Part::Entities, position: Some(position), message: message.to_owned() }
}

/// What Cedar says is wrong. It often says it in the cause only.
fn said(error: &EntitiesError) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}
