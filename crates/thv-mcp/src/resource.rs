//! What a call is about.

use std::borrow::Cow;

use crate::envelope::{Flaw, Params, params};
use crate::members::{Members, Unreadable, first, text};
use crate::method::Method;
use crate::text::Text;

/// What a call is about: which tool, which resource, which task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Resource {
    /// Nothing in particular.
    #[default]
    Nothing,
    /// A word that stands for all calls of the method.
    Word(&'static str),
    /// Something with a name: a tool, a prompt, the URI of a resource, a client, a level.
    Name(Text),
    /// What only this conversation knows: a cursor, an id, the beginning of a prompt. As a label of a metric
    /// it would make a series of its own for each call.
    Passing(Text),
}

impl Resource {
    /// Empty when the call is about nothing in particular.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Word(word) => word,
            Self::Name(text) | Self::Passing(text) => text,
        }
    }

    /// What metrics may count by: empty for what comes and goes with the call.
    pub fn label(&self) -> &str {
        match self {
            Self::Nothing | Self::Passing(_) => "",
            Self::Word(word) => word,
            Self::Name(text) => text,
        }
    }

    pub(crate) fn of(method: &Method, found: &Params<'_>) -> Result<Self, Flaw> {
        let name = |index| -> Result<Self, Flaw> { Ok(Self::name(found.text(index)?)) };
        let passing = |index| -> Result<Self, Flaw> { Ok(Self::passing(found.text(index)?)) };
        Ok(match method {
            Method::Initialize => Self::name(member(found.json(params::CLIENT_INFO), &["name"])?),
            Method::ToolsCall | Method::PromptsGet => name(params::NAME)?,
            Method::ResourcesRead | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
                name(params::URI)?
            }
            Method::ToolsList
            | Method::PromptsList
            | Method::ResourcesList
            | Method::ResourcesTemplatesList
            | Method::RootsList
            | Method::TasksList => match passing(params::CURSOR)? {
                Self::Passing(cursor) if !cursor.is_empty() => Self::Passing(cursor),
                _ => Self::Nothing,
            },
            Method::LoggingSetLevel => name(params::LEVEL)?,
            Method::CompletionComplete => completed(found.json(params::REF))?,
            Method::ElicitationCreate => passing(params::MESSAGE)?,
            Method::SamplingCreateMessage => sampled(found)?,
            Method::TasksGet
            | Method::TasksUpdate
            | Method::TasksCancel
            | Method::TasksResult
            | Method::TaskStatus => passing(params::TASK_ID)?,
            Method::Progress => Self::passing(id(found.json(params::PROGRESS_TOKEN))?),
            Method::Cancelled => Self::passing(id(found.json(params::REQUEST_ID))?),
            Method::ElicitationCompleted => passing(params::ELICITATION_ID)?,
            Method::LogMessage => name(params::METHOD)?,
            Method::Ping => Self::Word("ping"),
            Method::Initialized => Self::Word("initialized"),
            Method::RootsListChanged => Self::Word("roots"),
            Method::PromptsListChanged => Self::Word("prompts"),
            Method::ResourcesListChanged | Method::ResourcesUpdated => Self::Word("resources"),
            Method::ToolsListChanged => Self::Word("tools"),
            Method::ServerDiscover => Self::Word("discover"),
            Method::SubscriptionsListen
            | Method::SubscriptionsAcknowledged
            | Method::TaskChanged
            | Method::Other(_) => Self::Nothing,
        })
    }

    fn name(text: Option<Cow<'_, str>>) -> Self {
        text.map_or(Self::Nothing, |text| Self::Name(Text::from(&*text)))
    }

    fn passing(text: Option<Cow<'_, str>>) -> Self {
        text.map_or(Self::Nothing, |text| Self::Passing(Text::from(&*text)))
    }
}

/// What is being completed: a prompt by name, a resource by URI, or whatever stands there as a text.
fn completed(json: Option<&str>) -> Result<Resource, Flaw> {
    let text_of = match member(json, &["name"])? {
        Some(name) => Some(name),
        None => match member(json, &["uri"])? {
            Some(uri) => Some(uri),
            None => json.map_or(Ok(None), text)?,
        },
    };
    Ok(Resource::name(text_of))
}

/// Which model is wanted, or else how the prompt begins.
fn sampled(found: &Params<'_>) -> Result<Resource, Flaw> {
    const BEGINNING: usize = 50;
    let preferences = found.json(params::MODEL_PREFERENCES);
    if let Some(name) = member(preferences, &["name"])? {
        return Ok(Resource::name(Some(name)));
    }
    let hints = preferences.map_or(Ok(Members::NONE), |json| Members::of(json, &["hints"]))?;
    if hints.is_unclear(1) {
        return Err(Flaw::Params);
    }
    if let Some(name) = member(hints.json(0).and_then(first), &["name"])? {
        return Ok(Resource::name(Some(name)));
    }
    let prompt = found.text(params::SYSTEM_PROMPT)?.unwrap_or_default();
    let end = (0..=BEGINNING.min(prompt.len())).rev().find(|end| prompt.is_char_boundary(*end)).unwrap_or(0);
    Ok(match prompt.get(..end) {
        None | Some("") => Resource::Nothing,
        Some(beginning) => Resource::Passing(Text::from(beginning)),
    })
}

/// The text that the only member of interest of an object is.
fn member<'a>(json: Option<&'a str>, name: &'static [&'static str; 1]) -> Result<Option<Cow<'a, str>>, Flaw> {
    let Some(json) = json else { return Ok(None) };
    let members = Members::of(json, name)?;
    if members.is_unclear(1) {
        return Err(Flaw::Params);
    }
    Ok(members.text(0)?)
}

/// An id is a text or a number; a number stands for itself.
fn id(json: Option<&str>) -> Result<Option<Cow<'_, str>>, Unreadable> {
    match json {
        Some(number) if number.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            Ok(Some(Cow::Borrowed(number)))
        }
        Some(json) => text(json),
        None => Ok(None),
    }
}
