//! Hides secrets in a text that comes in parts, and holds back only what may be the beginning of one.

use memchr::memrchr;

use super::Redactor;
use super::decode::{self, Spelling};
use super::patterns::{DEPTH, Depth, Patterns};

/// So far back an escape may begin, with all backslashes that four levels need.
const FAR: usize = 256;

/// Hides secrets in a text that comes in parts.
pub struct StreamRedactor {
    redactor: Redactor,
    /// What came and is still needed.
    held: Vec<u8>,
    /// So much of it went out or is hidden already, and stays only because another secret may begin in it, or lie on
    /// the line that it is a part of.
    hidden: usize,
}

impl StreamRedactor {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self { redactor, held: Vec::new(), hidden: 0 }
    }

    /// Takes the next part, and gives what can go out.
    pub fn push(&mut self, part: &[u8]) -> Vec<u8> {
        let patterns = self.redactor.load();
        let Some(patterns) = patterns.as_deref() else {
            let mut out = self.finish();
            out.extend_from_slice(part);
            return out;
        };
        self.held.extend_from_slice(part);
        let hold = align(&self.held, hold(patterns, &self.held, DEPTH));
        self.release(patterns, hold, context(&self.held, hold))
    }

    /// Gives what was held back: nothing comes any more.
    pub fn finish(&mut self) -> Vec<u8> {
        let patterns = self.redactor.load();
        let Some(patterns) = patterns.as_deref() else {
            let from = std::mem::take(&mut self.hidden);
            return std::mem::take(&mut self.held).split_off(from);
        };
        self.release(patterns, self.held.len(), self.held.len())
    }

    /// Gives out what is held before `hold`, with what is secret in it replaced, and keeps it from `keep` on.
    fn release(&mut self, patterns: &Patterns, hold: usize, keep: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(hold);
        let (mut copied, mut count) = (self.hidden, 0);
        for piece in patterns.find(&self.held) {
            if piece.start >= hold {
                break;
            }
            if piece.end <= copied {
                continue;
            }
            out.extend_from_slice(self.held.get(copied..piece.start).unwrap_or_default());
            out.extend_from_slice(patterns.marker(piece.owner).as_bytes());
            copied = piece.end;
            count += 1;
        }
        out.extend_from_slice(self.held.get(copied..hold).unwrap_or_default());
        self.held.drain(..keep);
        self.hidden = copied.max(hold).saturating_sub(keep);
        self.redactor.count(count);
        out
    }
}

/// From where a text may be the beginning of a form, in any spelling.
fn hold(patterns: &Patterns, text: &[u8], depth: Depth) -> usize {
    let mut hold = patterns.open(text);
    if let Some(joined) = decode::join(text) {
        let inner = patterns.open(&joined.text);
        hold = hold.min(if inner < joined.text.len() { joined.written_start(inner) } else { text.len() });
    }
    for spelling in Spelling::ALL {
        if !depth.allows(spelling) || memrchr(spelling.lead(), text).is_none() {
            continue;
        }
        let decoded = decode::decode(text, spelling, patterns.reach(), true);
        let inner = self::hold(patterns, &decoded.text, depth.below(spelling, &decoded));
        // Behind the last decoded byte is what could not be read yet, or nothing.
        let end = decoded.open.unwrap_or(text.len());
        let inner = if inner < decoded.text.len() { decoded.written_start(inner) } else { end };
        hold = hold.min(inner);
    }
    hold
}

/// From where on a text tells whether what is held is on a line of base64.
fn context(text: &[u8], hold: usize) -> usize {
    let line = text[..hold].iter().rev().take(FAR).take_while(|byte| decode::in_spelling(**byte)).count();
    align(text, hold - line)
}

/// Goes back so that no escape is cut in two, at whatever depth: what is left would be read differently. Not far,
/// though: nothing but backslashes spells nothing.
fn align(text: &[u8], hold: usize) -> usize {
    let mut start = hold;
    while hold - start < FAR
        && let Some(earlier) = inside_escape(&text[..start])
    {
        start = earlier;
    }
    start
}

/// Where the escape begins that a cut at the end of this text would divide.
fn inside_escape(text: &[u8]) -> Option<usize> {
    if text.last() == Some(&b'\\') || text.last() == Some(&b'%') {
        return Some(text.len() - 1);
    }
    let digits = text.iter().rev().take(6).take_while(|byte| byte.is_ascii_hexdigit()).count();
    // Each of the digits may be the first one; how many are too few for an escape to be complete.
    (0..=digits).find_map(|count| {
        let before = &text[..text.len() - count];
        let leads = [(&b"\\u{"[..], 7), (b"\\u", 4), (b"\\x", 2), (b"%25", 2), (b"%", 2)];
        let cut = leads.iter().find(|(lead, full)| count < *full && before.ends_with(lead));
        cut.map(|(lead, _)| before.len() - lead.len())
    })
}
