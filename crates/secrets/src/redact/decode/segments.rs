//! The parts of a text whose decoding could show a form that the written text does not.
//!
//! Most escapes are a line break or a quote that no form has, or not beside what stands beside them: no form lies
//! across them, at any depth. They cut a text into segments, of which only those with another escape are decoded.

use std::ops::Range;

use memchr::memchr;

use super::{Found, Spelling, known, read};
use crate::redact::reach::Reach;

/// The longest rest of an escape whose backslash is itself escaped in another way: `u{10ffff}`.
const TAIL: usize = 9;

/// Reports the segments worth decoding, where the spelling is undone at most `depth` times.
pub(crate) fn segments(
    text: &[u8],
    spelling: Spelling,
    depth: u32,
    reach: &Reach,
    mut report: impl FnMut(Range<usize>),
) {
    let (mut start, mut at, mut worth) = (0, 0, false);
    // So many bytes behind an escape may be a part of it.
    let mut tail = 0;
    loop {
        if spelling == Spelling::Backslash && !worth {
            let passed = pass(text, at, reach);
            if passed > at {
                (start, at, tail) = (passed, passed, 0);
            }
        }
        let Some(lead) = memchr(spelling.lead(), &text[at..]).map(|length| at + length) else { break };
        let before = || if lead - at <= tail { None } else { literal_before(text, lead) };
        let (end, quiet) = match spelling {
            Spelling::Backslash => backslashes(text, lead, before, depth, reach),
            Spelling::Percent => escape(text, lead, [before(); 2], reach),
        };
        at = end;
        match quiet {
            Quiet::No => (worth, tail) = (true, TAIL),
            Quiet::Barrier { from } => {
                if std::mem::take(&mut worth) {
                    report(start..lead);
                }
                (start, tail) = (from, 0);
            }
            Quiet::Nothing => {}
        }
    }
    if worth {
        report(start..text.len());
    }
}

/// Passes over escapes of which what stands behind tells that no form lies across, as most are, and tells where the
/// last of them ends.
fn pass(text: &[u8], at: usize, reach: &Reach) -> usize {
    let (mut passed, mut from) = (at, at);
    while let Some(word) = text.get(from..).and_then(<[u8]>::first_chunk) {
        // Words do not depend on what is found in those before, so that the processor looks at several at a time.
        let mut marks = marks(u64::from_le_bytes(*word), b'\\');
        while marks != 0 {
            let lead = from + (marks.trailing_zeros() / 8) as usize;
            match text.get(lead + 1..lead + 3) {
                Some(&[letter, behind]) if reach.passes(letter, behind) => passed = lead + 2,
                Some(_) | None => return passed,
            }
            marks &= marks - 1;
        }
        from += size_of::<u64>();
    }
    passed
}

/// The highest bit of each byte of a word that is this one.
fn marks(word: u64, byte: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7F; 8]);
    let others = word ^ u64::from_ne_bytes([byte; 8]);
    // Of each byte: whether any of its lower bits is set, or its highest.
    !(((others & LOW) + LOW) | others | LOW)
}

/// Whether an escape can be passed over.
enum Quiet {
    /// A form may lie across it.
    No,
    /// No form lies across it; `from` here on one may begin.
    Barrier { from: usize },
    /// It is no escape.
    Nothing,
}

/// The byte before a place, if it stands for itself.
fn literal_before(text: &[u8], at: usize) -> Option<u8> {
    let byte = known(at.checked_sub(1).and_then(|before| text.get(before)))?;
    let behind_percent = |from: usize| {
        let before = at.checked_sub(from).map_or(&b""[..], |end| &text[..end]);
        before.ends_with(b"%") || before.ends_with(b"%25")
    };
    // It may be the last digit behind a percent sign, which may be encoded itself, as may be the digit between.
    let between = || at.checked_sub(4).is_some_and(|from| text[from] == b'%') && behind_percent(4);
    (!behind_percent(2) && !between()).then_some(byte)
}

/// A run of backslashes and what it escapes. Each time it is decoded half of it is left, and what follows is escaped
/// when an odd number is.
fn backslashes(
    text: &[u8],
    lead: usize,
    before: impl Fn() -> Option<u8>,
    depth: u32,
    reach: &Reach,
) -> (usize, Quiet) {
    let count = text[lead..].iter().take_while(|byte| **byte == b'\\').count();
    let last = lead + count - 1;
    let letter = text.get(last + 1).copied();
    if letter.is_some_and(|letter| reach.dull(letter)) && (count == 1 || reach.around(b'\\').is_none()) {
        return (last + 2, Quiet::Barrier { from: last + 1 + count % 2 });
    }
    let (before, halvings) = (before(), count.trailing_zeros());
    let (end, quiet) = if halvings < depth {
        // Behind other backslashes one of them stands before, until they are used up.
        let others = if count >> halvings == 1 { None } else { Some(b'\\') };
        escape(text, last, [before, others.or(before)], reach)
    } else {
        (last + 1, Quiet::Barrier { from: last + 1 })
    };
    let behind = if count == 2 { known(letter.as_ref()) } else { None };
    if count > 1 && reach.across(before, b"\\", behind) {
        return (end, Quiet::No);
    }
    match quiet {
        // Before the first halving what follows stands for itself.
        Quiet::Barrier { .. } if halvings > 0 => (end, Quiet::Barrier { from: last + 1 }),
        Quiet::Barrier { .. } | Quiet::No | Quiet::Nothing => (end, quiet),
    }
}

/// One escape, before which one or the other of two bytes stands.
fn escape(text: &[u8], lead: usize, before: [Option<u8>; 2], reach: &Reach) -> (usize, Quiet) {
    let spelling = if text[lead] == b'%' { Spelling::Percent } else { Spelling::Backslash };
    let Found::Escape { taken, bytes, length } = read(&text[lead..], spelling) else {
        return (lead + 1, Quiet::Nothing);
    };
    let (end, character) = (lead + taken, &bytes[..length]);
    // These may be a part of another escape; so may half of a pair, which is read as a character from `0xEF` on.
    let complete =
        !character[0].is_ascii_alphanumeric() && !matches!(character[0], b'\\' | b'%' | b'{' | b'}' | 0xEF);
    let behind = known(text.get(end));
    if !complete || before.iter().any(|before| reach.across(*before, character, behind)) {
        return (end, Quiet::No);
    }
    (end, Quiet::Barrier { from: end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, spelling: Spelling, expect: &[&str]) {
        let reach = Reach::new([&b"pa\"ss/word"[..], b"0123456789"].into_iter());
        let mut found = Vec::new();
        segments(text.as_bytes(), spelling, 4, &reach, |segment| found.push(&text[segment]));
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn only_segments_in_which_a_form_may_be_spelled_are_decoded() {
        let check = |text, expect| check(text, Spelling::Backslash, expect);
        check("pa\"ss/word", &[]);
        check(r"pa\nss\tword", &[]);
        check(r#"say \"pa\"ss\" now"#, &[r#"pa\"ss"#]);
        check(r#"{\"id\":1,\"pass\":2}"#, &[]);
        check(r#"\n{\\\"pa\\\"ss\\/word\\\"}\n"#, &[r#"pa\\\"ss\\/word"#]);
        check(r"\n\u0070a\n\u0041\n", &[r"\u0070a", r"\u0041"]);
        check(r"a\ud83d\ude00b\u00e9c", &[]);
        check(r"a\\ud83d\\ude00b", &[r"a\\ud83d\\ude00b"]);
        check(r"\n\\\\\\\\u0070\n", &[r"\\\\\\\\u0070"]);
        check(r"\n\\\\\\\\\\\\\\\\u0070\n", &[]);
        check(r"\n\", &[]);
        check(r#"\\npa\"ss"#, &[r#"npa\"ss"#]);
        check(r#"\npa\"ss"#, &[r#"pa\"ss"#]);
        check(r#"\n\u0070\"s"#, &[r#"\u0070\"s"#]);
        check(r#"p%61\"ss"#, &[r#"p%61\"ss"#]);
        check(r#"p%2561\"ss"#, &[r#"p%2561\"ss"#]);
        check(r#"p%25%361\"ss"#, &[r#"p%25%361\"ss"#]);
        check(r#"p%%361\"ss"#, &[r#"p%%361\"ss"#]);
        check(r#"p%361\"ss"#, &[]);
        check(r#"\n\u0070 and ten more \"s"#, &["\\u0070 and ten more "]);
    }

    #[test]
    fn bytes_of_a_word_are_found_wherever_they_are() {
        for byte in [0, 1, 0x5B, b'\\', 0x5D, 0x7F, 0x80, 0xDC, 0xFF] {
            for sought in [0, b'\\', 0x80, 0xFF] {
                let word = [byte, sought, byte, 0x5C, sought ^ 0x80, byte, sought, byte];
                let expect = word.map(|byte| if byte == sought { 0x80 } else { 0 });
                assert_eq!(marks(u64::from_le_bytes(word), sought).to_le_bytes(), expect, "{word:x?}");
            }
        }
    }

    #[test]
    fn percent_signs_too() {
        let check = |text, expect| check(text, Spelling::Percent, expect);
        check("100% of %20 %0A", &[]);
        check("%20%70a%22ss%20x%20", &["%70a%22ss"]);
        check("%20ss%2Fword%20ss%2Fx", &["ss%2Fword"]);
        check("%5C", &["%5C"]);
    }
}
