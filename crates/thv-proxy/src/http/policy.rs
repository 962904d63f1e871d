//! What was asked, by whom, and whether it may be done.

use bytes::Bytes;
use http::{StatusCode, request};
use thv_mcp::{Era, Message, check_headers};

use super::identity::Identity;
use super::refusal::Refusal;

/// A request, understood.
pub(super) struct Asked {
    pub head: Box<request::Parts>,
    /// As it came. What is decided upon is `message`, which was read from it, and what is sent on is this.
    pub body: Bytes,
    /// Of a POST.
    pub message: Option<Message>,
    pub era: Era,
}

/// A request that may be sent on. Nothing else is: only [`admit`] makes one.
pub(super) struct Permit {
    pub head: Box<request::Parts>,
    pub body: Bytes,
    pub message: Option<Message>,
    pub era: Era,
    pub who: Identity,
    _seal: Seal,
}

struct Seal;

/// A request that may not be sent on, as far as it was understood.
pub(super) struct Denied {
    pub refusal: Refusal,
    pub message: Option<Message>,
}

impl From<Refusal> for Box<Denied> {
    fn from(refusal: Refusal) -> Self {
        Self::new(Denied { refusal, message: None })
    }
}

/// Decides.
pub(super) fn admit(asked: Asked, who: Identity) -> Result<Permit, Box<Denied>> {
    let Asked { head, body, message, era } = asked;
    if let Err(mismatch) = check_headers(message.as_ref(), era, &head.headers) {
        return Err(Box::new(Denied {
            refusal: Refusal::new(StatusCode::BAD_REQUEST, mismatch.error()),
            message,
        }));
    }
    Ok(Permit { head, body, message, era, who, _seal: Seal })
}
