//! Answers that the proxy gives itself.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use thv_mcp::{Cause, Error, Id, codes};

use super::reply::Reply;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Seconds after which it may work again.
const RETRY: HeaderValue = HeaderValue::from_static("5");

/// Why a request is not answered by the backend.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: Error,
    allow: Option<&'static str>,
    /// Whether the connection is of no more use: the request on it was not read to its end.
    close: bool,
}

impl Refusal {
    pub(super) const fn new(status: StatusCode, error: Error) -> Self {
        Self { status, error, allow: None, close: false }
    }

    /// The request is not one that is welcome here.
    pub(super) fn invalid(status: StatusCode, message: &'static str) -> Self {
        Self::new(status, Error::new(codes::INVALID_REQUEST, message))
    }

    /// Only these methods are.
    pub(super) fn method(allow: &'static str) -> Self {
        let refusal = Self::invalid(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
        Self { allow: Some(allow), ..refusal }
    }

    /// There is no such session, or it is somebody else's: nobody learns which.
    pub(super) fn no_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, Error::session_not_found())
    }

    pub(super) fn unreachable() -> Self {
        Self::new(StatusCode::BAD_GATEWAY, Error::internal(Cause::BackendUnreachable))
    }

    pub(super) fn lost() -> Self {
        Self::new(StatusCode::BAD_GATEWAY, Error::internal(Cause::BackendLost))
    }

    pub(super) fn store() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, Error::internal(Cause::SessionStoreUnavailable))
    }

    /// The store has a session of that name already.
    pub(super) fn taken() -> Self {
        Self::new(StatusCode::BAD_GATEWAY, Error::internal(Cause::SessionStoreUnavailable))
    }

    pub(super) fn overloaded() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, Error::internal(Cause::Overloaded)).closing()
    }

    pub(super) fn bug() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Error::new(codes::INTERNAL, "Internal error"))
    }

    /// The rest of the request is not worth waiting for.
    pub(super) fn closing(self) -> Self {
        Self { close: true, ..self }
    }

    pub(super) fn answer(self, id: Option<&Id>) -> Response<Reply> {
        let Self { status, error, allow, close } = self;
        let mut response = whole(status, JSON, error.body(id));
        let headers = response.headers_mut();
        if let Some(allow) = allow {
            headers.insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, RETRY);
        }
        if close {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// An answer that is there as a whole.
pub(super) fn whole(status: StatusCode, media: HeaderValue, body: impl Into<Bytes>) -> Response<Reply> {
    let mut response = Response::new(Reply::whole(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, media);
    response
}
