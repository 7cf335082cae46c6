//! How requests of each era begin.

pub(crate) mod legacy;
pub(crate) mod modern;

use std::sync::Arc;

use toolgate_core::{Hub, ListKind, Offers, Principal, TraceContext};
use toolgate_wire::{Kind, Raw, Request, RequestMeta, Version, meta, method};

use crate::answer::Answer;
use crate::asked::Members;
use crate::exchange::Exchange;
use crate::listen::Listening;

/// What a request has become.
pub(crate) enum Begun {
    /// It is answered.
    Answer(Answer),
    /// It is a call under way.
    Running(Box<Exchange>),
    /// It is a stream of what changes.
    Listening(Box<Listening>),
}

/// A request, with what it says of itself. It is passed on in a box: each future on its way would have room for it twice.
pub(crate) struct Incoming {
    pub(crate) request: Request,
    /// Its params; an empty object where it has none.
    pub(crate) params: Raw,
    pub(crate) members: Members,
    pub(crate) about: RequestMeta,
    /// Where it belongs in its client's trace, if the client said so.
    pub(crate) trace: Option<Arc<TraceContext>>,
}

impl Incoming {
    /// Reads what a request says of itself, and notes it in the log: what it is for, and never with what.
    pub(crate) fn new(mut request: Request) -> Box<Self> {
        tracing::debug!(method = %request.method, id = request.id.as_str(), "received request");
        let params = request.params.take().unwrap_or(Raw::EMPTY_OBJECT);
        let members = Members::read(&params);
        let about = members.meta.as_ref().map(RequestMeta::of).unwrap_or_default();
        let trace = traced(&members, &about).map(Arc::new);
        Box::new(Self { request, params, members, about, trace })
    }

    /// Takes the trace context of headers, unless the message has its own: that one is about this very request.
    pub(crate) fn traced_by<'a>(mut self: Box<Self>, header: impl Fn(&str) -> Option<&'a str>) -> Box<Self> {
        if self.trace.is_none()
            && let Some(parent) = header(meta::TRACEPARENT)
        {
            let context = TraceContext::read(parent, header(meta::TRACESTATE), header(meta::BAGGAGE));
            self.trace = context.map(Arc::new);
        }
        self
    }

    /// Whether it is of the modern era: it names a version that is not a legacy one.
    pub(crate) fn is_modern(&self) -> bool {
        match self.about.version_text() {
            Some(text) => !Version::LEGACY.iter().any(|version| version.as_str() == text),
            None => self.request.method == method::DISCOVER,
        }
    }
}

/// The trace context that a request brings in its `_meta`.
fn traced(members: &Members, about: &RequestMeta) -> Option<TraceContext> {
    let parent = about.traceparent.as_ref()?.as_string()?;
    let rest = [meta::TRACESTATE, meta::BAGGAGE].map(|key| members.meta.as_ref()?.get(key));
    let [state, baggage] = rest.each_ref().map(|value| value.as_ref().and_then(Raw::as_string));
    TraceContext::read(&parent, state.as_deref(), baggage.as_deref())
}

/// Notes in the log that a list goes out: how much of what, and nothing of it.
fn listed(request: &Request, kind: ListKind, page: &Raw) {
    tracing::debug!(id = request.id.as_str(), list = ?kind, items = items(page), "sending response");
}

/// How many items a page of a list holds.
fn items(page: &Raw) -> usize {
    page.entries()
        .filter(|(_, value)| value.kind() == Kind::Array)
        .map(|(_, value)| value.items().count())
        .sum()
}

/// What the server can do, as its `capabilities` say it.
fn capabilities(offers: Offers, lasting: bool, extra: &str) -> String {
    let mut parts = Vec::new();
    let changed = if lasting { r#"{"listChanged":true}"# } else { "{}" };
    if offers.tools {
        parts.push(format!(r#""tools":{changed}"#));
    }
    if offers.resources {
        let able = if lasting { r#"{"listChanged":true,"subscribe":true}"# } else { "{}" };
        parts.push(format!(r#""resources":{able}"#));
    }
    if offers.prompts {
        parts.push(format!(r#""prompts":{changed}"#));
    }
    if offers.completions {
        parts.push(r#""completions":{}"#.into());
    }
    parts.push(r#""logging":{}"#.into());
    if !extra.is_empty() {
        parts.push(extra.into());
    }
    format!("{{{}}}", parts.join(","))
}

/// The `extensions` member, where there are any: ours, and those of the sources that this principal sees.
fn extensions(
    hub: &Hub,
    principal: &Principal,
    profile: Option<&Arc<str>>,
    ours: Option<&'static str>,
) -> String {
    // A filter that breaks down lets nothing out.
    let theirs = hub.extensions(principal, profile).unwrap_or(Raw::EMPTY_OBJECT);
    let inside =
        theirs.as_str().strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
    let parts: Vec<&str> = ours.into_iter().chain([inside]).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!(r#""extensions":{{{}}}"#, parts.join(",")) }
}

/// The `instructions` member, with its comma, where this principal is told any.
fn instructions(hub: &Hub, principal: &Principal, profile: Option<&Arc<str>>) -> String {
    let text = hub.instructions(principal, profile);
    text.map(|text| format!(r#","instructions":{}"#, Raw::string(&text).as_str())).unwrap_or_default()
}
