//! Which requests are meant.

use super::exchange::{Exchange, Verb};

/// Which requests are meant. What is not said does not matter.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    verbs: Option<Vec<Verb>>,
    group: Option<String>,
    resource: Option<String>,
    name: Option<String>,
    part: Part,
}

/// Which part of an object a request is about.
#[derive(Clone, Debug, Default)]
enum Part {
    #[default]
    Any,
    Whole,
    Subresource(String),
}

impl Pattern {
    /// Every request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Requests of one verb.
    pub fn verb(verb: Verb) -> Self {
        Self { verbs: Some(vec![verb]), ..Self::default() }
    }

    /// Requests that can change an object.
    pub fn write() -> Self {
        let all = [
            Verb::Create,
            Verb::Apply,
            Verb::MergePatch,
            Verb::JsonPatch,
            Verb::StrategicPatch,
            Verb::Put,
            Verb::Delete,
            Verb::DeleteCollection,
        ];
        Self { verbs: Some(all.to_vec()), ..Self::default() }
    }

    /// …about this API group, discovery included.
    #[must_use]
    pub fn in_group(mut self, group: &str) -> Self {
        self.group = Some(group.to_owned());
        self
    }

    /// …about this kind, by its plural name.
    #[must_use]
    pub fn of(mut self, resource: &str) -> Self {
        self.resource = Some(resource.to_owned());
        self
    }

    /// …about the object of this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// …about this subresource.
    #[must_use]
    pub fn subresource(mut self, name: &str) -> Self {
        self.part = Part::Subresource(name.to_owned());
        self
    }

    /// …about the object itself and none of its subresources.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.part = Part::Whole;
        self
    }

    /// Whether `exchange` is meant.
    pub fn matches(&self, exchange: &Exchange) -> bool {
        let Self { verbs, group, resource, name, part } = self;
        let is_part = match part {
            Part::Any => true,
            Part::Whole => exchange.subresource.is_none(),
            Part::Subresource(name) => exchange.subresource.as_ref() == Some(name),
        };
        verbs.as_ref().is_none_or(|verbs| verbs.contains(&exchange.verb))
            && group.as_ref().is_none_or(|group| *group == exchange.group)
            && resource.as_ref().is_none_or(|resource| *resource == exchange.resource)
            && name.as_ref().is_none_or(|name| Some(name) == exchange.name.as_ref())
            && is_part
    }
}
