//! All rules, by what they are about; and those that need nothing but what was said.

pub(crate) mod annotations;
pub(crate) mod messages;
pub(crate) mod names;
pub(crate) mod safety;
pub(crate) mod schemas;
pub(crate) mod words;

use serde_json::Value;

use crate::notes::Notes;
use crate::probe::{calls, http, lists, manners, opening, strain};
use crate::rule::{Group, Rule};
use crate::session::Session;

pub(crate) use messages::judge;
pub(crate) use safety::{address, is_hidden};

/// All rules, in the order of the report.
pub static GROUPS: &[Group] = &[
    Group { name: "opening", rules: &[&opening::OPENS, &opening::UNKNOWN_VERSION] },
    Group {
        name: "messages",
        rules: &[
            &messages::STDOUT,
            &messages::JSON_RPC,
            &messages::SCHEMA,
            &messages::SAME_ID,
            &messages::ONE_ANSWER,
            &messages::NOTIFICATION,
            &messages::LIST_CHANGED,
            &messages::ASKS,
        ],
    },
    Group {
        name: "conversation",
        rules: &[
            &manners::PING,
            &manners::UNKNOWN_METHOD,
            &manners::UNKNOWN_TOOL,
            &manners::UNKNOWN_TOOL_CODE,
            &manners::CANCELLATION,
            &manners::LISTEN,
        ],
    },
    Group {
        name: "lists",
        rules: &[
            &lists::CAPABILITIES_ANSWERED,
            &lists::CAPABILITIES_DECLARED,
            &lists::PAGES_END,
            &lists::PAGES_UNIQUE,
            &lists::BAD_CURSOR,
            &lists::STABLE_ORDER,
        ],
    },
    Group { name: "calls", rules: &[&calls::IS_ERROR, &calls::CHECKS_ARGUMENTS, &calls::STRUCTURED] },
    Group {
        name: "strain",
        rules: &[
            &strain::BROKEN_JSON,
            &strain::SURVIVES_BATCH,
            &strain::BATCH,
            &strain::LONG_MESSAGE,
            &strain::ENDS,
        ],
    },
    Group {
        name: "http",
        rules: &[
            &http::CONTENT_TYPE,
            &http::NOTIFICATION_STATUS,
            &http::UNKNOWN_SESSION,
            &http::HEADER_MISMATCH,
            &http::STATUS,
        ],
    },
    Group { name: "names", rules: &[&names::TOOL_NAME, &names::PORTABLE, &names::UNIQUE] },
    Group {
        name: "words",
        rules: &[
            &words::TOOL_DESCRIPTION,
            &words::LENGTH,
            &words::VERB,
            &words::VAGUE,
            &words::PROMPT_DESCRIPTION,
            &words::TITLE,
        ],
    },
    Group {
        name: "schemas",
        rules: &[
            &schemas::INPUT,
            &schemas::COMPILES,
            &schemas::LOCAL,
            &schemas::NO_CHOICE,
            &schemas::REQUIRED,
            &schemas::DESCRIBED,
            &schemas::TYPED,
            &schemas::BOUNDS,
            &schemas::OUTPUT,
            &schemas::HEADERS,
        ],
    },
    Group {
        name: "annotations",
        rules: &[&annotations::PRESENT, &annotations::CONSISTENT, &annotations::HONEST],
    },
    Group {
        name: "safety",
        rules: &[
            &safety::HIDDEN,
            &safety::ORDERS,
            &safety::SHADOWING,
            &safety::SECRETS,
            &safety::PLAIN_HTTP,
            &http::ORIGIN,
        ],
    },
];

/// The rule of this name.
pub fn rule(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// All rules.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.rules.iter().copied())
}

/// What the server offers.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) tools: Vec<Value>,
    pub(crate) prompts: Vec<Value>,
    pub(crate) resources: Vec<Value>,
    pub(crate) templates: Vec<Value>,
    /// What it said of itself when the conversation was opened.
    pub(crate) opening: Value,
    /// Whether its schemas are those of the modern era.
    pub(crate) modern: bool,
}

impl Lists {
    pub(crate) fn of(session: &Session) -> Self {
        let modern = session.era == toolgate_wire::Era::Modern;
        Self { opening: session.opening.clone(), modern, ..Self::default() }
    }

    /// The list that a result calls so.
    pub(crate) fn slot(&mut self, items: &str) -> &mut Vec<Value> {
        match items {
            "tools" => &mut self.tools,
            "prompts" => &mut self.prompts,
            "resources" => &mut self.resources,
            _ => &mut self.templates,
        }
    }
}

/// Goes through all that can be seen in the definitions.
pub(crate) fn definitions(lists: &Lists, notes: &mut Notes) {
    names::check(lists, notes);
    words::check(lists, notes);
    schemas::check(lists, notes);
    annotations::check(lists, notes);
    safety::check(lists, notes);
}

/// The tool as a place.
pub(crate) fn tool_place(tool: &Value) -> String {
    format!("tool `{}`", crate::notes::quote(tool["name"].as_str().unwrap_or("?")))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn rules_have_names_of_their_own_and_say_what_they_want() {
        let mut ids = HashSet::new();
        for rule in all() {
            assert!(ids.insert(rule.id), "`{}` is there twice", rule.id);
            let fits = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            assert!(rule.id.bytes().all(fits), "{}", rule.id);
            assert!(rule.says.ends_with('.') && !rule.says.contains(". "), "{}: one sentence", rule.id);
            assert!(!rule.mend.ends_with('.'), "{}", rule.id);
        }
        assert!(rule("ping").is_some() && rule("nothing").is_none());
    }
}
