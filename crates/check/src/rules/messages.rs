//! What must hold of every message, whatever it is about. It is judged when a connection has ended.

use std::collections::HashMap;

use serde_json::Value;
use toolgate_wire::{Era, Version};

use crate::connection::bare;
use crate::notes::{Notes, quote};
use crate::probe::http::CONTENT_TYPE;
use crate::revision::Revision;
use crate::rule::{Rule, error};
use crate::subject::Subject;
use crate::transcript::{Entry, Transcript};

pub(crate) static STDOUT: Rule = error(
    "stdout-pure",
    "Standard output holds nothing but messages, a line each.",
    "write logs, greetings and prints to standard error, also those of libraries",
);
pub(crate) static JSON_RPC: Rule = error(
    "json-rpc",
    "Every message is JSON-RPC 2.0 that can be read in one way only.",
    "write `jsonrpc`, and `id` with `result` or `error`, once each, and params as an object",
);
pub(crate) static SCHEMA: Rule = error(
    "message-schema",
    "Every message fits the schema of the protocol revision that is spoken.",
    "compare it with `schema.json` of that revision; SDKs check this when their types are used",
);
pub(crate) static SAME_ID: Rule = error(
    "same-id",
    "An answer has the id of its request: the same text, or the same number.",
    "send the id back as it came: do not turn numbers into texts, nor texts into numbers",
);
pub(crate) static ONE_ANSWER: Rule = error(
    "one-answer",
    "Every request has one answer, and every answer has a request.",
    "answer once, and only what was asked",
);
pub(crate) static NOTIFICATION: Rule = error(
    "notification-unanswered",
    "A notification is never answered, also one that the server does not know.",
    "a message without `id` wants no answer, and no error either",
);
pub(crate) static LIST_CHANGED: Rule = error(
    "list-changed-declared",
    "A server that tells of changed lists has declared `listChanged`.",
    "declare `listChanged: true` in the capability, or do not send the notification",
);
pub(crate) static ASKS: Rule = error(
    "asks-what-is-declared",
    "The server asks the client only for what the client declared.",
    "look at the client's capabilities before you ask for sampling, elicitation or roots; modern servers send no requests",
);

/// Judges all that was said on a connection.
pub(crate) fn judge(transcript: &Transcript, subject: &Subject, notes: &mut Notes) {
    let is_stdio = matches!(subject, Subject::Program(_));
    for rule in [&JSON_RPC, &ONE_ANSWER, &LIST_CHANGED, &ASKS] {
        notes.tried(rule);
    }
    notes.tried(if is_stdio { &STDOUT } else { &CONTENT_TYPE });
    for entry in &transcript.entries {
        match entry {
            Entry::Noise(text) if is_stdio => notes.found(&STDOUT, "standard output", format!("`{text}`")),
            Entry::Noise(text) => notes.found(&JSON_RPC, "HTTP body", format!("not JSON: `{text}`")),
            Entry::Refused { text, why } => notes.found(&JSON_RPC, format!("`{text}`"), why.clone()),
            Entry::Head { status: 200, kind, .. } if !is_message_type(kind) => {
                notes.found(&CONTENT_TYPE, "HTTP answer", format!("`Content-Type: {kind}`"));
            }
            Entry::Head { .. } | Entry::Sent { .. } | Entry::Heard(_) => {}
        }
    }
    answers(transcript, notes);
    schema(transcript, notes);
    for message in transcript.heard() {
        changed(message, transcript, notes);
        asks(message, transcript, notes);
    }
}

fn is_message_type(kind: &str) -> bool {
    matches!(kind, "application/json" | "text/event-stream" | "")
}

/// Which request an answer belongs to, and whether it may.
fn answers(transcript: &Transcript, notes: &mut Notes) {
    let asked: Vec<(&Value, &str)> = transcript.asked().collect();
    let mut answered: HashMap<String, usize> = HashMap::new();
    let mut nameless = 0;
    for message in transcript.heard().filter(|message| message.get("method").is_none()) {
        let id = &message["id"];
        if id.is_null() {
            nameless += 1;
        } else if let Some((_, method)) = asked.iter().find(|(of, _)| *of == id) {
            let count = answered.entry(id.to_string()).or_default();
            *count += 1;
            if *count == 2 {
                notes.found(&ONE_ANSWER, format!("answer to `{method}`"), "a second answer");
            }
        } else if let Some((of, method)) = asked.iter().find(|(of, _)| bare(of) == bare(id)) {
            notes.found(&SAME_ID, format!("answer to `{method}`"), format!("the id {of} comes back as {id}"));
        } else {
            notes.found(&ONE_ANSWER, "answer", format!("the id {} was never asked", quote(&id.to_string())));
        }
    }
    // What cannot be read is answered without an id.
    if nameless > transcript.nonsense() {
        notes.found(&NOTIFICATION, "answer", "an answer without an id, where nothing was asked");
    }
}

/// Holds every message against the schema of its revision.
fn schema(transcript: &Transcript, notes: &mut Notes) {
    let Some(version) = transcript.version else { return };
    notes.tried(&SCHEMA);
    let revision = Revision::of(version);
    let asked: Vec<(&Value, &str)> = transcript.asked().collect();
    let method_of = |id: &Value| {
        let same = asked.iter().find(|(of, _)| *of == id);
        same.or_else(|| asked.iter().find(|(of, _)| bare(of) == bare(id))).map(|(_, method)| *method)
    };
    for message in transcript.heard() {
        let method = message["method"].as_str();
        let (place, faults) = match (method, message.get("id")) {
            (Some(method), None) => (format!("`{method}`"), revision.notification(message)),
            (Some(method), Some(_)) => (format!("`{method}`"), revision.request(message)),
            (None, id) => {
                let method = id.and_then(method_of).unwrap_or("?");
                let faults = match message.get("result") {
                    Some(result) => revision.result(method, result),
                    None => revision.error(message),
                };
                (format!("answer to `{method}`"), faults)
            }
        };
        for fault in faults {
            notes.found(&SCHEMA, format!("{place}, {version}"), quote(&fault));
        }
    }
}

fn changed(message: &Value, transcript: &Transcript, notes: &mut Notes) {
    let method = message["method"].as_str().unwrap_or_default();
    let list = method.strip_prefix("notifications/").and_then(|rest| rest.strip_suffix("/list_changed"));
    if let Some(list) = list
        && transcript.capabilities[list]["listChanged"] != true
    {
        notes.found(&LIST_CHANGED, format!("`{method}`"), format!("`{list}.listChanged` is not declared"));
    }
}

fn asks(message: &Value, transcript: &Transcript, notes: &mut Notes) {
    let (Some(method), Some(_)) = (message["method"].as_str(), message.get("id")) else { return };
    let modern = transcript.version.is_some_and(|version: Version| version.era() == Era::Modern);
    if modern || method != "ping" {
        let what = if modern { "a request, in the modern era" } else { "the client declared no capability" };
        notes.found(&ASKS, format!("`{}`", quote(method)), what);
    }
}
