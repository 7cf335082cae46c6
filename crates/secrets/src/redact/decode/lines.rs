//! Base64 that is broken into lines, as programs and mail write it.
//!
//! A break counts where a whole line stands before it, so that all other text is passed over in strides.

use std::ops::Range;

use memchr::memchr2;

use super::{Decoded, Mark};

/// So many characters of base64 are a line, if a break follows. Programs write 60, 64 or 76.
const LINE: usize = 48;
/// How many bytes are looked at, and how far apart.
const PROBE: usize = 16;
const STRIDE: usize = 32;
const _: () = assert!(STRIDE + PROBE <= LINE, "a line holds a probe, wherever it begins");

/// Reports the parts of a text that may be lines of base64, however their breaks are spelled.
pub(crate) fn lines(text: &[u8], mut report: impl FnMut(Range<usize>)) {
    let (mut at, mut floor) = (0, 0);
    while let Some(probe) = dense(text, at) {
        // Some write a slash behind a backslash, or as `%2F`.
        let start = run_start(text, floor, probe, in_escaped);
        let run = start..run_end(text, probe, in_escaped);
        if run.len() < LINE {
            at = probe + STRIDE;
            continue;
        }
        let escaped = memchr2(b'\\', b'%', &text[run.clone()]).map_or(run.end, |length| run.start + length);
        let end = lines_end(text, escaped);
        if end > escaped {
            report(run_start(text, floor, start, in_spelling)..end);
        }
        (at, floor) = (end.max(run.end), end.max(run.end));
    }
}

/// A text without the breaks behind lines of base64, and the white space that follows them; none if it has none.
pub(crate) fn join(text: &[u8]) -> Option<Decoded> {
    let mut out: Option<Decoded> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(next) = memchr2(b'\n', b'\r', &text[at..]) {
        let from = at + next;
        let taken = text[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        at = from + taken;
        if run_start(text, from.saturating_sub(LINE), from, in_base64) + LINE > from {
            continue;
        }
        let joined = out.get_or_insert_with(|| Decoded::of(text.len()));
        joined.text.extend_from_slice(&text[copied..from]);
        let taken = u32::try_from(taken).unwrap_or(u32::MAX);
        joined.marks.push(Mark { at: joined.text.len(), from, length: 0, taken });
        copied = at;
    }
    let mut joined = out?;
    joined.text.extend_from_slice(&text[copied..]);
    Some(joined)
}

/// The next place, in strides, where no byte is a space or a quote, as most text has them, or comes before these.
fn dense(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let bytes: &[u8; PROBE] = text.get(at..)?.first_chunk()?;
        let word = |from: usize| bytes[from..].first_chunk().copied().map_or(0, u64::from_le_bytes);
        if (lesser(word(0)) | lesser(word(PROBE / 2))) == 0 {
            return Some(at);
        }
        at += STRIDE;
    }
}

/// Whether any byte of a word comes before `%`, the first that base64 with escapes has: some bit is set then.
fn lesser(word: u64) -> u64 {
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    word.wrapping_sub(u64::from_ne_bytes([b'%'; 8])) & !word & HIGH
}

/// Where such bytes begin that go up to a place, not before `floor`.
fn run_start(text: &[u8], floor: usize, to: usize, such: impl Fn(u8) -> bool) -> usize {
    to - text[floor..to].iter().rev().take_while(|byte| such(**byte)).count()
}

/// Where such bytes end that stand at a place.
fn run_end(text: &[u8], from: usize, such: impl Fn(u8) -> bool) -> usize {
    // Images are nothing but base64: the processor looks at many bytes at a time if none of them decides.
    let all = |chunk: &&[u8]| chunk.iter().fold(true, |all, byte| all & such(*byte));
    let at = from + text[from..].chunks_exact(64).take_while(all).count() * 64;
    at + text[at..].iter().take_while(|byte| such(**byte)).count()
}

/// Where lines end whose first ends here.
fn lines_end(text: &[u8], line: usize) -> usize {
    let (mut at, mut end) = (line, line);
    while let Some(byte) = text.get(at) {
        if in_base64(*byte) {
            at = run_end(text, at, in_base64);
            end = at;
        } else if in_spelling(*byte) {
            at += 1;
        } else if matches!(byte, b' ' | b'\t') && ends_break(&text[line..at]) {
            at += text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        } else {
            break;
        }
    }
    end
}

/// Whether a text ends with a break, spelled in a way behind which lines may be indented.
fn ends_break(text: &[u8]) -> bool {
    matches!(text, [.., b'\n' | b'\r'] | [.., b'\\', b'n' | b'r'])
}

/// Whether base64 with escapes and breaks has a byte.
pub(crate) fn in_spelling(byte: u8) -> bool {
    in_escaped(byte) || matches!(byte, b'\n' | b'\r')
}

/// Whether base64 with escapes has a byte.
fn in_escaped(byte: u8) -> bool {
    in_base64(byte) | (byte == b'\\') | (byte == b'%')
}

/// Whether one of the alphabets has a byte.
fn in_base64(byte: u8) -> bool {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    letter | digit | (byte == b'+') | (byte == b'/') | (byte == b'-') | (byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2";

    #[test]
    fn only_lines_of_base64_are_looked_at() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            // Wherever it stands between the strides.
            for before in 0..STRIDE {
                let text = format!("{}{}", " ".repeat(before), text.replace('@', WHOLE));
                let mut found = Vec::new();
                lines(text.as_bytes(), |part| found.push(&text[part]));
                let expect: Vec<String> = expect.iter().map(|part| part.replace('@', WHOLE)).collect();
                assert_eq!(found, expect, "{text}");
            }
        }
        check("", &[]);
        check(
            "a line of prose\nand another, of many a word, and a_long_name_in_between_the_two_of_them\n",
            &[],
        );
        check("@", &[]);
        check("@ @\"\\\"@ @\\", &[]);
        check("@\nabc", &["@\nabc"]);
        check("@\r\n@\r\nab== @\n", &["@\r\n@\r\nab"]);
        check("is @\n  \tabc def", &["@\n  \tabc"]);
        check(r"@\n@\n", &[r"@\n@\n"]);
        check(r"@\\r\\n  ab, @%0Aab", &[r"@\\r\\n  ab", "@%0Aab"]);
        check(r"ab\/@\n@", &[r"ab\/@\n@"]);
        check(
            &format!(r"{}\/{}\nab", &WHOLE[..30], &WHOLE[..30]),
            &[&format!(r"{}\/{}\nab", &WHOLE[..30], &WHOLE[..30])],
        );
    }

    #[test]
    fn lines_are_joined_and_lead_back_to_where_they_stood() {
        #[track_caller]
        fn check(text: &str, expect: Option<&str>) {
            let (text, expect) = (text.replace('@', WHOLE), expect.map(|text| text.replace('@', WHOLE)));
            let joined = join(text.as_bytes());
            let shown = joined.as_ref().map(|joined| String::from_utf8_lossy(&joined.text).into_owned());
            assert_eq!(shown, expect);
        }
        check("@ab", None);
        check("short\nlines\r\n", None);
        check("@\n@\r\n  ab\ncd", Some("@@ab\ncd"));
        check("@\n", Some("@"));
        let text = format!("{WHOLE}\r\n{WHOLE}\n{}ab", " ".repeat(300));
        let joined = join(text.as_bytes()).unwrap();
        let length = WHOLE.len();
        assert_eq!(joined.written(length - 2..length), length - 2..length);
        assert_eq!(joined.written(length - 2..length + 2), length - 2..length + 4);
        assert_eq!(joined.written(length..length + 2), length + 2..length + 4);
        assert_eq!(&text[joined.written(2 * length..2 * length + 2)], "ab");
    }
}
