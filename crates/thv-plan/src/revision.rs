//! Revisions: numbers that order everything that was ever rendered for one object.
//!
//! A revision names exactly one content. Whoever writes the backend of a server carries the revision that it was
//! born with, and never overwrites a later one. Here is the decision that mints them; that a number is taken once
//! only is up to the write, which swaps the annotation under the `resourceVersion` that was looked at.

use std::fmt;
use std::str::FromStr;

/// A revision number and the digest of the one content that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The number.
    pub number: u64,
    /// The digest of the content.
    pub digest: String,
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.digest)
    }
}

/// The text is not `<number>/<digest>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a revision is written <number>/<digest>")]
pub struct NotARevision;

impl FromStr for Revision {
    type Err = NotARevision;

    fn from_str(text: &str) -> Result<Self, NotARevision> {
        let (number, digest) = text.split_once('/').ok_or(NotARevision)?;
        if digest.is_empty() || digest.contains('/') {
            return Err(NotARevision);
        }
        Ok(Self { number: number.parse().map_err(|_| NotARevision)?, digest: digest.to_owned() })
    }
}

/// What is recorded about revisions. What is missing or cannot be read counts as nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The annotation of the object itself.
    pub owner: Option<Revision>,
    /// The annotation of its Deployment, if the Deployment is controlled by this very object.
    pub deployment: Option<Revision>,
    /// The number that its StatefulSet was applied with, if it was applied for this very object.
    pub backend: Option<u64>,
}

/// What to do about the revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The content is that of this revision already; nothing is to be written for it.
    Keep(Revision),
    /// The content is new; this revision is to be written to the object, under the `resourceVersion` that
    /// went into the decision, before anything is applied with it.
    Mint(Revision),
}

impl Decision {
    /// The revision, old or new.
    pub const fn revision(&self) -> &Revision {
        match self {
            Self::Keep(revision) | Self::Mint(revision) => revision,
        }
    }
}

/// Decides on the revision of a content with this `digest`.
///
/// `resource_version` is that of the object. It is part of a new number because the records can be lost, all of
/// them at once, and a number must not be given away twice even then.
pub fn decide(records: &Records, digest: &str, resource_version: u64) -> Decision {
    let Records { owner, deployment, backend } = records;
    let named: Vec<&Revision> = owner.iter().chain(deployment).collect();
    let highest = named.iter().map(|record| record.number).chain(*backend).max().unwrap_or(0);
    let mut at_the_top = named.iter().filter(|record| record.number == highest).peekable();
    if at_the_top.peek().is_some() && at_the_top.all(|record| record.digest == digest) {
        return Decision::Keep(Revision { number: highest, digest: digest.to_owned() });
    }
    let number = highest.max(resource_version).saturating_add(1);
    Decision::Mint(Revision { number, digest: digest.to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn revision(number: u64, digest: &str) -> Revision {
        Revision { number, digest: digest.to_owned() }
    }

    fn records(owner: Option<Revision>, deployment: Option<Revision>, backend: Option<u64>) -> Records {
        Records { owner, deployment, backend }
    }

    #[test]
    fn the_first_content_gets_a_number_above_the_resource_version() {
        assert_eq!(decide(&Records::default(), "a", 7), Decision::Mint(revision(8, "a")));
    }

    #[test]
    fn the_same_content_keeps_its_number() {
        let both = records(Some(revision(8, "a")), Some(revision(8, "a")), Some(8));
        assert_eq!(decide(&both, "a", 100), Decision::Keep(revision(8, "a")));
    }

    #[test]
    fn a_lost_annotation_costs_no_rollout() {
        let lost = records(None, Some(revision(8, "a")), Some(8));
        assert_eq!(decide(&lost, "a", 100), Decision::Keep(revision(8, "a")));
    }

    #[test]
    fn an_old_annotation_that_comes_back_is_overruled() {
        let back = records(Some(revision(3, "a")), Some(revision(8, "b")), None);
        assert_eq!(decide(&back, "a", 5), Decision::Mint(revision(9, "a")));
        assert_eq!(decide(&back, "b", 5), Decision::Keep(revision(8, "b")));
    }

    #[test]
    fn a_backend_ahead_of_every_record_forces_a_new_number() {
        let ahead = records(Some(revision(8, "a")), Some(revision(8, "a")), Some(9));
        assert_eq!(decide(&ahead, "a", 5), Decision::Mint(revision(10, "a")));
    }

    #[test]
    fn two_contents_under_one_number_are_left_behind() {
        let torn = records(Some(revision(8, "a")), Some(revision(8, "b")), None);
        assert_eq!(decide(&torn, "a", 5), Decision::Mint(revision(9, "a")));
    }

    #[test]
    fn text_is_read_strictly() {
        assert_eq!("8/ab".parse(), Ok(revision(8, "ab")));
        for bad in ["", "8", "8/", "/ab", "-1/ab", "8/a/b", "x/ab"] {
            assert_eq!(bad.parse::<Revision>(), Err(NotARevision), "{bad}");
        }
    }

    fn any_record() -> impl Strategy<Value = Option<Revision>> {
        proptest::option::of((0_u64..20, "[ab]").prop_map(|(number, digest)| revision(number, &digest)))
    }

    proptest! {
        #[test]
        fn a_number_never_names_two_contents(
            owner in any_record(), deployment in any_record(), backend in proptest::option::of(0_u64..20),
            digest in "[ab]", version in 0_u64..20,
        ) {
            let records = records(owner, deployment, backend);
            let all: Vec<_> = records.owner.iter().chain(&records.deployment).collect();
            match decide(&records, &digest, version) {
                Decision::Keep(kept) => {
                    prop_assert!(all.iter().all(|r| r.number < kept.number || r.digest == kept.digest));
                    prop_assert!(records.backend.is_none_or(|number| number <= kept.number));
                    prop_assert!(all.iter().any(|r| **r == kept));
                }
                Decision::Mint(new) => {
                    prop_assert!(all.iter().all(|r| r.number < new.number));
                    prop_assert!(records.backend.is_none_or(|number| number < new.number));
                    prop_assert!(version < new.number);
                }
            }
        }

        #[test]
        fn deciding_again_after_a_mint_keeps_it(
            owner in any_record(), deployment in any_record(), backend in proptest::option::of(0_u64..20),
            digest in "[ab]", version in 0_u64..20, later in 20_u64..40,
        ) {
            let mut records = records(owner, deployment, backend);
            let first = decide(&records, &digest, version).revision().clone();
            records.owner = Some(first.clone());
            prop_assert_eq!(decide(&records, &digest, later), Decision::Keep(first));
        }

        #[test]
        fn text_round_trips(number: u64, digest in "[0-9a-f]{64}") {
            let revision = revision(number, &digest);
            prop_assert_eq!(revision.to_string().parse(), Ok(revision));
        }
    }
}
