//! All that was said on one connection, in order.

use bytes::Bytes;
use serde_json::Value;
use toolgate_wire::{Frame, Version, code};

use crate::notes::quote;

/// One thing that was said, or happened.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A message of ours; without a method it is none that a server could understand.
    Sent { id: Option<Value>, method: Option<String> },
    /// A message of the server.
    Heard(Value),
    /// A text that is JSON, but no message that can be read in one way only.
    Refused { text: String, why: String },
    /// Anything else on the way that belongs to messages.
    Noise(String),
    /// How a request over HTTP was answered.
    Head { post: u64, status: u16, kind: String },
}

/// All that was said on one connection.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) entries: Vec<Entry>,
    /// The revision that was spoken, once it is known.
    pub(crate) version: Option<Version>,
    /// What the server said it can do.
    pub(crate) capabilities: Value,
}

impl Transcript {
    /// Notes what came from the server; the messages in it, and whether they came as a batch.
    pub(crate) fn take(&mut self, text: &Bytes) -> (Vec<Value>, bool) {
        let read = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap_or_default();
        let refused = |why: String| Entry::Refused { text: quote(&String::from_utf8_lossy(text)), why };
        match toolgate_wire::parse(text.clone()) {
            Ok(Frame::One(_)) => {
                let message = read(text);
                self.entries.push(Entry::Heard(message.clone()));
                (vec![message], false)
            }
            Ok(Frame::Batch(items)) => {
                for refusal in items.into_iter().filter_map(Result::err) {
                    self.entries.push(refused(refusal.message));
                }
                let messages = read(text).as_array().cloned().unwrap_or_default();
                self.entries.extend(messages.iter().cloned().map(Entry::Heard));
                (messages, true)
            }
            Err(refusal) if refusal.code == code::PARSE => {
                self.entries.push(Entry::Noise(quote(&String::from_utf8_lossy(text))));
                (Vec::new(), false)
            }
            Err(refusal) => {
                self.entries.push(refused(refusal.message));
                // It may still be the answer that somebody waits for.
                (vec![read(text)], false)
            }
        }
    }

    /// The messages of the server.
    pub(crate) fn heard(&self) -> impl Iterator<Item = &Value> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Heard(message) => Some(message),
            Entry::Sent { .. } | Entry::Refused { .. } | Entry::Noise(_) | Entry::Head { .. } => None,
        })
    }

    /// The requests of ours: id and method.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (&Value, &str)> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Sent { id: Some(id), method: Some(method) } => Some((id, method.as_str())),
            Entry::Sent { .. }
            | Entry::Heard(_)
            | Entry::Refused { .. }
            | Entry::Noise(_)
            | Entry::Head { .. } => None,
        })
    }

    /// How many times something was sent that is no message.
    pub(crate) fn nonsense(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry, Entry::Sent { id: None, method: None })).count()
    }
}
