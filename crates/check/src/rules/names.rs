//! Names of tools, prompts and resources.

use std::collections::HashSet;

use serde_json::Value;

use super::Lists;
use crate::notes::{Notes, quote};
use crate::rule::{Rule, error, warning};

pub(crate) static TOOL_NAME: Rule =
    error("tool-name", "A tool's name has 1 to 128 letters of A-Z a-z 0-9 `_-./`.", "rename the tool");
pub(crate) static PORTABLE: Rule = warning(
    "tool-name-portable",
    "A tool's name has at most 64 letters, of A-Z a-z 0-9 `_-` alone.",
    "rename it: the APIs of several models refuse other names, and clients put a prefix before it",
);
pub(crate) static UNIQUE: Rule = error(
    "unique-names",
    "No two tools, prompts or resources have the same name.",
    "rename one of them: clients see only one",
);

pub(crate) fn check(lists: &Lists, notes: &mut Notes) {
    for (kind, items, key) in [
        ("tool", &lists.tools, "name"),
        ("prompt", &lists.prompts, "name"),
        ("resource", &lists.resources, "uri"),
        ("template", &lists.templates, "uriTemplate"),
    ] {
        unique(kind, items, key, notes);
    }
    if lists.tools.is_empty() {
        return;
    }
    notes.tried(&TOOL_NAME);
    notes.tried(&PORTABLE);
    for tool in &lists.tools {
        let name = tool["name"].as_str().unwrap_or_default();
        let place = super::tool_place(tool);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let fits = |byte: u8| plain(byte) || matches!(byte, b'.' | b'/');
        if name.is_empty() || name.len() > 128 || !name.bytes().all(fits) {
            notes.found(&TOOL_NAME, place, fault(name, 128));
        } else if name.len() > 64 || !name.bytes().all(plain) {
            notes.found(&PORTABLE, place, fault(name, 64));
        }
    }
}

fn fault(name: &str, most: usize) -> String {
    match name.chars().count() {
        0 => "the name is empty".into(),
        count if count > most => format!("the name has {count} letters"),
        _ => "the name has other letters".into(),
    }
}

fn unique(kind: &str, items: &[Value], key: &str, notes: &mut Notes) {
    if items.is_empty() {
        return;
    }
    notes.tried(&UNIQUE);
    let mut seen = HashSet::new();
    for name in items.iter().filter_map(|item| item[key].as_str()) {
        if !seen.insert(name) {
            notes.found(&UNIQUE, format!("{kind} `{}`", quote(name)), "there are two of this name");
        }
    }
}
