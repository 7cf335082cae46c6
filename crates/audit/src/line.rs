//! Records as lines, written by hand into a buffer that is used again.

use std::borrow::Cow;
use std::cell::Cell;

use serde::Serialize;
use toolgate_core::Entry;
use toolgate_wire::{Raw, write::one_line};

use crate::chain::{Chain, hash};
use crate::note::{self, Note};

/// How much of a text is recorded; the digest of a call covers all of it.
const LONGEST_TEXT: usize = 2048;
/// How large recorded arguments may be.
const LONGEST_ARGUMENTS: usize = 64 * 1024;
/// How much room for what is said of a call is kept for the next.
const SAID_KEPT: usize = 4096;
/// How a line ends: this, 64 digits, and [`CLOSE`].
pub(crate) const HASH: &[u8] = b",\"hash\":\"";
/// The last bytes of a line.
pub(crate) const CLOSE: &[u8] = b"\"}";

/// A key behind another member, made by the compiler.
macro_rules! key {
    ($key:literal) => {
        concat!(",\"", $key, "\":")
    };
}

thread_local! {
    /// Where what is said of a call is written.
    static SAID: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Writes what a record says of a call, and gives it to be put in its place in the chain.
pub(crate) fn said(entry: &Entry<'_>, put: impl FnOnce(&[u8])) {
    let mut said = SAID.take();
    said.clear();
    write(entry, &mut said);
    put(&said);
    if said.capacity() <= SAID_KEPT {
        SAID.set(said);
    }
}

fn write(entry: &Entry<'_>, out: &mut Vec<u8>) {
    text(out, key!("principal"), entry.principal.id.as_str());
    if let Some(name) = &entry.client.name {
        text(out, key!("client"), &name.to_string());
    }
    word(out, key!("transport"), entry.client.transport.as_str());
    target(out, entry.target.kind(), entry.name);
    if let Some(source) = entry.source {
        text(out, key!("source"), source.as_str());
    }
    word(out, key!("digest"), entry.digest);
    if let Some(arguments) = entry.arguments {
        self::arguments(out, arguments);
    }
    if let Some(code) = entry.code {
        text(out, key!("code"), code);
    }
    word(out, key!("outcome"), entry.outcome);
    number(out, key!("took_us"), u64::try_from(entry.took.as_micros()).unwrap_or(u64::MAX));
    if let Some(rule) = entry.rule {
        text(out, key!("rule"), rule);
    }
    if let Some(approver) = entry.approver {
        text(out, key!("approver"), approver);
    }
}

/// Writes the next record of a chain, with its line break: one that says this of a call.
pub(crate) fn call(chain: &mut Chain, time_ms: u64, said: &[u8], out: &mut Vec<u8>) {
    open(chain, time_ms, out);
    out.extend_from_slice(said);
    close(chain, out);
}

/// Writes the next record of a chain: one that the audit makes about itself.
pub(crate) fn note(chain: &mut Chain, note: &Note, time_ms: u64, out: &mut Vec<u8>) {
    open(chain, time_ms, out);
    word(out, key!("principal"), note::PRINCIPAL);
    word(out, key!("target"), note.target());
    word(out, key!("outcome"), "complete");
    match note {
        Note::Anchors(heads) => member(out, key!("heads"), heads),
        Note::Pruned { before_ms, chains } => {
            number(out, key!("before_ms"), *before_ms);
            member(out, key!("chains"), chains);
        }
        Note::Lost { calls, refused } => {
            number(out, key!("calls"), *calls);
            number(out, key!("refused"), *refused);
        }
        Note::Torn { chain, after, bytes } => {
            text(out, key!("chain"), chain);
            number(out, key!("after"), *after);
            number(out, key!("bytes"), *bytes);
        }
    }
    close(chain, out);
}

fn open(chain: &Chain, time_ms: u64, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(b"{\"v\":1");
    word(out, key!("writer"), &chain.writer);
    number(out, key!("seq"), chain.seq + 1);
    number(out, key!("time_ms"), time_ms);
}

/// Chains the line, and moves the chain on.
fn close(chain: &mut Chain, out: &mut Vec<u8>) {
    out.extend_from_slice(key!("prev").as_bytes());
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
        return number(out, key!("arguments_bytes"), length as u64);
    }
    out.extend_from_slice(key!("arguments").as_bytes());
    out.extend_from_slice(&one_line(arguments.bytes()));
}

fn target(out: &mut Vec<u8>, kind: &str, name: &str) {
    out.extend_from_slice(key!("target").as_bytes());
    out.push(b'"');
    out.extend_from_slice(kind.as_bytes());
    out.push(b':');
    inside(out, name);
    out.push(b'"');
}

/// A text of ours, which is short and has nothing to escape.
fn word(out: &mut Vec<u8>, key: &str, word: &str) {
    debug_assert!(is_itself(word), "{word}");
    out.extend_from_slice(key.as_bytes());
    out.push(b'"');
    out.extend_from_slice(word.as_bytes());
    out.push(b'"');
}

fn text(out: &mut Vec<u8>, key: &str, text: &str) {
    out.extend_from_slice(key.as_bytes());
    out.push(b'"');
    inside(out, text);
    out.push(b'"');
}

/// A text without its quotes.
fn inside(out: &mut Vec<u8>, text: &str) {
    // Most texts are, and looking for that alone is quick.
    if is_itself(text) {
        return out.extend_from_slice(text.as_bytes());
    }
    let begin = out.len();
    // Neither writing to memory fails nor does a text.
    drop(serde_json::to_writer(&mut *out, &cut(text)));
    out.remove(begin);
    out.pop();
}

fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_TEXT {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(LONGEST_TEXT);
    Cow::Owned(format!("{}…", &text[..end]))
}

/// Whether a text stands in a line as it is: all of it, and without escapes.
pub(crate) fn is_itself(text: &str) -> bool {
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    text.len() <= LONGEST_TEXT && text.bytes().fold(true, |all, byte| all & plain(byte))
}

fn number(out: &mut Vec<u8>, key: &str, number: u64) {
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn member(out: &mut Vec<u8>, key: &str, value: &(impl Serialize + ?Sized)) {
    out.extend_from_slice(key.as_bytes());
    // Neither writing to memory fails nor any of these values, which are texts, numbers and lists of them.
    drop(serde_json::to_writer(out, value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_numbers_are_written_as_json_has_them() {
        for word in ["", "plain ü🦀", "a\"b", "\\", "line\nbreak", "\u{1}", "\"", "\u{7f}"] {
            let mut out = Vec::new();
            text(&mut out, key!("x"), word);
            assert_eq!(str::from_utf8(&out), Ok(&*format!(",\"x\":{}", serde_json::json!(word))));
            out.clear();
            target(&mut out, "tool", word);
            let expect = serde_json::json!(format!("tool:{word}"));
            assert_eq!(str::from_utf8(&out), Ok(&*format!(",\"target\":{expect}")));
        }
        for value in [0, 7, 10, 1_800_000_000_000, u64::MAX] {
            let mut out = Vec::new();
            number(&mut out, key!("x"), value);
            assert_eq!(str::from_utf8(&out), Ok(&*format!(",\"x\":{value}")));
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let mut out = Vec::new();
        target(&mut out, "tool", &"ü".repeat(LONGEST_TEXT));
        let expect = format!(",\"target\":\"tool:{}…\"", "ü".repeat(LONGEST_TEXT / 2));
        assert_eq!(str::from_utf8(&out), Ok(&*expect));
    }
}
