//! Conditions: what the status of an object says of it.
//!
//! Every type of condition is an enum of its reasons, so a reason cannot end up under a type that it does not
//! belong to. The enums are in one module per kind; those that several kinds have in common are defined once.

pub mod common;
pub mod config;
pub mod embedding_server;
pub mod mcp_group;
pub mod mcp_registry;
pub mod mcp_remote_proxy;
pub mod mcp_server;
pub mod mcp_server_entry;
pub mod virtual_mcp_composite_tool_definition;
pub mod virtual_mcp_server;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It does.
    True,
    /// It does not.
    False,
    /// Nobody can tell.
    Unknown,
}

impl Status {
    /// The spelling in conditions.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// Whether it is good news that a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polarity {
    /// It is: somebody should do something when it does not hold.
    Good,
    /// It is not: somebody should do something when it holds.
    Bad,
    /// It is neither, and no news either: a fact to look up.
    Neutral,
}

impl Polarity {
    /// Whether a condition of this polarity, as it is, is one that somebody should do something about.
    pub fn is_bad(self, condition: &Condition) -> bool {
        match self {
            Self::Good => condition.status != Status::True.as_str(),
            Self::Bad => condition.status == Status::True.as_str(),
            Self::Neutral => false,
        }
    }
}

/// A reason, which knows the condition that it is a reason of.
pub trait Reason: Copy {
    /// The type of the condition.
    const TYPE: &'static str;
    /// Whether it is good news that the condition holds.
    const POLARITY: Polarity;

    /// The spelling in conditions.
    fn as_str(self) -> &'static str;

    /// The status of a condition with this reason.
    fn status(self) -> Status;
}

/// Reasons of conditions of which an object may have several: the type ends with what each is about.
pub trait ReasonAbout: Reason {}

/// Longest message that the API server takes, in characters.
const MAX_MESSAGE: usize = 32_768;

/// What conditions are made from: the generation that was looked at, the time, and the conditions that are
/// there.
///
/// ```
/// use k8s_openapi::jiff::Timestamp;
/// use thv_api::conditions::{Observation, mcp_server::Ready};
///
/// let now: Timestamp = "2026-11-15T10:00:00Z".parse()?;
/// let ready = Observation::new(3, now, &[]).condition(Ready::NotReady, "no pod is ready");
/// assert_eq!((ready.type_.as_str(), ready.status.as_str()), ("Ready", "False"));
///
/// // An hour later nothing has changed but the generation, so the time stays.
/// let later: Timestamp = "2026-11-15T11:00:00Z".parse()?;
/// let again = Observation::new(4, later, &[ready]).condition(Ready::NotReady, "no pod is ready");
/// assert_eq!(again.last_transition_time.0, now);
/// assert_eq!(again.observed_generation, Some(4));
/// # Ok::<(), k8s_openapi::jiff::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    generation: i64,
    now: Timestamp,
    live: &'a [Condition],
}

impl<'a> Observation<'a> {
    /// The generation of the object that was looked at, the time, and the conditions that the object has.
    pub const fn new(generation: i64, now: Timestamp, live: &'a [Condition]) -> Self {
        Self { generation, now, live }
    }

    /// The generation that was looked at.
    pub const fn generation(&self) -> i64 {
        self.generation
    }

    /// A condition with the status that its reason implies.
    pub fn condition<R: Reason>(&self, reason: R, message: impl Into<String>) -> Condition {
        self.build(R::TYPE.to_owned(), reason, reason.status(), message.into())
    }

    /// A condition of which nobody can tell whether it holds, because something could not be read.
    pub fn unknown<R: Reason>(&self, reason: R, message: impl Into<String>) -> Condition {
        self.build(R::TYPE.to_owned(), reason, Status::Unknown, message.into())
    }

    /// A condition about one of several things, such as one backend.
    pub fn about<R: ReasonAbout>(&self, subject: &str, reason: R, message: impl Into<String>) -> Condition {
        self.build(format!("{}-{subject}", R::TYPE), reason, reason.status(), message.into())
    }

    fn build<R: Reason>(&self, type_: String, reason: R, status: Status, message: String) -> Condition {
        let since = find(self.live, &type_)
            .filter(|live| live.status == status.as_str())
            .map_or_else(|| Time(self.now), |live| live.last_transition_time.clone());
        Condition {
            type_,
            status: status.as_str().to_owned(),
            reason: reason.as_str().to_owned(),
            message: message.chars().take(MAX_MESSAGE).collect(),
            observed_generation: Some(self.generation),
            last_transition_time: since,
        }
    }
}

/// The condition of a type, if there is one.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Puts a condition in the place of the one of its type.
pub fn set(conditions: &mut Vec<Condition>, condition: Condition) {
    conditions.retain(|other| other.type_ != condition.type_);
    conditions.push(condition);
}

/// Whether the condition of a type is there and holds.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| condition.status == Status::True.as_str())
}

/// Whether the condition of a type is there and does not hold.
pub fn is_false(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| condition.status == Status::False.as_str())
}

/// Declares a type of condition by its reasons, each with the status that it goes with: `Ready = Good "Ready" { … }` is
/// good news when it holds.
macro_rules! condition {
    (
        $(#[$doc:meta])+
        $name:ident = $polarity:ident $type:literal {
            $( $(#[$meaning:meta])+ $status:ident $variant:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$meaning])+ $variant, )+
        }

        impl $name {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$( Self::$variant ),+];
        }

        impl $crate::conditions::Reason for $name {
            const TYPE: &'static str = $type;
            const POLARITY: $crate::conditions::Polarity = $crate::conditions::Polarity::$polarity;

            fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )+
                }
            }

            fn status(self) -> $crate::conditions::Status {
                match self {
                    $( Self::$variant => $crate::conditions::Status::$status, )+
                }
            }
        }
    };
}
use condition;

/// Declares `polarity`, which knows the conditions of one kind by their types.
macro_rules! polarities {
    ($($name:ident),+ $(,)?) => {
        /// Whether a condition of this type is good news when it holds. What the kind does not have is taken for good.
        pub fn polarity(type_: &str) -> $crate::conditions::Polarity {
            use $crate::conditions::Reason as _;
            $( if type_ == $name::TYPE { return $name::POLARITY; } )+
            $crate::conditions::Polarity::Good
        }
    };
}
use polarities;

#[cfg(test)]
mod tests;
