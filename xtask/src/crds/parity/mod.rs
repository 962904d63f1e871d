//! `cargo xtask crd-parity`: do our definitions accept and say what the reference's do?

mod cel;
mod definition;
mod findings;
mod rules;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use self::findings::{ABSENT, Finding, Findings};
use super::deliberate::{self, DELIBERATE};
use super::{table, yaml};

/// A finding with the kind that it is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference {
    pub(super) kind: String,
    pub(super) path: String,
    /// The versions that it is in, or nothing if it is about the kind as a whole.
    pub(super) versions: String,
    pub(super) ours: String,
    pub(super) theirs: String,
}

#[derive(Debug, Default)]
struct Comparison {
    differences: Vec<Difference>,
    notes: Vec<Difference>,
}

pub(super) fn run(ours: &[Value], folder: &Path, all: bool) -> Result<()> {
    let theirs = read(folder)?;
    let comparison = compare(ours, &theirs);
    let verdict = deliberate::judge(comparison.differences, DELIBERATE);

    show("spelled differently, with the same meaning", &comparison.notes);
    for (reason, differences) in &verdict.accepted {
        println!("deliberate: {} differences: {reason}", differences.len());
        if all {
            show("namely", differences);
        }
    }
    show("different", &verdict.unexpected);
    for entry in &verdict.stale {
        println!("on the list of deliberate differences, but not there: {entry}");
    }
    ensure!(
        verdict.unexpected.is_empty() && verdict.stale.is_empty(),
        "{} differences and {} stale entries in the list of deliberate ones: mend crates/thv-api, or argue in \
         xtask/src/crds/deliberate.rs",
        verdict.unexpected.len(),
        verdict.stale.len(),
    );
    println!("{} kinds agree", theirs.len());
    Ok(())
}

fn header() -> [String; 5] {
    ["kind", "versions", "path", "ours", "theirs"].map(str::to_owned)
}

fn row(difference: &Difference) -> [String; 5] {
    let Difference { kind, path, versions, ours, theirs } = difference.clone();
    [kind, versions, path, ours, theirs]
}

fn show(title: &str, differences: &[Difference]) {
    if !differences.is_empty() {
        println!("{title}:");
        table::print(&header(), differences.iter().map(row));
        println!();
    }
}

/// All definitions in the YAML files of a folder.
fn read(folder: &Path) -> Result<Vec<Value>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let documents = yaml::read(&text).with_context(|| format!("{} is not YAML", path.display()))?;
        let definitions =
            documents.into_iter().filter(|document| kind_of(document) == Some("CustomResourceDefinition"));
        found.extend(definitions.map(yaml::whole_numbers));
    }
    if found.is_empty() {
        bail!("no CustomResourceDefinition in {}", folder.display());
    }
    Ok(found)
}

fn kind_of(object: &Value) -> Option<&str> {
    object.get("kind")?.as_str()
}

/// Compares two sets of definitions, kind by kind.
fn compare(ours: &[Value], theirs: &[Value]) -> Comparison {
    let (ours, theirs) = (by_kind(ours), by_kind(theirs));
    let kinds: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
    let mut comparison = Comparison::default();
    for kind in kinds {
        match (ours.get(kind), theirs.get(kind)) {
            (Some(ours), Some(theirs)) => compare_kind(kind, ours, theirs, &mut comparison),
            (ours, theirs) => {
                let there = |crd: Option<_>| if crd.is_some() { "kind" } else { ABSENT }.to_owned();
                let mut found = Findings::default();
                found.differ("(kind)", there(ours), there(theirs));
                comparison.add(kind, [(String::new(), found)]);
            }
        }
    }
    comparison
}

fn by_kind(crds: &[Value]) -> BTreeMap<&str, &Value> {
    crds.iter().filter_map(|crd| Some((crd.pointer("/spec/names/kind")?.as_str()?, crd))).collect()
}

fn compare_kind(kind: &str, ours: &Value, theirs: &Value, comparison: &mut Comparison) {
    let mut found = Findings::default();
    definition::compare(ours, theirs, &mut found);
    comparison.add(kind, [(String::new(), found)]);

    let (ours, theirs) = (definition::versions(ours), definition::versions(theirs));
    let names: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
    let by_version = names.into_iter().map(|name| {
        let mut found = Findings::default();
        definition::compare_version(ours.get(name).copied(), theirs.get(name).copied(), &mut found);
        (name.to_owned(), found)
    });
    comparison.add(kind, by_version);
}

impl Comparison {
    /// Adds what was found in versions of a kind. What several versions have in common becomes one difference.
    fn add(&mut self, kind: &str, by_version: impl IntoIterator<Item = (String, Findings)>) {
        let mut differences = BTreeMap::new();
        let mut notes = BTreeMap::new();
        for (version, found) in by_version {
            for (all, some) in [(&mut differences, found.differences), (&mut notes, found.notes)] {
                for finding in some {
                    let versions: &mut Vec<String> = all.entry(finding).or_default();
                    versions.push(version.clone());
                }
            }
        }
        for (all, some) in [(&mut self.differences, differences), (&mut self.notes, notes)] {
            all.extend(some.into_iter().map(|(finding, versions)| {
                let Finding { path, ours, theirs } = finding;
                Difference { kind: kind.to_owned(), path, versions: versions.join(" "), ours, theirs }
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(kind: &str, versions: &[(&str, Value)]) -> Value {
        let versions: Vec<Value> = versions
            .iter()
            .map(|(name, schema)| json!({ "name": name, "schema": { "openAPIV3Schema": schema } }))
            .collect();
        json!({
            "kind": "CustomResourceDefinition",
            "metadata": { "name": kind },
            "spec": { "names": { "kind": kind }, "versions": versions },
        })
    }

    fn lines(differences: &[Difference]) -> Vec<String> {
        differences.iter().map(|difference| row(difference).join(" | ")).collect()
    }

    #[test]
    fn kinds_and_versions_that_one_side_lacks_are_found() {
        let schema = json!({ "type": "object" });
        let ours = [crd("A", &[("v1", schema.clone())]), crd("B", &[("v1", schema.clone())])];
        let theirs = [crd("C", &[("v1", schema.clone())]), crd("B", &[("v2", schema)])];
        assert_eq!(
            lines(&compare(&ours, &theirs).differences),
            [
                "A |  | (kind) | kind | –",
                "B | v1 | (version) | version | –",
                "B | v2 | (version) | – | version",
                "C |  | (kind) | – | kind",
            ]
        );
    }

    #[test]
    fn what_versions_have_in_common_is_said_once() {
        let (ours, theirs) = (json!({ "minimum": 1, "maximum": 2 }), json!({ "minimum": 2, "maximum": 2 }));
        let other = json!({ "minimum": 2, "maximum": 3 });
        let ours = [crd("A", &[("v1", ours.clone()), ("v2", ours)])];
        let theirs = [crd("A", &[("v2", theirs), ("v1", other)])];
        let expected = ["A | v1 | maximum | 2 | 3", "A | v1 v2 | minimum | 1 | 2"];
        assert_eq!(lines(&compare(&ours, &theirs).differences), expected);
    }

    #[test]
    fn folders_are_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_err());
        let text = "kind: Other\n---\nkind: CustomResourceDefinition\nspec: {a: 1.0}\n";
        fs::write(folder.path().join("a.yaml"), text).unwrap();
        fs::write(folder.path().join("b.txt"), "neither: [").unwrap();
        assert_eq!(
            read(folder.path()).unwrap(),
            [json!({ "kind": "CustomResourceDefinition", "spec": { "a": 1 } })]
        );
        fs::write(folder.path().join("c.yml"), "neither: [").unwrap();
        assert!(format!("{:#}", read(folder.path()).unwrap_err()).contains("c.yml is not YAML"));
    }
}
