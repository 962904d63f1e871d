//! Messages, and what they are about.

use crate::envelope::Flaw;
use crate::members::text;
use crate::meta::Meta;
use crate::method::Method;
use crate::resource::Resource;
use crate::text::Text;

/// A message of one side to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Something that will be answered.
    Request(Call),
    /// Something that will not.
    Notification(Call),
    /// An answer to the request with this id.
    Response(Id),
}

/// A request or a notification. What it copied from the body is together never longer than the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// By which the answer will refer to it. Notifications have none.
    pub id: Option<Id>,
    /// What is asked for or told.
    pub method: Method,
    /// What it is about.
    pub resource: Resource,
    /// What it says about itself.
    pub meta: Meta,
    /// Whether the answer is wanted as a task, which outlives the request.
    pub as_task: bool,
}

/// The id of a request exactly as it was sent: a JSON string or a JSON integer of any length.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id(Text);

impl Message {
    /// The request or notification.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Request(call) | Self::Notification(call) => Some(call),
            Self::Response(_) => None,
        }
    }

    /// The id to answer with: that of a request, and of nothing else.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Request(call) => call.id.as_ref(),
            Self::Notification(_) | Self::Response(_) => None,
        }
    }
}

impl Call {
    /// Whether the server holds something for this session afterwards that initialising anew does not bring
    /// back: a subscription or a task.
    pub fn leaves_state(&self) -> bool {
        self.as_task || self.method == Method::ResourcesSubscribe || self.method.is_about_a_task()
    }

    /// What `Mcp-Name` has to repeat: the name, the URI or the id of a task in the body.
    pub(crate) fn name(&self) -> Option<&str> {
        match (&self.method, &self.resource) {
            (
                Method::ToolsCall
                | Method::PromptsGet
                | Method::ResourcesRead
                | Method::ResourcesSubscribe
                | Method::ResourcesUnsubscribe,
                Resource::Name(name),
            )
            | (Method::TasksGet | Method::TasksUpdate | Method::TasksCancel, Resource::Passing(name)) => {
                Some(name)
            }
            _ => None,
        }
    }
}

impl Id {
    /// The JSON of it.
    pub fn raw(&self) -> &str {
        &self.0
    }

    pub(crate) fn of(json: &str) -> Result<Self, Flaw> {
        let digits = json.strip_prefix('-').unwrap_or(json);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_integer || text(json)?.is_some() { Ok(Self(Text::from(json))) } else { Err(Flaw::Id) }
    }
}
