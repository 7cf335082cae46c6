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
    text(out, "principal", entry.principal.id.as_str());
    if let Some(name) = &entry.client.name {
        text(out, "client", &name.to_string());
    }
    word(out, "transport", entry.client.transport.as_str());
    target(out, entry.target.kind(), entry.name);
    if let Some(source) = entry.source {
        text(out, "source", source.as_str());
    }
    word(out, "digest", entry.digest);
    if let Some(arguments) = entry.arguments {
        self::arguments(out, arguments);
    }
    if let Some(code) = entry.code {
        text(out, "code", code);
    }
    word(out, "outcome", entry.outcome);
    number(out, "took_us", u64::try_from(entry.took.as_micros()).unwrap_or(u64::MAX));
    if let Some(rule) = entry.rule {
        text(out, "rule", rule);
    }
    if let Some(approver) = entry.approver {
        text(out, "approver", approver);
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
    word(out, "writer", &chain.writer);
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

/// A target as rules and searches write it: `kind:name`.
fn target(out: &mut Vec<u8>, kind: &str, name: &str) {
    key(out, "target");
    out.push(b'"');
    out.extend_from_slice(kind.as_bytes());
    out.push(b':');
    inside(out, &cut(name));
    out.push(b'"');
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

/// A text of ours, which is short and has nothing to escape.
fn word(out: &mut Vec<u8>, name: &str, word: &str) {
    debug_assert!(is_plain(word) && word.len() <= LONGEST_TEXT, "{word}");
    key(out, name);
    out.push(b'"');
    out.extend_from_slice(word.as_bytes());
    out.push(b'"');
}

fn text(out: &mut Vec<u8>, name: &str, text: &str) {
    key(out, name);
    out.push(b'"');
    inside(out, &cut(text));
    out.push(b'"');
}

/// A text without its quotes.
fn inside(out: &mut Vec<u8>, text: &str) {
    // Most texts are plain, and looking for that alone is quick.
    if is_plain(text) {
        return out.extend_from_slice(text.as_bytes());
    }
    let begin = out.len();
    // Neither writing to memory fails nor does a text.
    drop(serde_json::to_writer(&mut *out, text));
    out.remove(begin);
    out.pop();
}

fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    text.bytes().fold(true, |all, byte| all & plain(byte))
}

fn number(out: &mut Vec<u8>, name: &str, mut number: u64) {
    key(out, name);
    let mut digits = [b'0'; 20];
    let mut begin = digits.len();
    while number > 0 || begin == digits.len() {
        begin -= 1;
        digits[begin] += (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[begin..]);
}

fn member(out: &mut Vec<u8>, name: &str, value: &(impl Serialize + ?Sized)) {
    key(out, name);
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
            text(&mut out, "x", word);
            assert_eq!(str::from_utf8(&out), Ok(&*format!(",\"x\":{}", serde_json::json!(word))));
            out.clear();
            target(&mut out, "tool", word);
            let expect = serde_json::json!(format!("tool:{word}"));
            assert_eq!(str::from_utf8(&out), Ok(&*format!(",\"target\":{expect}")));
        }
        for value in [0, 7, 10, 1_800_000_000_000, u64::MAX] {
            let mut out = Vec::new();
            number(&mut out, "x", value);
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
