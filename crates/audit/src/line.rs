//! Records as lines, written by hand into a buffer that is used again.

use std::borrow::Cow;
use std::io::Write as _;

use serde::Serialize;
use toolgate_core::Entry;
use toolgate_wire::{Raw, write::one_line};

use crate::chain::{Chain, hash};
use crate::note::{self, Note};

/// How much of a text is recorded; the digest of a call covers all of it.
const LONGEST_TEXT: usize = 2048;
/// How large recorded arguments may be.
const LONGEST_ARGUMENTS: usize = 64 * 1024;
/// How a line ends: this, 64 digits, and [`CLOSE`].
pub(crate) const HASH: &[u8] = b",\"hash\":\"";
/// The last bytes of a line.
pub(crate) const CLOSE: &[u8] = b"\"}";

/// Writes the next record of a chain, with its line break.
pub(crate) fn call(chain: &mut Chain, entry: &Entry<'_>, out: &mut Vec<u8>) {
    open(chain, entry.time_ms, out);
    text(out, "principal", entry.principal.id.as_str());
    if let Some(name) = &entry.client.name {
        text(out, "client", &name.to_string());
    }
    text(out, "transport", entry.client.transport.as_str());
    text(out, "target", &target(entry.target.kind(), entry.name));
    if let Some(source) = entry.source {
        text(out, "source", source.as_str());
    }
    text(out, "digest", entry.digest);
    if let Some(arguments) = entry.arguments {
        self::arguments(out, arguments);
    }
    text(out, "outcome", entry.outcome);
    number(out, "took_us", u64::try_from(entry.took.as_micros()).unwrap_or(u64::MAX));
    if let Some(rule) = entry.rule {
        text(out, "rule", rule);
    }
    if let Some(approver) = entry.approver {
        text(out, "approver", approver);
    }
    close(chain, out);
}

/// Writes the next record of a chain: one that the audit makes about itself.
pub(crate) fn note(chain: &mut Chain, note: &Note, time_ms: u64, out: &mut Vec<u8>) {
    open(chain, time_ms, out);
    text(out, "principal", note::PRINCIPAL);
    text(out, "target", note.target());
    text(out, "outcome", "complete");
    match note {
        Note::Anchors(heads) => member(out, "heads", heads),
        Note::Pruned { before_ms, chains } => {
            number(out, "before_ms", *before_ms);
            member(out, "chains", chains);
        }
        Note::Lost { calls, refused } => {
            number(out, "calls", *calls);
            number(out, "refused", *refused);
        }
        Note::Torn { chain, after, bytes } => {
            text(out, "chain", chain);
            number(out, "after", *after);
            number(out, "bytes", *bytes);
        }
    }
    close(chain, out);
}

fn open(chain: &Chain, time_ms: u64, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(b"{\"v\":1");
    text(out, "writer", &chain.writer);
    number(out, "seq", chain.seq + 1);
    number(out, "time_ms", time_ms);
}

/// Chains the line, and moves the chain on.
fn close(chain: &mut Chain, out: &mut Vec<u8>) {
    key(out, "prev");
    out.push(b'"');
    out.extend_from_slice(&chain.head);
    out.push(b'"');
    let hash = hash(out);
    out.extend_from_slice(HASH);
    out.extend_from_slice(&hash);
    out.extend_from_slice(CLOSE);
    out.push(b'\n');
    chain.head = hash;
    chain.seq += 1;
}

fn arguments(out: &mut Vec<u8>, arguments: &Raw) {
    let length = arguments.as_bytes().len();
    if length > LONGEST_ARGUMENTS {
        return number(out, "arguments_bytes", length as u64);
    }
    key(out, "arguments");
    out.extend_from_slice(&one_line(arguments.bytes()));
}

/// A target as rules and searches write it.
fn target(kind: &str, name: &str) -> String {
    let mut target = String::with_capacity(kind.len() + 1 + name.len().min(LONGEST_TEXT));
    target.push_str(kind);
    target.push(':');
    target.push_str(&cut(name));
    target
}

fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_TEXT {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(LONGEST_TEXT);
    Cow::Owned(format!("{}…", &text[..end]))
}

fn key(out: &mut Vec<u8>, key: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn text(out: &mut Vec<u8>, name: &str, text: &str) {
    member(out, name, &*cut(text));
}

fn number(out: &mut Vec<u8>, name: &str, number: u64) {
    key(out, name);
    // Writing to memory does not fail.
    drop(write!(out, "{number}"));
}

fn member(out: &mut Vec<u8>, name: &str, value: &(impl Serialize + ?Sized)) {
    key(out, name);
    // Neither writing to memory fails nor any of these values, which are texts, numbers and lists of them.
    drop(serde_json::to_writer(out, value));
}
