//! All that was said on one connection, in order.

use std::cell::LazyCell;

use bytes::Bytes;
use serde_json::Value;
use toolgate_wire::{Frame, Version, code};

use crate::notes::quote;

/// How much is kept of what is heard on one connection, in bytes of memory.
pub(crate) const MOST_KEPT: usize = 256 * 1024 * 1024;

/// How many messages of one batch are told that are none; a report would not show more.
const REFUSALS: usize = 100;

/// What a value, and what an object or array, takes beside its text once it is read.
const VALUE: usize = 200;
const CONTAINER: usize = 640;

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
    /// How much is kept.
    kept: usize,
}

impl Transcript {
    /// Notes what came from the server: the messages in it, or none where it would be more than is kept.
    pub(crate) fn take(&mut self, text: &Bytes) -> Option<Vec<Value>> {
        self.kept = self.kept.saturating_add(weight(text));
        if self.kept > MOST_KEPT {
            return None;
        }
        let read = |text: &[u8]| serde_json::from_slice::<Value>(text).unwrap_or_default();
        let quoted = LazyCell::new(|| quote(&String::from_utf8_lossy(text)));
        let refused = |why: String| Entry::Refused { text: quoted.clone(), why };
        match toolgate_wire::parse(text.clone()) {
            Ok(Frame::One(_)) => {
                let message = read(text);
                self.entries.push(Entry::Heard(message.clone()));
                Some(vec![message])
            }
            Ok(Frame::Batch(items)) => {
                for refusal in items.into_iter().filter_map(Result::err).take(REFUSALS) {
                    self.entries.push(refused(refusal.message));
                }
                let messages = read(text).as_array().cloned().unwrap_or_default();
                self.entries.extend(messages.iter().cloned().map(Entry::Heard));
                Some(messages)
            }
            Err(refusal) if refusal.code == code::PARSE => {
                self.entries.push(Entry::Noise(quoted.clone()));
                Some(Vec::new())
            }
            Err(refusal) => {
                self.entries.push(refused(refusal.message));
                // It may still be the answer that somebody waits for.
                Some(vec![read(text)])
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

/// What a text takes once it is read, roughly and rather more than less: a few letters can be a whole object.
fn weight(text: &[u8]) -> usize {
    let (mut weight, mut quoted, mut escaped) = (text.len(), false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b',' => weight += VALUE,
            b'{' | b'[' => weight += CONTAINER,
            _ => {}
        }
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_weighs_what_it_becomes() {
        #[track_caller]
        fn check(text: &str, expect: usize) {
            assert_eq!(weight(text.as_bytes()), text.len() + expect, "{text}");
        }
        check("", 0);
        check(r#"{"a": "[{,\"[{,\\"}"#, CONTAINER);
        check("[1, 2, {}]", 2 * CONTAINER + 2 * VALUE);
        check("\\\"[", 0);
    }

    #[test]
    fn more_than_is_kept_of_a_conversation_is_not_read() {
        let mut transcript = Transcript::default();
        assert_eq!(
            transcript.take(&Bytes::from_static(b"{\"a\": 1}")).map(|messages| messages.len()),
            Some(1)
        );
        let many = Bytes::from(format!("[{}]", vec!["1"; 400_000].join(",")));
        // Every one of them is no message, and the text is quoted with each.
        assert_eq!(transcript.take(&many).map(|messages| messages.len()), Some(400_000));
        assert!((0..3).any(|_| transcript.take(&many).is_none()));
        assert!(transcript.entries.len() < 1_300_000);
    }
}
