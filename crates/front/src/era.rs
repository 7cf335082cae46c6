//! How requests of each era begin.

pub(crate) mod legacy;
pub(crate) mod modern;

use toolgate_core::{Hub, Offers};
use toolgate_wire::{Raw, Request, RequestMeta, Version, method};

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

/// A request, with what it says of itself.
pub(crate) struct Incoming {
    pub(crate) request: Request,
    /// Its params; an empty object where it has none.
    pub(crate) params: Raw,
    pub(crate) members: Members,
    pub(crate) about: RequestMeta,
}

impl Incoming {
    /// Reads what a request says of itself, and notes it in the log: what it is for, and never with what.
    pub(crate) fn new(mut request: Request) -> Self {
        tracing::debug!(method = %request.method, id = request.id.as_str(), "received request");
        let params = request.params.take().unwrap_or(Raw::EMPTY_OBJECT);
        let members = Members::read(&params);
        let about = members.meta.as_ref().map(RequestMeta::of).unwrap_or_default();
        Self { request, params, members, about }
    }

    /// Whether it is of the modern era: it names a version that is not a legacy one.
    pub(crate) fn is_modern(&self) -> bool {
        match self.about.version_text() {
            Some(text) => !Version::LEGACY.iter().any(|version| version.as_str() == text),
            None => self.request.method == method::DISCOVER,
        }
    }
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

/// The `instructions` member, with its comma, where there are any.
fn instructions(hub: &Hub) -> String {
    let text = hub.info().instructions.as_deref();
    text.map(|text| format!(r#","instructions":{}"#, Raw::string(text).as_str())).unwrap_or_default()
}
