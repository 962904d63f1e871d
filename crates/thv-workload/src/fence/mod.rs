//! Who may write the backend.
//!
//! Any number of proxies can be there: those of the newest revision, old ones on their way out, and old ones whose
//! container has just been restarted and which apply what they know as if they were new. A decision here is about one
//! object, the StatefulSet or a Service, and about what was read of it and of the server that it belongs to. The write
//! that follows carries the version of the object, so that nothing happens if it is out of date by then.

#[cfg(test)]
mod model;
#[cfg(test)]
mod table;

use thv_plan::{Applied, Token};

/// The proxy that decides.
#[derive(Clone, Copy, Debug)]
pub struct Me<'a> {
    /// What it was born with. Without, it is a pod of the Go operator, and follows the rules of the Go proxy.
    pub token: Option<&'a Token>,
    /// The generation of the server that it was made for. Zero and below: it knows none.
    pub generation: i64,
    /// The digest of what it would apply.
    pub digest: &'a str,
}

/// The server that the backend belongs to, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerView {
    /// It was not read, or could not be.
    Unread,
    /// There is none of this name.
    Absent,
    /// There is one of this name.
    Present {
        /// Its uid.
        uid: String,
        /// Whether it is being deleted.
        is_going: bool,
        /// The number of its newest revision.
        revision: Option<u64>,
    },
}

/// An object of the backend, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectView {
    /// It is not there.
    Absent,
    /// It is there.
    Present(Present),
}

/// What counts of an object that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    /// What was applied to it last.
    pub mark: Mark,
    /// The generation on its pod template.
    pub stamp: Stamp,
    /// Whom it belongs to.
    pub belongs: Belonging,
    /// Whether it is being deleted.
    pub is_going: bool,
}

/// What an object says about what was applied last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing: the Go proxy made it.
    Absent,
    /// Something that makes no sense.
    Unreadable,
    /// This.
    Is(Applied),
}

/// What a pod template says about the generation that it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// Nothing.
    Absent,
    /// Something that is no number.
    Unreadable,
    /// This generation.
    Generation(i64),
}

/// Whom an object belongs to, by its controlling owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Belonging {
    /// Nobody, or nobody who matters for this decision.
    Open,
    /// A server of our name with this uid.
    Server(String),
    /// Something else, which is named here.
    Foreign(String),
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The server could not be read: write nothing, and read again later.
    ReadAgain,
    /// Never write again.
    Superseded(Newer),
    /// Make it, if it is still absent by then.
    Create,
    /// It was made for a server that is gone: delete this very object, and look again.
    DeleteAlien,
    /// It is on its way out: look again when it is gone.
    AwaitEnd,
    /// It is ours already. One apply at the start, and when somebody has changed it, puts right what is wrong.
    Settle,
    /// Apply, if it is still the version that was read.
    Update {
        /// Whether what is to be applied is what is there, but for the revision. Then its stamp stays too, so that no
        /// pod is replaced.
        is_same: bool,
    },
    /// Write nothing, and tell somebody.
    Refuse(Refusal),
}

/// What has overtaken a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Newer {
    /// The server is gone, is going, or is another one of the same name.
    #[error("the server that this proxy was made for is gone or going")]
    Owner,
    /// A newer revision has been rendered.
    #[error("a newer revision of the server has been rendered")]
    Revision,
    /// A proxy of a newer revision has been here.
    #[error("a proxy of a newer revision looks after the backend")]
    Proxy,
    /// A proxy of a newer generation has been here.
    #[error("a proxy of a newer generation looks after the backend")]
    Generation,
}

/// Why nothing is written although this proxy is not overtaken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The same revision was applied with another content.
    #[error(
        "it was applied under the same revision with another content: two builds of the proxy run under one image tag; \
         use a tag of its own for each"
    )]
    Tie,
    /// The object belongs to somebody else.
    #[error("it belongs to {0}: remove or rename one of the two")]
    Taken(String),
}

/// Decides about one object.
pub fn decide(me: &Me<'_>, owner: &OwnerView, object: &ObjectView) -> Action {
    match me.token {
        Some(token) => match overtaken(token, owner) {
            Some(action) => action,
            None => with_token(me, token, owner, object),
        },
        None => without_token(me, object),
    }
}

/// What follows from the server alone.
fn overtaken(token: &Token, owner: &OwnerView) -> Option<Action> {
    match owner {
        OwnerView::Unread => Some(Action::ReadAgain),
        OwnerView::Absent => Some(Action::Superseded(Newer::Owner)),
        OwnerView::Present { uid, is_going, revision: _ } => {
            (*uid != token.uid || *is_going).then_some(Action::Superseded(Newer::Owner))
        }
    }
}

/// Whether a proxy that may not write for want of its configuration will never write again. It is overtaken by a newer
/// revision as well, since the configuration that it waits for will not come back.
pub fn is_over(token: &Token, owner: &OwnerView) -> Option<Newer> {
    match overtaken(token, owner) {
        Some(Action::Superseded(newer)) => Some(newer),
        Some(_) => None,
        None => (newest(owner) > token.number).then_some(Newer::Revision),
    }
}

fn newest(owner: &OwnerView) -> u64 {
    match owner {
        OwnerView::Present { revision, .. } => revision.unwrap_or_default(),
        OwnerView::Unread | OwnerView::Absent => 0,
    }
}

/// A proxy of ours, whose server is there.
fn with_token(me: &Me<'_>, token: &Token, owner: &OwnerView, object: &ObjectView) -> Action {
    let present = match object {
        ObjectView::Absent if newest(owner) > token.number => {
            return Action::Superseded(Newer::Revision);
        }
        ObjectView::Absent => return Action::Create,
        ObjectView::Present(present) => present,
    };
    let others = |uid: &str| uid != token.uid;
    match (&present.belongs, &present.mark) {
        (Belonging::Foreign(whose), _) => return Action::Refuse(Refusal::Taken(whose.clone())),
        // Its owner has our name and another uid: that server is gone, and so will be what it owns.
        (Belonging::Server(uid), _) if others(uid) => return alien(present),
        (_, Mark::Is(applied)) if others(&applied.token.uid) => return alien(present),
        (Belonging::Open | Belonging::Server(_), _) => {}
    }
    let action = match &present.mark {
        Mark::Is(applied) => match applied.token.number.cmp(&token.number) {
            std::cmp::Ordering::Greater => return Action::Superseded(Newer::Proxy),
            std::cmp::Ordering::Equal if applied.digest == me.digest => Action::Settle,
            std::cmp::Ordering::Equal => return Action::Refuse(Refusal::Tie),
            std::cmp::Ordering::Less => Action::Update { is_same: applied.digest == me.digest },
        },
        Mark::Absent | Mark::Unreadable => return gated(me, present),
    };
    unless_going(present, action)
}

/// A proxy of the Go operator's making: it does not know which server it belongs to, and one that does goes first.
fn without_token(me: &Me<'_>, object: &ObjectView) -> Action {
    let ObjectView::Present(present) = object else { return Action::Create };
    match (&present.belongs, &present.mark) {
        (Belonging::Foreign(whose), _) => Action::Refuse(Refusal::Taken(whose.clone())),
        (_, Mark::Is(_) | Mark::Unreadable) => Action::Superseded(Newer::Proxy),
        (Belonging::Open | Belonging::Server(_), Mark::Absent) => gated(me, present),
    }
}

/// The gate of the Go proxy: whoever knows a generation gives way to a greater one, and to nothing else.
fn gated(me: &Me<'_>, present: &Present) -> Action {
    match present.stamp {
        Stamp::Generation(theirs) if me.generation > 0 && theirs > me.generation => {
            Action::Superseded(Newer::Generation)
        }
        Stamp::Absent | Stamp::Unreadable | Stamp::Generation(_) => {
            unless_going(present, Action::Update { is_same: false })
        }
    }
}

fn alien(present: &Present) -> Action {
    unless_going(present, Action::DeleteAlien)
}

fn unless_going(present: &Present, action: Action) -> Action {
    if present.is_going { Action::AwaitEnd } else { action }
}
