//! Tools as they are offered: named, described and cut to what is configured; all else in the server's bytes.

use std::sync::Arc;

use serde_json::Value;
use toolgate_core::{Hints, InputCheck, TaskMode, ToolItem, ToolName, fits_pattern};
use toolgate_wire::{Edit, Raw, headers};

use crate::config::{Check, ToolsConfig};
use crate::definitions::text;
use crate::journal::Journal;
use crate::names;
use crate::plan::Plan;

/// A tool as it is offered, and what becomes of its calls.
#[derive(Debug)]
pub(crate) struct ToolFacts {
    pub(crate) item: Arc<ToolItem>,
    /// What the server calls it.
    pub(crate) own: String,
    /// Arguments that the caller does not choose.
    pub(crate) fixed: Vec<(String, Raw)>,
    /// Arguments that the caller may not send.
    pub(crate) hidden: Vec<String>,
    /// The check of arguments that only warns.
    pub(crate) warn: Option<InputCheck>,
    /// Whether it runs as a task.
    pub(crate) task: TaskSupport,
}

/// Whether a tool runs as a task, as 2025-11-25 says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskSupport {
    Forbidden,
    Optional,
    Required,
}

impl ToolFacts {
    /// Whether a call may be repeated without harm.
    pub(crate) fn is_harmless(&self) -> bool {
        self.item.hints.read_only || self.item.hints.idempotent
    }

    /// The arguments as the server gets them.
    pub(crate) fn arguments(&self, given: Raw) -> Raw {
        if self.fixed.is_empty() && self.hidden.is_empty() {
            return given;
        }
        let kept = self.hidden.iter().fold(Edit::new(&given), |edit, key| edit.remove(key));
        self.fixed.iter().fold(kept, |edit, (key, value)| edit.set(key, value.clone())).finish()
    }
}

/// What the revision of a server means for its tools.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Speaks {
    /// Over HTTP in the modern era, a tool that does not say clearly which headers it needs must not be offered.
    pub(crate) modern_http: bool,
    /// Whether its tools say if they run as tasks.
    pub(crate) core_tasks: bool,
}

/// A tool as it is offered; none if it is not.
pub(crate) fn tool(raw: &Raw, plan: &Plan, speaks: Speaks, journal: &Journal) -> Option<ToolFacts> {
    let own = text(raw, "name", journal)?;
    let config = &plan.tools;
    if !is_offered(&own, config) {
        return None;
    }
    let shown = config.rename.get(&own).map_or(own.as_str(), String::as_str);
    let name = names::shown(plan.prefix.as_deref(), shown);
    let Ok(tool_name) = name.parse::<ToolName>() else {
        journal.note("has a tool that cannot be named", &own);
        return None;
    };
    let schema = raw.get("inputSchema").unwrap_or(Raw::EMPTY_OBJECT);
    let params = match headers::header_params(&schema) {
        Ok(params) => params,
        Err(error) if speaks.modern_http => {
            journal.note("has a tool with wrong header annotations", &format!("{own}: {error}"));
            return None;
        }
        Err(_) => Vec::new(),
    };
    let fixed: Vec<(String, Raw)> = config.fixed.get(&own).into_iter().flatten().map(of_value).collect();
    let hidden = config.hidden.get(&own).cloned().unwrap_or_default();
    let gone: Vec<&str> =
        fixed.iter().map(|(key, _)| key.as_str()).chain(hidden.iter().map(String::as_str)).collect();
    let schema = without(&schema, &gone);
    let mut shaped = named(raw, &own, &name);
    if !gone.is_empty() {
        shaped = Edit::new(&shaped).set("inputSchema", schema.clone()).finish();
    }
    if let Some(words) = config.describe.get(&own) {
        shaped = Edit::new(&shaped).set("description", Raw::string(words)).finish();
    }
    let check = || schema.to::<Value>().ok().map(InputCheck::new);
    let item = ToolItem {
        name: tool_name,
        title: title(raw),
        raw: shaped,
        hints: hints(raw),
        headers: params,
        input: if plan.check == Check::Enforce { check() } else { None },
        task: task_mode(raw, speaks),
    };
    let warn = if plan.check == Check::Warn { check() } else { None };
    Some(ToolFacts { item: Arc::new(item), own, fixed, hidden, warn, task: task_support(raw) })
}

/// Whether a client may call it as a task: what it says of that; where its server could not say, the hub runs it as one.
fn task_mode(raw: &Raw, speaks: Speaks) -> TaskMode {
    match task_support(raw) {
        TaskSupport::Required => TaskMode::Required,
        TaskSupport::Optional => TaskMode::Optional,
        TaskSupport::Forbidden if speaks.core_tasks => TaskMode::Never,
        TaskSupport::Forbidden => match raw.path(&["execution", "taskSupport"]) {
            Some(_) => TaskMode::Never,
            None => TaskMode::Optional,
        },
    }
}

fn task_support(raw: &Raw) -> TaskSupport {
    let support = raw.path(&["execution", "taskSupport"]);
    match support.as_ref().and_then(Raw::as_string).as_deref() {
        Some("required") => TaskSupport::Required,
        Some("optional") => TaskSupport::Optional,
        _ => TaskSupport::Forbidden,
    }
}

fn of_value((key, value): (&String, &Value)) -> (String, Raw) {
    (key.clone(), Raw::of(value))
}

fn is_offered(own: &str, config: &ToolsConfig) -> bool {
    let among = |patterns: &[String]| patterns.iter().any(|pattern| fits_pattern(pattern, own));
    config.allow.as_deref().is_none_or(among) && !among(&config.deny)
}

/// The definition under another name; the same bytes where the name stays.
pub(crate) fn named(raw: &Raw, own: &str, name: &str) -> Raw {
    if own == name { raw.clone() } else { Edit::new(raw).set("name", Raw::string(name)).finish() }
}

/// The schema without these properties.
fn without(schema: &Raw, gone: &[&str]) -> Raw {
    if gone.is_empty() {
        return schema.clone();
    }
    let properties = schema.get("properties").unwrap_or(Raw::EMPTY_OBJECT);
    let properties = gone.iter().fold(Edit::new(&properties), |edit, key| edit.remove(key)).finish();
    let mut edit = Edit::new(schema).set("properties", properties);
    if let Some(required) = schema.get("required") {
        let stays = |item: &Raw| !item.as_string().is_some_and(|name| gone.contains(&&*name));
        let kept: Vec<Raw> = required.items().filter(stays).collect();
        edit = edit.set("required", Raw::of(&kept));
    }
    edit.finish()
}

fn title(raw: &Raw) -> Option<String> {
    let title = raw.get("title").or_else(|| raw.path(&["annotations", "title"]))?;
    title.as_string().map(std::borrow::Cow::into_owned)
}

/// What a tool says of itself; where it says nothing, the protocol assumes the worst.
fn hints(raw: &Raw) -> Hints {
    let annotations = raw.get("annotations").unwrap_or(Raw::EMPTY_OBJECT);
    let hint =
        |key: &str, default: bool| annotations.get(key).and_then(|value| value.as_bool()).unwrap_or(default);
    let read_only = hint("readOnlyHint", false);
    Hints {
        read_only,
        destructive: hint("destructiveHint", !read_only),
        idempotent: hint("idempotentHint", false),
        open_world: hint("openWorldHint", true),
    }
}
