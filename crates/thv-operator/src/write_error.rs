//! Why a write did not go through.

use thv_plan::Controller;

/// A write that did not go through.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum WriteError {
    /// What we had read was out of date. Reading again and planning again is all there is to do.
    #[error("{what} has changed since it was read")]
    Conflict {
        /// What was to be written.
        what: String,
    },
    /// An object of this name exists and belongs to somebody else.
    #[error("{what} exists and belongs to {}: remove or rename one of the two", named(by.as_deref()))]
    Taken {
        /// What was to be written.
        what: String,
        /// Who controls it, if anybody does.
        by: Option<Box<Controller>>,
    },
    /// The namespace is being deleted, and nothing can be created in it any more.
    #[error("the namespace of {what} is being deleted")]
    Terminating {
        /// What was to be written.
        what: String,
    },
    /// The API server does not accept it, and will not until somebody changes something.
    #[error("the API server refuses {what}: {message}")]
    Refused {
        /// What was to be written.
        what: String,
        /// The words of the API server.
        message: String,
        /// The status code of its answer.
        code: u16,
    },
    /// The API server could not be reached, or failed.
    #[error("cannot write {what}: {source}")]
    Api {
        /// What was to be written.
        what: String,
        /// What the API server said.
        source: Box<kube::Error>,
    },
}

impl WriteError {
    /// What the answer of the API server means.
    pub(crate) fn of(what: String, error: kube::Error) -> Self {
        let kube::Error::Api(status) = &error else { return Self::Api { what, source: Box::new(error) } };
        let causes = status.details.iter().flat_map(|details| &details.causes);
        if causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating") {
            return Self::Terminating { what };
        }
        match status.code {
            409 => Self::Conflict { what },
            // Not signed in, not there, too slow, too many: nothing is wrong with what was sent.
            401 | 404 | 408 | 429 => Self::Api { what, source: Box::new(error) },
            code @ 400..500 => Self::Refused { what, message: status.message.clone(), code },
            _ => Self::Api { what, source: Box::new(error) },
        }
    }
}

fn named(controller: Option<&Controller>) -> String {
    controller.map_or_else(|| "somebody else".to_owned(), ToString::to_string)
}

/// Whether the object that a request was about is not there.
pub(crate) fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// Whether the API server says of the very object with this name that it is not there. One that does not serve the kind,
/// because it has just started or has not heard of a version yet, answers 404 as well, and names none.
pub(crate) fn is_gone(error: &kube::Error, name: &str) -> bool {
    let kube::Error::Api(status) = error else { return false };
    status.code == 404 && status.details.as_ref().is_some_and(|details| details.name == name)
}
