//! What conditions say about references, whichever kind refers.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use thv_api::conditions::common::{
    AuthServerRefValidated, AuthzConfigRefValidated, OIDCConfigRefValidated, TelemetryConfigRefValidated,
};
use thv_api::conditions::{Observation, Reason};

use crate::resolve::{Cause, Outcome, Unusable};

/// What there is to say about a reference. Some conditions are only there when something is wrong.
pub(crate) fn tell<T, R: Reason>(
    outcome: &Outcome<T>,
    what: &str,
    valid: Option<R>,
    reason: impl Fn(Cause) -> R,
    observe: &Observation<'_>,
) -> Option<Condition> {
    match outcome {
        Outcome::NotReferenced => None,
        Outcome::Usable(_) => Some(observe.condition(valid?, format!("{what} can be used"))),
        Outcome::Unusable(Unusable { cause, invalid }) => {
            Some(observe.condition(reason(*cause), &invalid.message))
        }
    }
}

/// The reasons of a condition that only tells whether something is there from what else is wrong with it.
pub(crate) fn absent_or<R: Reason>(absent: R, otherwise: R) -> impl Fn(Cause) -> R {
    move |cause| if cause == Cause::Absent { absent } else { otherwise }
}

/// What there is to say about the identity provider.
pub(crate) fn identity_provider<T>(outcome: &Outcome<T>, observe: &Observation<'_>) -> Option<Condition> {
    use OIDCConfigRefValidated::{NotFound, NotValid, Valid};
    tell(outcome, "the identity provider", Some(Valid), absent_or(NotFound, NotValid), observe)
}

/// What there is to say about authorization rules that objects share.
pub(crate) fn shared_rules<T>(outcome: &Outcome<T>, observe: &Observation<'_>) -> Option<Condition> {
    use AuthzConfigRefValidated::{NotFound, NotValid, Valid};
    tell(outcome, "the authorization rules", Some(Valid), absent_or(NotFound, NotValid), observe)
}

/// What there is to say about telemetry settings.
pub(crate) fn telemetry<T>(outcome: &Outcome<T>, observe: &Observation<'_>) -> Option<Condition> {
    use TelemetryConfigRefValidated::{Invalid, NotFound, Valid};
    tell(outcome, "the telemetry settings", Some(Valid), absent_or(NotFound, Invalid), observe)
}

/// Why an authorization server cannot be used.
pub(crate) const fn auth_server_reason(cause: Cause) -> AuthServerRefValidated {
    match cause {
        Cause::Absent => AuthServerRefValidated::NotFound,
        Cause::WrongType => AuthServerRefValidated::InvalidType,
        Cause::SeveralUpstreams => AuthServerRefValidated::MultiUpstreamNotSupported,
        Cause::Incomplete | Cause::Invalid | Cause::Unfit | Cause::Unsupported => {
            AuthServerRefValidated::InvalidConfig
        }
    }
}
