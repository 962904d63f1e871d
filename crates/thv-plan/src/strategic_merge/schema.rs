//! What Kubernetes says about merging the fields of its types.

use super::Result;
use super::error::MergeErrorKind;
use super::path::Path;

/// One line for each type: `Type: field field …`, where a field is its name, its shape, and the type of what it
/// holds if that has fields. Written by `cargo xtask patch-schema`; the shapes are those of [`Shape`].
pub(super) const TABLE: &str = include_str!("table.txt");

/// A Kubernetes type, which tells how documents of it are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema(&'static str);

impl Schema {
    /// `Container` of `v1`.
    pub const CONTAINER: Self = Self("Container");
    /// `Deployment` of `apps/v1`.
    pub const DEPLOYMENT: Self = Self("Deployment");
    /// `PodSpec` of `v1`.
    pub const POD_SPEC: Self = Self("PodSpec");
    /// `PodTemplateSpec` of `v1`.
    pub const POD_TEMPLATE_SPEC: Self = Self("PodTemplateSpec");
    /// `StatefulSet` of `apps/v1`.
    pub const STATEFUL_SET: Self = Self("StatefulSet");
    /// What has no named fields: scalars, and maps such as `nodeSelector`, which are merged key by key.
    const NO_FIELDS: Self = Self("");

    /// The type with this name, if it is a workload kind or something that one is made of.
    pub fn named(name: &str) -> Option<Self> {
        TABLE
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(other, _)| *other == name)
            .map(|(name, _)| Self(name))
    }

    /// The name of the type.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// All fields of the type.
    pub(super) fn fields(self) -> impl Iterator<Item = Field> {
        let lines = TABLE.lines().filter_map(|line| line.split_once(':'));
        let fields =
            lines.filter(move |(name, _)| *name == self.0).flat_map(|(_, fields)| fields.split_whitespace());
        fields.filter_map(Field::read)
    }

    /// The field with this name. As Kubernetes does, we take one that differs in case for want of a better one.
    pub(super) fn field(self, name: &str, path: &Path) -> Result<Field> {
        let exact = self.fields().find(|field| field.name == name);
        let found = exact.or_else(|| self.fields().find(|field| folded(field.name).eq(folded(name))));
        found.ok_or_else(|| {
            path.problem(match self {
                Self::NO_FIELDS => MergeErrorKind::NoFields { name: name.to_owned() },
                Self(parent) => MergeErrorKind::UnknownField { parent, name: name.to_owned() },
            })
        })
    }
}

/// The characters of a name without regard to case. Two letters have a relative outside of ASCII.
fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().map(|letter| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    })
}

/// A field of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// The type of what it holds, or of the items if it holds a list.
    pub(super) holds: Schema,
}

/// What a field is in Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `=`: a struct, a map or a scalar.
    Value,
    /// `*`: a pointer to one. If both documents have a list in its place, Go takes it for a list.
    Pointer,
    /// `[…]`: a list.
    List(Strategy),
}

/// How lists are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// `[]`: not at all.
    Replace,
    /// `[key]`: item by item, where items with the same value of the key are the same.
    ByKey(&'static str),
    /// `[+]`: as a set of scalars.
    AsSet,
}

/// How one list is merged, and of what its items are.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) strategy: Strategy,
    pub(super) items: Schema,
}

impl Strategy {
    pub(super) fn key(self) -> Option<&'static str> {
        match self {
            Self::ByKey(key) => Some(key),
            Self::Replace | Self::AsSet => None,
        }
    }
}

impl Field {
    /// Reads a word of the table.
    fn read(word: &'static str) -> Option<Self> {
        let (name, rest) = word.split_at_checked(word.find(['=', '*', '['])?)?;
        let (shape, holds) = if let Some(rest) = rest.strip_prefix('[') {
            let (key, holds) = rest.split_once(']')?;
            let strategy = match key {
                "" => Strategy::Replace,
                "+" => Strategy::AsSet,
                key => Strategy::ByKey(key),
            };
            (Shape::List(strategy), holds)
        } else if let Some(holds) = rest.strip_prefix('*') {
            (Shape::Pointer, holds)
        } else {
            (Shape::Value, rest.strip_prefix('=')?)
        };
        Some(Self { name, shape, holds: Schema(holds) })
    }

    /// The type of the field when both documents have an object in it.
    pub(super) fn object(self) -> Schema {
        match self.shape {
            Shape::Value | Shape::Pointer => self.holds,
            Shape::List(_) => Schema::NO_FIELDS,
        }
    }

    /// How to merge when both documents have a list in it.
    pub(super) fn list(self, path: &Path) -> Result<List> {
        let strategy = match self.shape {
            Shape::List(strategy) => strategy,
            Shape::Pointer => Strategy::Replace,
            Shape::Value => return Err(path.problem(MergeErrorKind::NotAList)),
        };
        Ok(List { strategy, items: self.holds })
    }
}
