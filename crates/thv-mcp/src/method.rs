//! The methods of MCP.

use std::fmt;

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What is asked for or told.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $($(#[$doc])* #[doc = concat!("`", $text, "`")] $name,)*
            /// Any other: an extension, or a newer revision than this code.
            Other(Box<str>),
        }

        impl Method {
            /// Every method that has a name of its own here.
            pub const KNOWN: &[Self] = &[$(Self::$name),*];

            /// As it stands in messages.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<&str> for Method {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$name,)*
                    _ => Self::Other(text.into()),
                }
            }
        }
    };
}

methods! {
    Initialize = "initialize",
    Ping = "ping",
    ToolsCall = "tools/call",
    ToolsList = "tools/list",
    PromptsGet = "prompts/get",
    PromptsList = "prompts/list",
    ResourcesRead = "resources/read",
    ResourcesList = "resources/list",
    ResourcesTemplatesList = "resources/templates/list",
    ResourcesSubscribe = "resources/subscribe",
    ResourcesUnsubscribe = "resources/unsubscribe",
    RootsList = "roots/list",
    LoggingSetLevel = "logging/setLevel",
    CompletionComplete = "completion/complete",
    ElicitationCreate = "elicitation/create",
    SamplingCreateMessage = "sampling/createMessage",
    ServerDiscover = "server/discover",
    SubscriptionsListen = "subscriptions/listen",
    TasksGet = "tasks/get",
    TasksUpdate = "tasks/update",
    TasksCancel = "tasks/cancel",
    TasksResult = "tasks/result",
    TasksList = "tasks/list",
    Initialized = "notifications/initialized",
    Cancelled = "notifications/cancelled",
    Progress = "notifications/progress",
    LogMessage = "notifications/message",
    RootsListChanged = "notifications/roots/list_changed",
    ToolsListChanged = "notifications/tools/list_changed",
    PromptsListChanged = "notifications/prompts/list_changed",
    ResourcesListChanged = "notifications/resources/list_changed",
    ResourcesUpdated = "notifications/resources/updated",
    ElicitationCompleted = "notifications/elicitation/complete",
    TaskStatus = "notifications/tasks/status",
    TaskChanged = "notifications/tasks",
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged",
}

impl Method {
    /// Whether doing it twice does no more than doing it once, so that it may be sent again when nobody knows
    /// whether the first one arrived.
    pub fn repeatable(&self) -> bool {
        matches!(
            self,
            Self::Ping
                | Self::ToolsList
                | Self::PromptsGet
                | Self::PromptsList
                | Self::ResourcesRead
                | Self::ResourcesList
                | Self::ResourcesTemplatesList
                | Self::RootsList
                | Self::TasksList
                | Self::CompletionComplete
        )
    }

    /// Whether it is about a task, which lives in the server and so dies with it.
    pub(crate) fn is_about_a_task(&self) -> bool {
        matches!(self, Self::TasksGet | Self::TasksUpdate | Self::TasksCancel | Self::TasksResult)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_method_reads_as_it_is_written() {
        for method in Method::KNOWN {
            assert_eq!(&Method::from(method.as_str()), method);
        }
        assert_eq!(Method::from("tools/Call"), Method::Other("tools/Call".into()));
    }

    #[test]
    fn only_what_changes_nothing_may_be_repeated() {
        let repeatable: Vec<_> = Method::KNOWN.iter().filter(|method| method.repeatable()).collect();
        assert!(repeatable.iter().all(|method| method.as_str().ends_with("list")
            || ["ping", "prompts/get", "resources/read", "completion/complete"].contains(&method.as_str())));
        assert_eq!(repeatable.len(), 10);
        assert!(!Method::Other("x/list".into()).repeatable());
    }
}
