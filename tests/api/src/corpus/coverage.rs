//! Whether the corpus has a case for everything that a schema says, on both sides of each bound.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::corpus::Corpus;
use crate::corpus::path::join;
use crate::corpus::schema::{place_of, places, stored_schema, visit};
use crate::crds;

/// What the corpus has for one kind.
struct Evidence {
    /// Rejections: the place and a part of the message.
    rejected: Vec<(String, String)>,
    /// What accepted objects have at each place.
    accepted: BTreeMap<String, Vec<Value>>,
    /// Places where the API server is seen to put this value.
    defaults: BTreeSet<(String, String)>,
}

impl Evidence {
    fn of(corpus: &Corpus, kind: &str, schema: &Value) -> Self {
        let mut evidence =
            Self { rejected: Vec::new(), accepted: BTreeMap::new(), defaults: BTreeSet::new() };
        for case in corpus.of(kind) {
            for cause in &case.causes {
                let place = place_of(schema, &cause.field).unwrap_or_default();
                evidence.rejected.push((place, cause.message.clone()));
            }
            if case.causes.is_empty() {
                visit(schema, &case.object, "", &mut |place, value| {
                    evidence.accepted.entry(place.to_owned()).or_default().push(value.clone());
                });
            }
        }
        for defaulting in corpus.defaults.iter().filter(|defaulting| defaulting.case.kind == kind) {
            let places =
                defaulting.adds.iter().filter_map(|(path, value)| Some((place_of(schema, path)?, value)));
            evidence.defaults.extend(places.map(|(place, value)| (place, value.to_string())));
        }
        evidence
    }

    /// A rejection at the place with all of `words` in its message.
    fn rejects(&self, place: &str, words: &str) -> bool {
        self.rejected.iter().any(|(at, message)| at == place && message.contains(words))
    }

    fn accepts(&self, place: &str, fits: impl FnMut(&Value) -> bool) -> bool {
        self.accepted.get(place).is_some_and(|values| values.iter().any(fits))
    }

    fn accepts_length(&self, place: &str, length: &Value) -> bool {
        self.accepts(place, |value| {
            let actual = match value {
                Value::String(text) => text.chars().count(),
                Value::Array(items) => items.len(),
                Value::Object(fields) => fields.len(),
                _ => return false,
            };
            number(length) == number(&actual.into())
        })
    }

    /// What the schema says at a place and the corpus does not show.
    fn gaps(&self, place: &str, schema: &Value) -> Vec<String> {
        let mut gaps = Vec::new();
        let mut need = |shown: bool, what: String| {
            if !shown {
                gaps.push(format!("{place}: {what}"));
            }
        };
        need(self.accepts(place, |_| true), "no accepted case has it".to_owned());
        if schema["x-kubernetes-preserve-unknown-fields"] == true {
            need(
                self.accepts(place, |value| *value != json!({})),
                "nothing free-form is accepted".to_owned(),
            );
        }
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            // A rejection that has to be there, and the accepted neighbour of it.
            let both = match keyword.as_str() {
                "minimum" => {
                    Some(("greater than or equal to", self.accepts(place, |v| number(v) == number(value))))
                }
                "maximum" => {
                    Some(("less than or equal to", self.accepts(place, |v| number(v) == number(value))))
                }
                // A pattern may need more characters than that.
                "minLength" => Some((
                    "chars long",
                    self.accepts_length(place, value)
                        || schema["pattern"].is_string() && self.accepts(place, |_| true),
                )),
                "maxLength" => Some(("may not be more than", self.accepts_length(place, value))),
                "minItems" => Some(("should have at least", self.accepts_length(place, value))),
                "maxItems" | "maxProperties" => {
                    Some(("must have at most", self.accepts_length(place, value)))
                }
                "pattern" => Some(("should match", self.accepts(place, |_| true))),
                "enum" => {
                    let mut choices = value.as_array().into_iter().flatten();
                    let accepted = choices.all(|choice| self.accepts(place, |v| v == choice));
                    Some(("Unsupported value", accepted))
                }
                // The format cannot be told from the maximum where there is one, and 64 bits from any number.
                "format" if value == "int32" && schema["maximum"].is_null() => {
                    Some(("format int32", self.accepts(place, |v| number(v) == Some(2_147_483_647.0))))
                }
                "format" if value != "int32" && value != "int64" => {
                    Some((value.as_str().unwrap_or_default(), self.accepts(place, |_| true)))
                }
                _ => None,
            };
            if let Some((words, accepted)) = both {
                need(self.rejects(place, words), format!("nothing is rejected by {keyword} {value}"));
                need(accepted, format!("nothing is accepted right at {keyword} {value}"));
            }
        }
        if ["map", "set"].iter().any(|kind| schema["x-kubernetes-list-type"] == *kind) {
            need(
                self.rejects(&format!("{place}[]"), "Duplicate value"),
                "no duplicate is rejected".to_owned(),
            );
        }
        if let Some(value) = schema.get("default") {
            need(
                self.defaults.contains(&(place.to_owned(), value.to_string())),
                format!("the default {value} is not shown"),
            );
        }
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            // Nobody can leave out what is filled in.
            let filled = !schema["properties"][name]["default"].is_null();
            let rejected = self.rejects(&join(place, name), "Required value");
            need(filled || rejected, format!("{name} is nowhere left out"));
        }
        for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
            let message = rule["message"].as_str().unwrap_or_default();
            let broken =
                self.rejected.iter().any(|(at, part)| at == place && message.contains(part.as_str()));
            need(broken, format!("nothing is rejected by the rule {message:?}"));
            let transition = rule["rule"].as_str().is_some_and(|rule| rule.contains("oldSelf"));
            need(!transition, format!("cases only create, and the rule {message:?} is about updates"));
        }
        gaps
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

#[test]
fn every_bound_has_cases() -> Result<()> {
    let corpus = Corpus::load()?;
    let mut gaps = Vec::new();
    let mut said = 0;
    for definition in crds::definitions()? {
        let kind = &definition.spec.names.kind;
        let schema = stored_schema(&definition)?;
        let evidence = Evidence::of(&corpus, kind, &schema);
        for (place, schema) in places(&schema) {
            said += 1;
            gaps.extend(evidence.gaps(&place, schema).into_iter().map(|gap| format!("{kind} {gap}")));
        }
    }
    ensure!(said > 1000, "only {said} places in all schemas");
    ensure!(gaps.is_empty(), "the corpus has no case for:\n  {}", gaps.join("\n  "));
    Ok(())
}

#[test]
fn there_are_many_cases() -> Result<()> {
    let corpus = Corpus::load()?;
    let rejected = corpus.cases.iter().filter(|case| !case.causes.is_empty()).count();
    let accepted = corpus.cases.len() - rejected;
    println!("{accepted} accepted, {rejected} rejected, {} defaulted", corpus.defaults.len());
    assert!(accepted >= 150 && rejected >= 150, "{accepted} accepted, {rejected} rejected");
    Ok(())
}
