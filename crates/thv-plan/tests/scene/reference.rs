//! References between the objects of the examples. The tests against an API server read them as well.

/// An object that another one refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// The name of the object that refers.
    pub(crate) owner: &'static str,
    /// Where it names the other one.
    pub(crate) place: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
}

impl Reference {
    /// How a leaf of the object is called on the list.
    pub(crate) fn title(&self, leaf: &str) -> String {
        format!("{} {} {leaf}", self.kind, self.name)
    }
}

pub(crate) const fn refers(
    owner: &'static str,
    place: &'static str,
    kind: &'static str,
    name: &'static str,
) -> Reference {
    Reference { owner, place, kind, name }
}
