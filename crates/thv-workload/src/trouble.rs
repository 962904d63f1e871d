//! What can happen to a request, as far as it matters what to do next.

/// A request that did not go through.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Trouble {
    /// What was read is out of date: read again, decide again.
    #[error("it has changed since it was read")]
    Conflict,
    /// It is not there.
    #[error("it is not there")]
    Missing,
    /// The namespace is on its way out. Nothing can be made in it, and nothing needs to be.
    #[error("the namespace is being deleted")]
    Ending,
    /// The API server does not want it. Trying again helps only if somebody changes something.
    #[error("the API server refuses it: {0}")]
    Refused(String),
    /// The API server cannot be reached, or is busy.
    #[error("the API server does not answer: {0}")]
    Unreachable(String),
}

impl From<kube::Error> for Trouble {
    fn from(error: kube::Error) -> Self {
        let kube::Error::Api(status) = error else { return Self::Unreachable(error.to_string()) };
        let causes = || status.details.iter().flat_map(|details| &details.causes);
        match status.code {
            404 => Self::Missing,
            409 => Self::Conflict,
            403 if causes().any(|cause| cause.reason == "NamespaceTerminating") => Self::Ending,
            408 | 429 | 500..=599 => Self::Unreachable(format!("{} {}", status.code, status.reason)),
            // Messages about values quote them, and values are not for everybody's eyes.
            422 => {
                let fields: Vec<_> =
                    causes().map(|cause| format!("{}: {}", cause.field, cause.reason)).collect();
                Self::Refused(format!("{} {}", status.reason, fields.join(", ")))
            }
            _ => Self::Refused(status.message.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use kube::core::response::{StatusCause, StatusDetails};

    use super::*;

    fn trouble(code: u16, reason: &str, cause: Option<(&str, &str)>) -> Trouble {
        let causes = cause.map(|(reason, field)| StatusCause {
            reason: reason.to_owned(),
            message: "hush".to_owned(),
            field: field.to_owned(),
        });
        let details = StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: causes.into_iter().collect(),
            retry_after_seconds: 0,
        };
        let status = Status::failure("hush", reason).with_code(code).with_details(details);
        kube::Error::Api(status.boxed()).into()
    }

    #[test]
    fn what_to_do_next_follows_from_the_answer() {
        assert_eq!(trouble(404, "NotFound", None), Trouble::Missing);
        assert_eq!(trouble(409, "Conflict", None), Trouble::Conflict);
        assert_eq!(trouble(403, "Forbidden", Some(("NamespaceTerminating", ""))), Trouble::Ending);
        assert!(matches!(trouble(403, "Forbidden", None), Trouble::Refused(_)));
        assert!(matches!(trouble(503, "ServiceUnavailable", None), Trouble::Unreachable(_)));
    }

    #[test]
    fn values_are_not_quoted() {
        let invalid =
            trouble(422, "Invalid", Some(("FieldValueInvalid", "spec.template.spec.containers[0].env")));
        let text = invalid.to_string();
        assert!(text.contains("containers[0].env: FieldValueInvalid") && !text.contains("hush"), "{text}");
    }
}
