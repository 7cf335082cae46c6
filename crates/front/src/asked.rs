//! What a request asks for, read from its method and params once.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use toolgate_core::{
    CompletionRef, Error, Hub, Kind, ListKind, LogLevel, Result, Resume, Target, TaskOp, TaskRequest,
};
use toolgate_wire::{Era, Kind as JsonKind, Raw, Version, meta, method};

use crate::era::Incoming;

/// The longest URI that a request may name, in bytes: it is compared with every template there is.
const LONGEST_URI: usize = 8 * 1024;

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
    /// Show a page of the caller's tasks.
    ListTasks(Option<String>),
    /// Do something.
    Call(Target, Option<Resume>),
    /// Send what changes.
    Listen,
}

/// Reads what a request asks for. Whether the method exists comes before whether its params are right.
pub(crate) fn read(incoming: &Incoming, version: Version, hub: &Hub) -> Result<Asked> {
    let (method, params, members) = (&*incoming.request.method, &incoming.params, &incoming.members);
    exists(method, version, hub)?;
    Ok(match method {
        method::INITIALIZE => Asked::Initialize,
        method::DISCOVER => Asked::Discover,
        method::PING => Asked::Ping,
        method::LOGGING_SET_LEVEL => Asked::SetLevel(text(params, "level")?.parse()?),
        method::TOOLS_LIST => Asked::List(ListKind::Tools, cursor(params)?),
        method::RESOURCES_LIST => Asked::List(ListKind::Resources, cursor(params)?),
        method::RESOURCES_TEMPLATES_LIST => Asked::List(ListKind::Templates, cursor(params)?),
        method::PROMPTS_LIST => Asked::List(ListKind::Prompts, cursor(params)?),
        method::TASKS_LIST => Asked::ListTasks(cursor(params)?),
        method::SUBSCRIPTIONS_LISTEN => Asked::Listen,
        method::COMPLETION_COMPLETE => Asked::Call(Target::Completion(completion(params)?), None),
        _ => {
            let resume = if version.era() == Era::Modern { members.resume()? } else { None };
            Asked::Call(members.target(method)?, resume)
        }
    })
}

/// What requests carry in their params, found in one pass.
#[derive(Default)]
pub(crate) struct Members {
    pub(crate) meta: Option<Raw>,
    pub(crate) arguments: Option<Raw>,
    name: Option<Raw>,
    uri: Option<Raw>,
    task: Option<Raw>,
    augmented: Option<Raw>,
    responses: Option<Raw>,
    state: Option<Raw>,
}

impl Members {
    pub(crate) fn read(params: &Raw) -> Self {
        let mut this = Self::default();
        for (key, value) in params.entries() {
            match key.as_ref() {
                meta::META => this.meta = Some(value),
                "name" => this.name = Some(value),
                "uri" => this.uri = Some(value),
                "taskId" => this.task = Some(value),
                "task" => this.augmented = Some(value),
                "arguments" => this.arguments = Some(value),
                "inputResponses" => this.responses = Some(value),
                "requestState" => this.state = Some(value),
                _ => {}
            }
        }
        this
    }

    /// What the header `Mcp-Name` repeats.
    pub(crate) fn named(&self, method: &str) -> Option<&Raw> {
        match method {
            method::TOOLS_CALL | method::PROMPTS_GET => self.name.as_ref(),
            method::RESOURCES_READ => self.uri.as_ref(),
            method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => self.task.as_ref(),
            _ => None,
        }
    }

    fn target(&self, method: &str) -> Result<Target> {
        let name = || string(self.name.as_ref(), "name");
        let uri = || {
            let uri = string(self.uri.as_ref(), "uri")?;
            check_uri(&uri, "uri").map(|()| Arc::from(&*uri))
        };
        let task = |op| string(self.task.as_ref(), "taskId").map(|id| Target::Task(op, (&*id).into()));
        Ok(match method {
            method::TOOLS_CALL => {
                object(self.arguments.as_ref(), "arguments")?;
                Target::Tool(name()?.parse()?)
            }
            method::PROMPTS_GET => {
                object(self.arguments.as_ref(), "arguments")?;
                Target::Prompt((&*name()?).into())
            }
            method::RESOURCES_READ => Target::Resource(uri()?),
            method::RESOURCES_SUBSCRIBE => Target::Subscribe(uri()?),
            method::RESOURCES_UNSUBSCRIBE => Target::Unsubscribe(uri()?),
            method::TASKS_GET => task(TaskOp::Get)?,
            method::TASKS_RESULT => task(TaskOp::Result)?,
            method::TASKS_UPDATE => task(TaskOp::Update)?,
            method::TASKS_CANCEL => task(TaskOp::Cancel)?,
            other => {
                // It may be what tells which server knows the method.
                let named = self.uri.as_ref().and_then(Raw::as_string);
                named.map_or(Ok(()), |uri| check_uri(&uri, "uri"))?;
                Target::Method(other.into())
            }
        })
    }

    /// What a client of 2025-11-25 says that wants its call of a tool to be a task.
    pub(crate) fn as_task(&self) -> Result<Option<TaskRequest>> {
        let Some(task) = &self.augmented else { return Ok(None) };
        object(Some(task), "task")?;
        let ttl = match task.get("ttl").filter(|ttl| !ttl.is_null()) {
            Some(ttl) => {
                Some(ttl.as_u64().ok_or_else(|| missing("task.ttl", "a whole number of milliseconds"))?)
            }
            None => None,
        };
        Ok(Some(TaskRequest { ttl: ttl.map(Duration::from_millis) }))
    }

    fn resume(&self) -> Result<Option<Resume>> {
        object(self.responses.as_ref(), "inputResponses")?;
        let state = self.state.as_ref().map(|state| string(Some(state), "requestState"));
        let state = state.transpose()?.map(Cow::into_owned);
        let responses = self.responses.clone();
        Ok((responses.is_some() || state.is_some()).then_some(Resume { responses, state }))
    }
}

fn exists(method: &str, version: Version, hub: &Hub) -> Result<()> {
    let (legacy, offers) = (version.era() == Era::Legacy, hub.offers());
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
        // Once the client decided, and any call of a tool could be one; now a source decides.
        method::TASKS_GET | method::TASKS_CANCEL if legacy => version.has_core_tasks(),
        method::TASKS_LIST | method::TASKS_RESULT => version.has_core_tasks(),
        method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => !legacy && offers.tasks,
        // Some source may know it.
        other => !method::is_reserved(other) && hub.passes_methods(),
    };
    if there {
        return Ok(());
    }
    let shown: String = method.chars().take(100).flat_map(char::escape_debug).collect();
    Err(Error::new(Kind::UnknownMethod, format!("unknown method `{shown}`")))
}

fn completion(params: &Raw) -> Result<CompletionRef> {
    let reference = params.get("ref").ok_or_else(|| missing("ref", "an object"))?;
    let argument = params.get("argument").ok_or_else(|| missing("argument", "an object"))?;
    text(&argument, "name")?;
    text(&argument, "value")?;
    let name = |key: &str| text(&reference, key).map(Arc::from);
    match text(&reference, "type")?.as_str() {
        "ref/prompt" => name("name").map(CompletionRef::Prompt),
        "ref/resource" => {
            let uri = name("uri")?;
            check_uri(&uri, "ref.uri").map(|()| CompletionRef::Resource(uri))
        }
        _ => Err(Error::new(Kind::InvalidParams, "`ref.type` must be `ref/prompt` or `ref/resource`")),
    }
}

/// A URI that all read alike: parsers of URLs drop tabs and ends of lines wherever they are, and rules are about what is
/// written. Spaces stay, because servers list URIs that have them.
pub(crate) fn check_uri(uri: &str, key: &str) -> Result<()> {
    let (what, next) = if uri.len() > LONGEST_URI {
        (format!("is longer than {LONGEST_URI} bytes"), "name a resource as `resources/list` lists it")
    } else if uri.contains(|c: char| c.is_ascii_control()) {
        ("holds a control character".into(), "leave it out, or encode it: a tab is `%09`")
    } else {
        return Ok(());
    };
    Err(Error::new(Kind::InvalidParams, format!("`{key}` {what}")).hint(next))
}

fn cursor(params: &Raw) -> Result<Option<String>> {
    params.get("cursor").is_some().then(|| text(params, "cursor")).transpose()
}

pub(crate) fn text(params: &Raw, key: &str) -> Result<String> {
    string(params.get(key).as_ref(), key).map(Cow::into_owned)
}

fn string<'a>(value: Option<&'a Raw>, key: &str) -> Result<Cow<'a, str>> {
    value.and_then(Raw::as_string).ok_or_else(|| missing(key, "a string"))
}

fn object(value: Option<&Raw>, key: &str) -> Result<()> {
    match value {
        Some(value) if value.kind() != JsonKind::Object => Err(missing(key, "an object")),
        _ => Ok(()),
    }
}

fn missing(key: &str, what: &str) -> Error {
    Error::new(Kind::InvalidParams, format!("`{key}` must be {what}")).hint("check the params of the request")
}
