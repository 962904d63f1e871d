//! Environment variables, by name: there cannot be two of one name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Where the value of a variable comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvValue {
    /// The text itself. It can mention other variables as `$(NAME)`.
    Literal(String),
    /// A key of a Secret.
    Secret {
        /// The name of the Secret.
        name: String,
        /// The key in it.
        key: String,
    },
    /// An annotation of the pod, as it was when the container started.
    Annotation(&'static str),
    /// A field of the pod, such as `status.podIP`, as it was when the container started.
    Field(&'static str),
    /// Whatever an entry of somebody else's says.
    Entry(Value),
}

impl EnvValue {
    /// A literal.
    pub fn literal(text: impl Into<String>) -> Self {
        Self::Literal(text.into())
    }

    /// The entry of a container's `env`. The version of the field path is what the API server would put there:
    /// left out, it would be a field that nobody owns.
    fn render(&self, variable: &str) -> Value {
        match self {
            Self::Literal(value) => json!({ "name": variable, "value": value }),
            Self::Secret { name, key } => {
                json!({ "name": variable, "valueFrom": { "secretKeyRef": { "name": name, "key": key } } })
            }
            Self::Entry(entry) => {
                let mut entry = entry.clone();
                if let Some(fields) = entry.as_object_mut() {
                    fields.insert("name".to_owned(), variable.into());
                }
                entry
            }
            Self::Annotation(annotation) => field(variable, &format!("metadata.annotations['{annotation}']")),
            Self::Field(path) => field(variable, path),
        }
    }

    /// The variables that the value mentions.
    fn mentions(&self) -> BTreeSet<&str> {
        let text = match self {
            Self::Secret { .. } | Self::Annotation(_) | Self::Field(_) => return BTreeSet::new(),
            Self::Literal(text) => text,
            Self::Entry(entry) => entry.get("value").and_then(Value::as_str).unwrap_or_default(),
        };
        // Two `$` stand for one, and begin nothing.
        let mut mentions = BTreeSet::new();
        let mut rest: &str = text;
        while let Some((_, after)) = rest.split_once('$') {
            rest = match after.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
                Some((name, after)) => {
                    mentions.insert(name);
                    after
                }
                None => after.strip_prefix('$').unwrap_or(after),
            };
        }
        mentions
    }
}

/// A variable with a field of the pod.
fn field(variable: &str, path: &str) -> Value {
    json!({ "name": variable, "valueFrom": { "fieldRef": { "apiVersion": "v1", "fieldPath": path } } })
}

/// The environment of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env(BTreeMap<String, EnvValue>);

impl Env {
    /// The variables of a container's `env`. Of two of one name, the last counts.
    pub fn of(entries: Vec<Value>) -> Self {
        let mut all = Self::default();
        for entry in entries {
            if let Some(name) = entry.get("name").and_then(Value::as_str).map(str::to_owned) {
                all.set(name, EnvValue::Entry(entry));
            }
        }
        all
    }

    /// Sets a variable, whatever it was before.
    pub fn set(&mut self, name: impl Into<String>, value: EnvValue) {
        self.0.insert(name.into(), value);
    }

    /// Sets a variable that has no value yet.
    pub fn set_default(&mut self, name: impl Into<String>, value: EnvValue) {
        self.0.entry(name.into()).or_insert(value);
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&EnvValue> {
        self.0.get(name)
    }

    /// The names of all variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The list for a container: sorted by name, so that no reordering of inputs restarts a pod, except that a
    /// variable comes after those that it mentions, because Kubernetes only knows what came before.
    pub fn render(&self) -> Value {
        let mut waiting: Vec<(&String, &EnvValue)> = self.0.iter().collect();
        let mut rendered = Vec::with_capacity(waiting.len());
        let mut there: BTreeSet<&str> = BTreeSet::new();
        while !waiting.is_empty() {
            let is_ready = |(name, value): &(&String, &EnvValue)| {
                let mut missing = value.mentions().into_iter().filter(|other| *other != name.as_str());
                missing.all(|other| there.contains(other) || !self.0.contains_key(other))
            };
            // Variables that mention each other in a circle come in order of their names.
            let next = waiting.iter().position(is_ready).unwrap_or(0);
            let (name, value) = waiting.remove(next);
            there.insert(name);
            rendered.push(value.render(name));
        }
        Value::Array(rendered)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(env: &Env) -> Vec<String> {
        let rendered = env.render();
        rendered.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    }

    fn env<const N: usize>(pairs: [(&str, &str); N]) -> Env {
        let mut env = Env::default();
        for (name, value) in pairs {
            env.set(name, EnvValue::literal(value));
        }
        env
    }

    #[test]
    fn entries_are_explicit_about_what_the_api_server_would_default() {
        let mut env = env([("A", "x")]);
        env.set("B", EnvValue::Secret { name: "s".to_owned(), key: "k".to_owned() });
        env.set("C", EnvValue::Annotation("example.com/a"));
        env.set("D", EnvValue::Entry(json!({"name": "?", "valueFrom": {"configMapKeyRef": {"key": "k"}}})));
        let expected = json!([
            {"name": "A", "value": "x"},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "C", "valueFrom": {"fieldRef": {
                "apiVersion": "v1", "fieldPath": "metadata.annotations['example.com/a']",
            }}},
            {"name": "D", "valueFrom": {"configMapKeyRef": {"key": "k"}}},
        ]);
        assert_eq!(env.render(), expected);
    }

    #[test]
    fn a_variable_follows_those_that_it_mentions() {
        let env = env([("A", "http://$(Z):$(PORT)/$(UNKNOWN)"), ("Z", "host"), ("B", "b"), ("PORT", "1")]);
        assert_eq!(names(&env), ["B", "PORT", "Z", "A"]);
    }

    #[test]
    fn a_circle_is_no_reason_to_wait() {
        assert_eq!(names(&env([("A", "$(B)"), ("B", "$(A)"), ("C", "$(C)")])), ["C", "A", "B"]);
    }

    #[test]
    fn a_default_does_not_displace() {
        let mut env = env([("HOME", "/home")]);
        env.set_default("HOME", EnvValue::literal("/tmp"));
        env.set_default("OTHER", EnvValue::literal("x"));
        assert_eq!(env.get("HOME"), Some(&EnvValue::literal("/home")));
        assert_eq!(env.names().collect::<Vec<_>>(), ["HOME", "OTHER"]);
    }

    proptest! {
        #[test]
        fn every_variable_is_there_once_in_any_order(
            pairs in proptest::collection::btree_map("[A-E]", "(x|\\$\\([A-F]\\)){0,3}", 0..6),
            seed: u64,
        ) {
            let forwards = pairs.iter().fold(Env::default(), |mut env, (name, value)| {
                env.set(name, EnvValue::literal(value));
                env
            });
            let mut shuffled: Vec<_> = pairs.iter().collect();
            shuffled.rotate_left(usize::try_from(seed % 7).unwrap() % pairs.len().max(1));
            let backwards = shuffled.into_iter().rev().fold(Env::default(), |mut env, (name, value)| {
                env.set(name, EnvValue::literal(value));
                env
            });
            prop_assert_eq!(forwards.render(), backwards.render());
            let mut sorted = names(&forwards);
            sorted.sort();
            prop_assert_eq!(sorted, pairs.into_keys().collect::<Vec<_>>());
        }
    }
}
