//! The generation that a pod was made for.

use thv_api::names::env;

/// Where the generation that counts came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The file: the environment says nothing.
    File,
    /// The environment, which was fixed at the pod's birth.
    Birth,
    /// The file, since what the environment says cannot be a generation.
    FileDespite(Flaw),
}

/// Why what the environment says does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// It is no number.
    #[error("is no whole number")]
    NotANumber,
    /// It is a number that no object has.
    #[error("is negative")]
    Negative,
}

/// Which generation counts: that of the pod's birth, else that of the file.
///
/// The file is refreshed under a running pod, so that of an old pod may speak of a newer generation than its image,
/// which is fixed. Zero is taken as it is and means that no generation is compared or stamped.
pub fn effective(birth: Option<&str>, file: i64) -> (i64, Source) {
    let Some(text) = birth.filter(|text| !text.is_empty()) else { return (file, Source::File) };
    match text.parse::<i64>() {
        Err(_) => (file, Source::FileDespite(Flaw::NotANumber)),
        Ok(number) if number < 0 => (file, Source::FileDespite(Flaw::Negative)),
        Ok(number) => (number, Source::Birth),
    }
}

/// [`effective`], and says so in the log.
pub fn settle(birth: Option<&str>, file: i64) -> i64 {
    let (generation, source) = effective(birth, file);
    match source {
        Source::File => {}
        Source::Birth => {
            tracing::debug!(environment = generation, file, "generation taken from the environment");
        }
        Source::FileDespite(flaw) => tracing::warn!(
            file,
            "{} {flaw}, so the generation of the configuration file counts: a pod gets it by the downward API",
            env::MCP_SERVER_GENERATION
        ),
    }
    generation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_07_the_generation_of_the_birth_counts_when_it_is_one() {
        assert_eq!(effective(None, 5), (5, Source::File));
        assert_eq!(effective(Some(""), 5), (5, Source::File));
        assert_eq!(effective(Some("3"), 5), (3, Source::Birth));
        assert_eq!(effective(Some("0"), 5), (0, Source::Birth));
        assert_eq!(effective(Some("not-a-number"), 5), (5, Source::FileDespite(Flaw::NotANumber)));
        assert_eq!(effective(Some("-1"), 5), (5, Source::FileDespite(Flaw::Negative)));
        assert_eq!(effective(Some("9223372036854775808"), 5), (5, Source::FileDespite(Flaw::NotANumber)));
    }
}
