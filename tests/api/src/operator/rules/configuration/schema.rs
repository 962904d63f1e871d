//! Whether the examples have everything that the schemas have.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::super::CASES;
use super::super::case::{Case, Effects};
use crate::corpus::schema::{places, stored_schema, visit};
use crate::crds;

/// The places of a schema that users write to and that have nothing inside.
fn leaves(schema: &Value) -> BTreeSet<String> {
    let is_leaf = |schema: &Value| {
        ["properties", "items", "additionalProperties"].iter().all(|inside| !schema[*inside].is_object())
    };
    let all = places(schema).into_iter();
    all.filter(|(place, schema)| place.starts_with("spec.") && is_leaf(schema))
        .map(|(place, _)| place)
        .collect()
}

/// The places that the objects of a case have something at.
fn shown(case: &Case, schema: &Value) -> Result<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    for object in case.of_kind()? {
        visit(schema, &object, "", &mut |place, _| {
            all.insert(place.to_owned());
        });
    }
    Ok(all)
}

#[test]
fn every_leaf_of_a_schema_is_in_an_example_and_so_among_what_is_edited() -> Result<()> {
    let alike = CASES.iter().filter(|case| matches!(case.near, Effects::Alike { .. }));
    let mut missing = Vec::new();
    for case in alike {
        let schema = stored_schema(&crds::definition(case.kind)?)?;
        let (all, shown) = (leaves(&schema), shown(case, &schema)?);
        ensure!(!all.is_empty(), "{} has no leaves", case.kind);
        missing.extend(all.difference(&shown).map(|place| format!("{} {place}", case.kind)));
    }
    ensure!(missing.is_empty(), "no example has:\n  {}", missing.join("\n  "));
    Ok(())
}
