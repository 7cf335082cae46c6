//! What tools say of their effects.

use serde_json::Value;

use super::Lists;
use crate::notes::Notes;
use crate::rule::{Rule, error, warning};

pub(crate) static PRESENT: Rule = warning(
    "annotations",
    "Every tool says whether it only reads, or whether it may destroy.",
    "set `annotations.readOnlyHint`, and `destructiveHint` where it writes: without them clients must assume the worst",
);
pub(crate) static CONSISTENT: Rule = error(
    "annotations-consistent",
    "A tool that only reads does not destroy.",
    "set `readOnlyHint: true` or `destructiveHint: true`, not both",
);
pub(crate) static HONEST: Rule = warning(
    "annotations-honest",
    "A tool whose name says that it changes things does not call itself read-only.",
    "set `readOnlyHint: false`, or give the tool another name",
);

/// Names that begin so are about changes.
const CHANGES: [&str; 11] = [
    "delete",
    "remove",
    "drop",
    "write",
    "overwrite",
    "destroy",
    "erase",
    "wipe",
    "purge",
    "kill",
    "truncate",
];

pub(crate) fn check(lists: &Lists, notes: &mut Notes) {
    for tool in &lists.tools {
        [&PRESENT, &CONSISTENT, &HONEST].into_iter().for_each(|rule| notes.tried(rule));
        let place = super::tool_place(tool);
        let hints = &tool["annotations"];
        let (reads, destroys) = (hints["readOnlyHint"].as_bool(), hints["destructiveHint"].as_bool());
        if reads.is_none() && destroys.is_none() {
            notes.found(&PRESENT, place, "it says neither");
        } else if reads == Some(true) && destroys == Some(true) {
            notes.found(&CONSISTENT, place, "`readOnlyHint` and `destructiveHint` are both true");
        } else if reads == Some(true) && says_change(&tool["name"]) {
            notes.found(&HONEST, place, "`readOnlyHint` is true");
        }
    }
}

fn says_change(name: &Value) -> bool {
    let name = name.as_str().unwrap_or_default().to_ascii_lowercase();
    let first = name.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
    CHANGES.contains(&first)
}
