//! How requests of each era begin.

pub(crate) mod legacy;
pub(crate) mod modern;

use toolgate_core::{Hub, Offers};
use toolgate_wire::{Raw, Request};

use crate::answer::Answer;
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

/// Notes a request in the log: what it is for, and never with what.
fn received(request: &Request) {
    tracing::debug!(method = %request.method, id = request.id.as_str(), "received request");
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
