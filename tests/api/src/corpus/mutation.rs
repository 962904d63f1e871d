//! Whether the corpus notices when a rule is gone: each CEL rule is removed, and a case has to be judged
//! differently then.
//!
//! A definition may have any number of versions, and each version a schema of its own. So there are copies of
//! the definitions, in a group of the test's own, in which version `m3` lacks rule 3, and `v1` lacks none.

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};
use thv_testbed::{Space, in_namespace};

use crate::corpus::judge::{Endpoint, Verdict, complaint};
use crate::corpus::schema::{Rule, place_of, rules, stored_schema};
use crate::corpus::{Case, Corpus};
use crate::crds;

/// So many versions of the largest kind still fit into one object of etcd.
const RULES_PER_DEFINITION: usize = 8;

/// What a rule is good for, as far as the corpus shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Without it something is accepted that was rejected.
    Decides,
    /// Without it everything is judged the same, but with fewer reasons.
    Explains,
    /// Nothing changes.
    Unnoticed,
}

/// A copy of a definition: without one of `rules` in each version.
struct Mutants {
    kind: String,
    plural: String,
    group: String,
    schema: Value,
    rules: Vec<Rule>,
}

/// The schema without one rule.
fn without(schema: &Value, rule: &Rule) -> Value {
    let pointer = rule.place.replace("[]", ".items").replace("{}", ".additionalProperties");
    // A property may be called `items`, but not one that a rule is on.
    let mut schema = schema.clone();
    let place = pointer.split('.').fold(&mut schema, |schema, step| match step {
        "items" | "additionalProperties" => &mut schema[step],
        name => &mut schema["properties"][name],
    });
    let rules = place["x-kubernetes-validations"].as_array_mut().expect("the place has rules");
    rules.remove(rule.index);
    if rules.is_empty() {
        place.as_object_mut().expect("a schema").remove("x-kubernetes-validations");
    }
    schema
}

/// Descriptions are most of a schema, and change nothing.
fn strip_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "description" || !value.is_string());
            fields.values_mut().for_each(strip_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_descriptions),
        _ => {}
    }
}

impl Mutants {
    fn all(space: &Space) -> Result<Vec<Self>> {
        let mut copies = Vec::new();
        for definition in crds::definitions()? {
            let mut schema = stored_schema(&definition)?;
            strip_descriptions(&mut schema);
            let names = definition.spec.names;
            for rules in rules(&schema).chunks(RULES_PER_DEFINITION) {
                let group = format!("m{}.{}.toolhive.test", copies.len(), space.namespace());
                let (kind, plural, schema) = (names.kind.clone(), names.plural.clone(), schema.clone());
                copies.push(Self { kind, plural, group, schema, rules: rules.to_vec() });
            }
        }
        Ok(copies)
    }

    async fn install(&self, space: &Space) -> Result<()> {
        let name = format!("{}.{}", self.plural, self.group);
        let version = |name: &str, storage: bool, schema: Value| {
            json!({
                "name": name, "served": true, "storage": storage,
                "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}},
            })
        };
        let mutants = self.rules.iter().enumerate();
        let mutants =
            mutants.map(|(index, rule)| version(&mutant(index), false, without(&self.schema, rule)));
        let versions: Vec<Value> =
            [version("v1", true, self.schema.clone())].into_iter().chain(mutants).collect();
        let definition: CustomResourceDefinition = serde_json::from_value(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": name},
            "spec": {
                "group": self.group, "scope": "Namespaced", "versions": versions,
                "names": {"kind": self.kind, "plural": self.plural},
            },
        }))?;
        crds::install_own(space, &definition).await
    }

    /// What becomes of the corpus when each of the rules is gone.
    async fn fates(&self, space: &Space, corpus: &Corpus) -> Result<Vec<(String, Fate)>> {
        let mut fates = Vec::new();
        for (index, rule) in self.rules.iter().enumerate() {
            let cases: Vec<&Case> = corpus.of(&self.kind).filter(|case| self.is_about(case, rule)).collect();
            let endpoint = |version: &str| Endpoint::new(space, &self.group, version, &self.plural);
            for (case, verdict) in endpoint("v1").judge(cases.iter().copied()).await? {
                let complaint = complaint(case, &verdict);
                ensure!(complaint.is_none(), "{}: the copy itself is wrong: {complaint:?}", case.name);
            }
            let verdicts = endpoint(&mutant(index)).judge(cases).await?;
            let fate = if verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::Accepted(_))) {
                Fate::Decides
            } else if verdicts.iter().any(|(case, verdict)| complaint(case, verdict).is_some()) {
                Fate::Explains
            } else {
                Fate::Unnoticed
            };
            fates.push((format!("{} {}: {:?}", self.kind, rule.place, rule.message), fate));
        }
        Ok(fates)
    }

    fn is_about(&self, case: &Case, rule: &Rule) -> bool {
        case.causes.iter().any(|cause| {
            rule.message.contains(&cause.message)
                && place_of(&self.schema, &cause.field).as_ref() == Some(&rule.place)
        })
    }
}

fn mutant(index: usize) -> String {
    format!("m{index}")
}

#[tokio::test]
async fn every_rule_is_missed_when_it_is_gone() {
    in_namespace(async |space| {
        let corpus = Corpus::load()?;
        let copies = Mutants::all(&space)?;
        let count: usize = copies.iter().map(|copy| copy.rules.len()).sum();
        ensure!(count > 70, "there are only {count} rules");
        for copy in &copies {
            copy.install(&space).await?;
        }
        let fates = try_join_all(copies.iter().map(|copy| copy.fates(&space, &corpus))).await?.concat();
        let those = |wanted: Fate| -> Vec<&str> {
            fates.iter().filter(|(_, fate)| *fate == wanted).map(|(rule, _)| &**rule).collect()
        };
        println!("{} of {count} rules decide; these only explain:", those(Fate::Decides).len());
        println!("  {}", those(Fate::Explains).join("\n  "));
        let unnoticed = those(Fate::Unnoticed);
        ensure!(unnoticed.is_empty(), "nobody misses these rules:\n  {}", unnoticed.join("\n  "));
        Ok(())
    })
    .await;
}
