//! Descriptions and titles: what a model chooses by, and what a person sees.

mod plain;

use super::Lists;
use crate::notes::{Notes, quote};
use crate::rule::{Rule, error, note, warning};

pub(crate) static TOOL_DESCRIPTION: Rule = error(
    "tool-description",
    "Every tool has a description.",
    "say in a sentence or two what the tool does and when to use it: the model chooses by it",
);
pub(crate) static LENGTH: Rule = warning(
    "description-length",
    "A tool's description has 10 to 500 letters.",
    "say what it does in a few sentences: some APIs cut or refuse longer ones, and all of it is paid for in every request",
);
pub(crate) static VERB: Rule = note(
    "action-verb",
    "A tool's description says with a verb what the tool does.",
    "begin with what it does, such as `Read`, `List` or `Delete`: a name alone does not tell when to use it",
);
pub(crate) static VAGUE: Rule = note(
    "vague-words",
    "A tool's description has no words that say nothing, such as `various` or `stuff`.",
    "name what is meant: a model cannot choose by what is left open",
);
pub(crate) static PROMPT_DESCRIPTION: Rule = warning(
    "prompt-description",
    "Every prompt has a description.",
    "say what the prompt is for: people choose by it",
);
pub(crate) static TITLE: Rule = note(
    "tool-title",
    "Every tool has a title for people.",
    "add `title`: clients show it instead of the name",
);

pub(crate) fn check(lists: &Lists, notes: &mut Notes) {
    if !lists.tools.is_empty() {
        [&TOOL_DESCRIPTION, &LENGTH, &VERB, &VAGUE, &TITLE].into_iter().for_each(|rule| notes.tried(rule));
    }
    for tool in &lists.tools {
        let place = super::tool_place(tool);
        let description = tool["description"].as_str().unwrap_or_default().trim();
        match description.chars().count() {
            0 => notes.found(&TOOL_DESCRIPTION, place.clone(), "it has none"),
            count @ (1..10 | 501..) => {
                notes.found(&LENGTH, place.clone(), format!("its description has {count} letters"));
            }
            _ => {}
        }
        if !description.is_empty() && !plain::has_verb(description) {
            notes.found(&VERB, place.clone(), format!("`{}`", quote(description)));
        }
        if let Some(word) = plain::vague(description) {
            notes.found(&VAGUE, place.clone(), format!("`{word}` in `{}`", quote(description)));
        }
        let titled = |title: &serde_json::Value| title.as_str().is_some_and(|title| !title.trim().is_empty());
        if !titled(&tool["title"]) && !titled(&tool["annotations"]["title"]) {
            notes.found(&TITLE, place, "it has none");
        }
    }
    for prompt in &lists.prompts {
        notes.tried(&PROMPT_DESCRIPTION);
        if prompt["description"].as_str().unwrap_or_default().trim().is_empty() {
            let name = quote(prompt["name"].as_str().unwrap_or("?"));
            notes.found(&PROMPT_DESCRIPTION, format!("prompt `{name}`"), "it has none");
        }
    }
}
