//! Objects that the API server has to accept or to reject, read from `corpus/`.
//!
//! `corpus/<kind>.yaml` has the cases of a kind. `corpus/parts/` has the cases of what several kinds have in
//! common; they count at every place that the file names, with paths from that place on. A case is written as
//! changes to an earlier one; one that is rejected differs from an accepted one in exactly one thing.

mod coverage;
mod judge;
mod kinds;
mod mutation;
mod path;
pub(crate) mod schema;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::path::{join, remove, set, steps};
use self::words::speak_like_the_definitions;

/// One object, and what the API server has to make of it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) kind: String,
    pub(crate) name: String,
    /// Without `apiVersion`, `kind` and `metadata`.
    pub(crate) object: Value,
    /// Why it is rejected. Empty: it is accepted.
    pub(crate) causes: Vec<Cause>,
}

/// One reason of a rejection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cause {
    pub(crate) field: String,
    /// In a case, a part of it.
    pub(crate) message: String,
}

/// What the API server adds to an object.
#[derive(Debug)]
pub(crate) struct Defaulting {
    pub(crate) case: Case,
    /// Additions elsewhere are not looked at.
    pub(crate) at: String,
    pub(crate) adds: BTreeMap<String, Value>,
}

/// All of it.
#[derive(Default)]
pub(crate) struct Corpus {
    pub(crate) cases: Vec<Case>,
    pub(crate) defaults: Vec<Defaulting>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindFile {
    kind: String,
    cases: Vec<Written>,
    defaults: Vec<WrittenDefaults>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartFile {
    part: String,
    places: Vec<Place>,
    cases: Vec<Written>,
    #[serde(default)]
    defaults: Vec<WrittenDefaults>,
}

/// Where a part is: at a path of an accepted case of a kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    kind: String,
    #[serde(rename = "in")]
    host: String,
    at: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    object: Option<Value>,
    from: Option<String>,
    #[serde(default)]
    set: Map<String, Value>,
    remove: Option<String>,
    rejected: Option<OneOrMore>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(WrittenCause),
    More(Vec<WrittenCause>),
}

/// A message alone is about the field that was changed.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenCause {
    Here(String),
    There { field: String, message: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDefaults {
    of: String,
    adds: BTreeMap<String, Value>,
}

/// A case before it is put in its place.
struct Resolved {
    value: Value,
    causes: Vec<Cause>,
}

type ResolvedCases = BTreeMap<String, Resolved>;

impl Corpus {
    /// Reads the whole corpus.
    pub(crate) fn load() -> Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        let mut corpus = Self::default();
        let mut hosts: BTreeMap<String, ResolvedCases> = BTreeMap::new();
        for file in yaml_files(&folder)? {
            let KindFile { kind, cases, defaults } = read(&file)?;
            let cases = resolve(cases).with_context(|| format!("in {}", file.display()))?;
            corpus.add(&kind, "", "", None, &cases, &defaults)?;
            hosts.insert(kind, cases);
        }
        for file in yaml_files(&folder.join("parts"))? {
            let PartFile { part, places, cases, defaults } = read(&file)?;
            let cases = resolve(cases).with_context(|| format!("in {}", file.display()))?;
            for Place { kind, host, at } in places {
                let host = hosts.get(&kind).and_then(|cases| cases.get(&host));
                let host = host.with_context(|| format!("{part} has a place in a case that is not there"))?;
                corpus.add(&kind, &part, &at, Some(&host.value), &cases, &defaults)?;
            }
        }
        speak_like_the_definitions(&mut corpus)?;
        Ok(corpus)
    }

    fn add(
        &mut self,
        kind: &str,
        part: &str,
        at: &str,
        host: Option<&Value>,
        cases: &ResolvedCases,
        defaults: &[WrittenDefaults],
    ) -> Result<()> {
        let place = |name: &str, resolved: &Resolved| {
            let mut object = host.cloned().unwrap_or_else(|| json!({}));
            set(&mut object, &steps(at), resolved.value.clone());
            let cause =
                |cause: &Cause| Cause { field: join(at, &cause.field), message: cause.message.clone() };
            let name = if part.is_empty() { name.to_owned() } else { format!("{part} at {at}: {name}") };
            let causes = resolved.causes.iter().map(cause).collect();
            Case { kind: kind.to_owned(), name, object, causes }
        };
        self.cases.extend(cases.iter().map(|(name, resolved)| place(name, resolved)));
        for WrittenDefaults { of, adds } in defaults {
            let case = cases.get(of).with_context(|| format!("{kind} {part}: there is no case {of:?}"))?;
            let adds = adds.iter().map(|(path, value)| (join(at, path), value.clone())).collect();
            self.defaults.push(Defaulting { case: place(of, case), at: at.to_owned(), adds });
        }
        Ok(())
    }

    /// The cases of one kind.
    pub(crate) fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Case> {
        self.cases.iter().filter(move |case| case.kind == kind)
    }
}

fn yaml_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T> {
    let text = fs::read_to_string(file)?;
    serde_saphyr::from_str(&text).with_context(|| format!("cannot read {}", file.display()))
}

/// Makes whole objects out of changes.
fn resolve(written: Vec<Written>) -> Result<ResolvedCases> {
    let mut cases = ResolvedCases::new();
    for case in written {
        let name = case.name.clone();
        let resolved = resolve_one(case, &cases).with_context(|| format!("case {name:?}"))?;
        ensure!(cases.insert(name.clone(), resolved).is_none(), "there are two cases {name:?}");
    }
    Ok(cases)
}

fn resolve_one(case: Written, earlier: &ResolvedCases) -> Result<Resolved> {
    let changes: Vec<&String> = case.set.keys().chain(&case.remove).collect();
    let changed = changes.first().map(|path| (*path).clone());
    let causes = match case.rejected {
        None => Vec::new(),
        Some(rejected) => {
            ensure!(changes.len() == 1, "a rejected case differs from an accepted one in one thing");
            let changed = changed.context("nothing is changed")?;
            let causes = match rejected {
                OneOrMore::One(cause) => vec![cause],
                OneOrMore::More(causes) => causes,
            };
            let cause = |cause| match cause {
                WrittenCause::Here(message) => Cause { field: changed.clone(), message },
                WrittenCause::There { field, message } => Cause { field, message },
            };
            causes.into_iter().map(cause).collect()
        }
    };
    let mut value = match (case.object, case.from) {
        (Some(object), None) => expand(&object, None),
        (None, Some(from)) => {
            let base = earlier.get(&from).with_context(|| format!("there is no case {from:?} before it"))?;
            ensure!(base.causes.is_empty(), "{from:?} is rejected itself");
            base.value.clone()
        }
        _ => bail!("a case has either an `object` or a `from`"),
    };
    for (path, new) in &case.set {
        set(&mut value, &steps(path), expand(new, None));
    }
    if let Some(path) = &case.remove {
        remove(&mut value, &steps(path));
    }
    Ok(Resolved { value, causes })
}

/// Writes out what is too long to be written by hand:
/// `{$pad: text, to: n}` is the text with as many `a` behind it as make n characters,
/// `{$items: n, of: value}` a list of n of them, in which `#` becomes the index,
/// `{$entries: n, of: value}` an object with n fields.
fn expand(value: &Value, index: Option<usize>) -> Value {
    let count = |value: &Value| usize::try_from(value.as_u64().expect("a number")).expect("a small number");
    match value {
        Value::String(text) => match index {
            Some(index) => text.replace('#', &index.to_string()).into(),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| expand(item, index)).collect(),
        Value::Object(fields) => {
            if let Some(text) = fields.get("$pad") {
                let text = text.as_str().expect("a text");
                let missing = count(&fields["to"]) - text.chars().count();
                format!("{text}{}", "a".repeat(missing)).into()
            } else if let Some(number) = fields.get("$items") {
                (0..count(number)).map(|index| expand(&fields["of"], Some(index))).collect()
            } else if let Some(number) = fields.get("$entries") {
                let entry = |index| (format!("k{index}"), expand(&fields["of"], None));
                Value::Object((0..count(number)).map(entry).collect())
            } else {
                Value::Object(fields.iter().map(|(key, value)| (key.clone(), expand(value, index))).collect())
            }
        }
        other => other.clone(),
    }
}
