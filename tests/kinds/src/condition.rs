//! The conditions of both kinds.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::{Observation, Polarity, Reason, Status};
use thv_plan::Failure;

/// Whether an object is as it should be.
#[derive(Clone, Copy)]
pub(crate) enum Ready {
    AsWanted,
    ServerNotFound,
    Failed,
    Deleting,
}

impl Reason for Ready {
    const TYPE: &'static str = "Ready";
    const POLARITY: Polarity = Polarity::Good;

    fn as_str(self) -> &'static str {
        match self {
            Self::AsWanted => "AsWanted",
            Self::ServerNotFound => "ServerNotFound",
            Self::Failed => "Failed",
            Self::Deleting => "Deleting",
        }
    }

    fn status(self) -> Status {
        match self {
            Self::AsWanted => Status::True,
            Self::ServerNotFound | Self::Failed | Self::Deleting => Status::False,
        }
    }
}

/// Whether a text is longer than anybody reads.
#[derive(Clone, Copy)]
pub(crate) enum TextTooLong {
    TooLong,
    Fits,
}

impl Reason for TextTooLong {
    const TYPE: &'static str = "TextTooLong";
    const POLARITY: Polarity = Polarity::Bad;

    fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "TooLong",
            Self::Fits => "Fits",
        }
    }

    fn status(self) -> Status {
        match self {
            Self::TooLong => Status::True,
            Self::Fits => Status::False,
        }
    }
}

/// Whether somebody keeps an object from being deleted. There only when somebody does.
#[derive(Clone, Copy)]
pub(crate) enum DeletionBlocked {
    Referenced,
}

impl Reason for DeletionBlocked {
    const TYPE: &'static str = "DeletionBlocked";
    const POLARITY: Polarity = Polarity::Bad;

    fn as_str(self) -> &'static str {
        match self {
            Self::Referenced => "Referenced",
        }
    }

    fn status(self) -> Status {
        match self {
            Self::Referenced => Status::True,
        }
    }
}

/// Whether a condition of either kind is good news when it holds.
pub(crate) fn polarity(type_: &str) -> Polarity {
    match type_ {
        TextTooLong::TYPE => TextTooLong::POLARITY,
        DeletionBlocked::TYPE => DeletionBlocked::POLARITY,
        _ => Ready::POLARITY,
    }
}

/// What is said of an object when a pass over it fails.
pub(crate) fn failed(observation: &Observation<'_>, failure: &Failure) -> Condition {
    match failure {
        Failure::Unknown(message) => observation.unknown(Ready::Failed, message),
        Failure::Refused(message) | Failure::Malformed(message) => {
            observation.condition(Ready::Failed, message)
        }
    }
}
