//! Labels and annotations, at the level that they are meant for.
//!
//! A Deployment has metadata, and so has the template of its pods. Both are two maps of strings, and once they were
//! mixed up, pods lost the annotation that rolls them and got others that were not meant for them. Here the level is
//! part of the type.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde_json::{Map, Value, json};
use thv_api::names::annotations;

use crate::overrides::{IgnoredOverrides, RESERVED};

/// Where metadata can be.
pub(crate) trait Level {
    /// Whether an annotation at this level is ours, or that of a controller which we must not fight, even when
    /// nobody sets it at the moment.
    fn reserves(annotation: &str) -> bool;
}

/// On a Deployment itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDeployment {}

/// On a StatefulSet itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnStatefulSet {}

/// On the volume claims of a StatefulSet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnClaims {}

/// On the pods of a Deployment or StatefulSet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnPods {}

/// On a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnService {}

impl Level for OnDeployment {
    fn reserves(annotation: &str) -> bool {
        annotation == annotations::REVISION || annotation.starts_with("deployment.kubernetes.io/")
    }
}

impl Level for OnPods {
    fn reserves(annotation: &str) -> bool {
        [
            annotations::RUN_CONFIG_CHECKSUM,
            annotations::CONFIG_HASH,
            annotations::MCP_SERVER_GENERATION,
            annotations::RESTARTED_AT,
            annotations::KUBECTL_RESTARTED_AT,
        ]
        .contains(&annotation)
    }
}

impl Level for OnService {
    fn reserves(_: &str) -> bool {
        false
    }
}

impl Level for OnStatefulSet {
    fn reserves(_: &str) -> bool {
        false
    }
}

impl Level for OnClaims {
    fn reserves(_: &str) -> bool {
        false
    }
}

/// A map of labels or annotations.
pub(crate) type Pairs = BTreeMap<String, String>;

/// The labels and annotations that something has at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Metadata<L> {
    labels: Pairs,
    annotations: Pairs,
    level: PhantomData<L>,
}

/// The labels and annotations that a user adds at one level, and the field in which they stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserMetadata<'a, L> {
    labels: Option<&'a Pairs>,
    annotations: Option<&'a Pairs>,
    field: &'static str,
    level: PhantomData<L>,
}

impl<'a, L: Level> UserMetadata<'a, L> {
    /// What stands in a field.
    pub(crate) const fn new(
        field: &'static str,
        labels: Option<&'a Pairs>,
        annotations: Option<&'a Pairs>,
    ) -> Self {
        Self { labels, annotations, field, level: PhantomData }
    }
}

impl<L: Level> Metadata<L> {
    /// What we set ourselves.
    pub(crate) const fn new(labels: Pairs, annotations: Pairs) -> Self {
        Self { labels, annotations, level: PhantomData }
    }

    /// Adds what the user adds. What we set ourselves stays as it is.
    pub(crate) fn with(mut self, user: &UserMetadata<'_, L>, ignored: &mut IgnoredOverrides) -> Self {
        for (key, value) in user.labels.into_iter().flatten() {
            let field = || format!("{}.labels[{key}]", user.field);
            add(&mut self.labels, key, value, false, field, ignored);
        }
        for (key, value) in user.annotations.into_iter().flatten() {
            let field = || format!("{}.annotations[{key}]", user.field);
            add(&mut self.annotations, key, value, L::reserves(key), field, ignored);
        }
        self
    }

    /// Sets an annotation of ours.
    pub(crate) fn annotate(&mut self, key: &str, value: &str) {
        self.annotations.insert(key.to_owned(), value.to_owned());
    }

    /// The fields of `metadata`. A map without entries is left out, so that we do not own it.
    pub(crate) fn render(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        for (name, pairs) in [("labels", &self.labels), ("annotations", &self.annotations)] {
            if !pairs.is_empty() {
                fields.insert(name.to_owned(), json!(pairs));
            }
        }
        fields
    }
}

/// Adds one pair, unless it would displace another. Asking for the value that is there anyway is fine.
fn add(
    pairs: &mut Pairs,
    key: &str,
    value: &str,
    reserved: bool,
    field: impl Fn() -> String,
    ignored: &mut IgnoredOverrides,
) {
    match pairs.get(key) {
        Some(ours) if ours == value => {}
        None if !reserved => {
            pairs.insert(key.to_owned(), value.to_owned());
        }
        Some(_) | None => ignored.ignore(field(), RESERVED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Pairs {
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn users_add_and_do_not_displace() {
        let ours = Metadata::<OnService>::new(pairs([("app", "mcpserver")]), pairs([]));
        let (labels, annotations) = (pairs([("app", "x"), ("team", "a")]), pairs([("svc", "x")]));
        let mut ignored = IgnoredOverrides::default();
        let both = ours.with(&UserMetadata::new("f", Some(&labels), Some(&annotations)), &mut ignored);
        let expected = json!({"labels": {"app": "mcpserver", "team": "a"}, "annotations": {"svc": "x"}});
        assert_eq!(Value::Object(both.render()), expected);
        assert_eq!(ignored.message(), "ignored: f.labels[app]: set by the operator");
    }

    #[test]
    fn an_override_with_the_value_that_is_there_anyway_is_not_ignored() {
        let ours = Metadata::<OnService>::new(pairs([("app", "mcpserver")]), pairs([]));
        let labels = pairs([("app", "mcpserver")]);
        let mut ignored = IgnoredOverrides::default();
        let _ = ours.with(&UserMetadata::new("f", Some(&labels), None), &mut ignored);
        assert!(ignored.is_empty());
    }

    #[test]
    fn reserved_annotations_are_ignored_even_when_nobody_sets_them() {
        let wanted = pairs([(annotations::RESTARTED_AT, "x"), (annotations::KUBECTL_RESTARTED_AT, "x")]);
        let mut ignored = IgnoredOverrides::default();
        let none = Metadata::<OnPods>::new(pairs([]), pairs([]));
        let made = none.with(&UserMetadata::new("f", None, Some(&wanted)), &mut ignored);
        assert!(made.render().is_empty());
        assert_eq!(ignored.message().matches(RESERVED).count(), 2);

        let wanted = pairs([(annotations::REVISION, "1/a"), ("deployment.kubernetes.io/revision", "1")]);
        let mut ignored = IgnoredOverrides::default();
        let none = Metadata::<OnDeployment>::new(pairs([]), pairs([]));
        assert!(none.with(&UserMetadata::new("f", None, Some(&wanted)), &mut ignored).render().is_empty());
        assert_eq!(ignored.message().matches(RESERVED).count(), 2);
    }
}
