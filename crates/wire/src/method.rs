//! Names of the MCP methods, of all versions.

use std::borrow::Cow;

macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $text;)*

        /// Every method named here.
        pub const ALL: &[&str] = &[$($name),*];

        /// The name without an allocation where it is one of [`ALL`].
        pub(crate) fn intern(name: Cow<'_, str>) -> Cow<'static, str> {
            match &*name {
                $($text => Cow::Borrowed($name),)*
                _ => Cow::Owned(name.into_owned()),
            }
        }
    };
}

/// Whether the protocol itself has methods that begin with the same word: `tools/anything` is not for others to define.
pub fn is_reserved(method: &str) -> bool {
    let first = |method: &str| method.split('/').next().unwrap_or_default().to_owned();
    let word = first(method);
    ALL.iter().any(|known| first(known) == word)
}

methods! {
    /// Opens a legacy session.
    INITIALIZE = "initialize";
    /// Asks whether the peer is alive (legacy).
    PING = "ping";
    /// Asks what a server can do (modern).
    DISCOVER = "server/discover";
    /// Lists tools.
    TOOLS_LIST = "tools/list";
    /// Calls a tool.
    TOOLS_CALL = "tools/call";
    /// Lists resources.
    RESOURCES_LIST = "resources/list";
    /// Lists resource templates.
    RESOURCES_TEMPLATES_LIST = "resources/templates/list";
    /// Reads a resource.
    RESOURCES_READ = "resources/read";
    /// Subscribes to a resource (legacy).
    RESOURCES_SUBSCRIBE = "resources/subscribe";
    /// Ends a subscription to a resource (legacy).
    RESOURCES_UNSUBSCRIBE = "resources/unsubscribe";
    /// Lists prompts.
    PROMPTS_LIST = "prompts/list";
    /// Gets a prompt.
    PROMPTS_GET = "prompts/get";
    /// Completes an argument.
    COMPLETION_COMPLETE = "completion/complete";
    /// Sets the level of log messages (legacy).
    LOGGING_SET_LEVEL = "logging/setLevel";
    /// Opens a stream of notifications (modern).
    SUBSCRIPTIONS_LISTEN = "subscriptions/listen";
    /// Asks for the state of a task.
    TASKS_GET = "tasks/get";
    /// Lists tasks (2025-11-25).
    TASKS_LIST = "tasks/list";
    /// Waits for the result of a task (2025-11-25).
    TASKS_RESULT = "tasks/result";
    /// Gives a task the input it waits for (modern).
    TASKS_UPDATE = "tasks/update";
    /// Cancels a task.
    TASKS_CANCEL = "tasks/cancel";
    /// Asks the client's user.
    ELICITATION_CREATE = "elicitation/create";
    /// Asks the client's model.
    SAMPLING_CREATE_MESSAGE = "sampling/createMessage";
    /// Asks for the client's roots.
    ROOTS_LIST = "roots/list";
    /// The legacy session is open.
    INITIALIZED = "notifications/initialized";
    /// A request is no longer wanted.
    CANCELLED = "notifications/cancelled";
    /// A request makes progress.
    PROGRESS = "notifications/progress";
    /// A log message.
    MESSAGE = "notifications/message";
    /// The tools have changed.
    TOOLS_LIST_CHANGED = "notifications/tools/list_changed";
    /// The prompts have changed.
    PROMPTS_LIST_CHANGED = "notifications/prompts/list_changed";
    /// The resources have changed.
    RESOURCES_LIST_CHANGED = "notifications/resources/list_changed";
    /// A resource has changed.
    RESOURCES_UPDATED = "notifications/resources/updated";
    /// The client's roots have changed (legacy).
    ROOTS_LIST_CHANGED = "notifications/roots/list_changed";
    /// An elicitation by URL is done (2025-11-25).
    ELICITATION_COMPLETE = "notifications/elicitation/complete";
    /// What of a subscription is honoured (modern).
    SUBSCRIPTIONS_ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
    /// The state of a task has changed (modern).
    TASKS = "notifications/tasks";
    /// The state of a task has changed (2025-11-25).
    TASKS_STATUS = "notifications/tasks/status";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_protocol_are_reserved() {
        for (method, expect) in [
            ("tools/call2", true),
            ("tools", true),
            ("tasks/list", true),
            ("notifications/x", true),
            ("ping", true),
            ("ping/x", true),
            ("toolset/list", false),
            ("com.example/tools/list", false),
            ("x", false),
            ("", false),
        ] {
            assert_eq!(is_reserved(method), expect, "{method}");
        }
    }
}
