//! What a request asks for, read from its method and params once.

use std::borrow::Cow;
use std::sync::Arc;

use toolgate_core::{CompletionRef, Error, Kind, ListKind, LogLevel, Offers, Result, Resume, Target, TaskOp};
use toolgate_wire::{Era, Kind as JsonKind, Raw, method};

/// What a request asks for.
pub(crate) enum Asked {
    /// Open a legacy session.
    Initialize,
    /// Say what the server is.
    Discover,
    /// Say anything.
    Ping,
    /// Send log messages from this level on.
    SetLevel(LogLevel),
    /// Show a page of a list.
    List(ListKind, Option<String>),
    /// Do something.
    Call(Target, Option<Resume>),
    /// Send what changes.
    Listen,
}

/// Reads what a request asks for. Whether the method exists comes before whether its params are right.
pub(crate) fn read(method: &str, params: &Raw, era: Era, offers: Offers) -> Result<Asked> {
    exists(method, era, offers)?;
    Ok(match method {
        method::INITIALIZE => Asked::Initialize,
        method::DISCOVER => Asked::Discover,
        method::PING => Asked::Ping,
        method::LOGGING_SET_LEVEL => Asked::SetLevel(text(params, "level")?.parse()?),
        method::TOOLS_LIST => Asked::List(ListKind::Tools, cursor(params)?),
        method::RESOURCES_LIST => Asked::List(ListKind::Resources, cursor(params)?),
        method::RESOURCES_TEMPLATES_LIST => Asked::List(ListKind::Templates, cursor(params)?),
        method::PROMPTS_LIST => Asked::List(ListKind::Prompts, cursor(params)?),
        method::SUBSCRIPTIONS_LISTEN => Asked::Listen,
        _ => Asked::Call(target(method, params)?, if era == Era::Modern { resume(params)? } else { None }),
    })
}

fn exists(method: &str, era: Era, offers: Offers) -> Result<()> {
    let legacy = era == Era::Legacy;
    let there = match method {
        method::INITIALIZE | method::PING | method::LOGGING_SET_LEVEL => legacy,
        method::DISCOVER | method::SUBSCRIPTIONS_LISTEN => !legacy,
        method::TOOLS_LIST | method::TOOLS_CALL => offers.tools,
        method::RESOURCES_LIST | method::RESOURCES_TEMPLATES_LIST | method::RESOURCES_READ => {
            offers.resources
        }
        method::RESOURCES_SUBSCRIBE | method::RESOURCES_UNSUBSCRIBE => legacy && offers.resources,
        method::PROMPTS_LIST | method::PROMPTS_GET => offers.prompts,
        method::COMPLETION_COMPLETE => offers.completions,
        method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => !legacy && offers.tasks,
        _ => false,
    };
    if there {
        return Ok(());
    }
    let shown: String = method.chars().take(100).flat_map(char::escape_debug).collect();
    Err(Error::new(Kind::UnknownMethod, format!("unknown method `{shown}`")))
}

fn target(method: &str, params: &Raw) -> Result<Target> {
    Ok(match method {
        method::TOOLS_CALL => {
            object(params, "arguments")?;
            Target::Tool(text(params, "name")?.parse()?)
        }
        method::PROMPTS_GET => {
            object(params, "arguments")?;
            Target::Prompt(text(params, "name")?.into())
        }
        method::RESOURCES_READ => Target::Resource(text(params, "uri")?.into()),
        method::RESOURCES_SUBSCRIBE => Target::Subscribe(text(params, "uri")?.into()),
        method::RESOURCES_UNSUBSCRIBE => Target::Unsubscribe(text(params, "uri")?.into()),
        method::COMPLETION_COMPLETE => Target::Completion(completion(params)?),
        method::TASKS_GET => Target::Task(TaskOp::Get, text(params, "taskId")?.into()),
        method::TASKS_UPDATE => Target::Task(TaskOp::Update, text(params, "taskId")?.into()),
        method::TASKS_CANCEL => Target::Task(TaskOp::Cancel, text(params, "taskId")?.into()),
        other => Target::Method(other.into()),
    })
}

fn completion(params: &Raw) -> Result<CompletionRef> {
    let reference = params.get("ref").ok_or_else(|| missing("ref", "an object"))?;
    let argument = params.get("argument").ok_or_else(|| missing("argument", "an object"))?;
    text(&argument, "name")?;
    text(&argument, "value")?;
    let name = |key: &str| text(&reference, key).map(Arc::from);
    match text(&reference, "type")?.as_str() {
        "ref/prompt" => name("name").map(CompletionRef::Prompt),
        "ref/resource" => name("uri").map(CompletionRef::Resource),
        _ => Err(Error::new(Kind::InvalidParams, "`ref.type` must be `ref/prompt` or `ref/resource`")),
    }
}

fn resume(params: &Raw) -> Result<Option<Resume>> {
    object(params, "inputResponses")?;
    let responses = params.get("inputResponses");
    let state = match params.get("requestState") {
        None => None,
        Some(state) => {
            Some(state.as_string().ok_or_else(|| missing("requestState", "a string"))?.into_owned())
        }
    };
    Ok((responses.is_some() || state.is_some()).then_some(Resume { responses, state }))
}

fn cursor(params: &Raw) -> Result<Option<String>> {
    params.get("cursor").is_some().then(|| text(params, "cursor")).transpose()
}

pub(crate) fn text(params: &Raw, key: &str) -> Result<String> {
    let value = params.get(key);
    let text = value.as_ref().and_then(|value| value.as_string().map(Cow::into_owned));
    text.ok_or_else(|| missing(key, "a string"))
}

fn object(params: &Raw, key: &str) -> Result<()> {
    match params.get(key) {
        Some(value) if value.kind() != JsonKind::Object => Err(missing(key, "an object")),
        _ => Ok(()),
    }
}

fn missing(key: &str, what: &str) -> Error {
    Error::new(Kind::InvalidParams, format!("`{key}` must be {what}")).hint("check the params of the request")
}
