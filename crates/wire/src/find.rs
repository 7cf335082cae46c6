//! Finds the next byte of a string that does not stand for itself.

use memchr::memchr2;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// So many words are looked at one by one, before a search begins that is faster but has a price.
const WORDS: usize = 6;

/// Where, from `at` on, the next quote, backslash or control character is; the end if there is none.
pub(crate) fn special(text: &[u8], mut at: usize) -> usize {
    for _ in 0..WORDS {
        let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk) else {
            return short(text, at);
        };
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = &text[at..];
    let length = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
    // Without an early exit the compiler makes this loop a wide one.
    if rest[..length].iter().fold(false, |found, byte| found | (*byte < 0x20)) {
        return short(text, at);
    }
    at + length
}

fn short(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let is_special = |byte: &u8| matches!(byte, 0..0x20 | b'"' | b'\\');
    rest.iter().position(is_special).map_or(text.len(), |length| at + length)
}

/// Marks the high bit of the first special byte; what is marked above it may be wrong.
fn marks(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (control | zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5C))) & HIGH
}

/// Marks the first byte that is zero.
fn zero(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_judged_at_every_place() {
        for byte in 0..=u8::MAX {
            for place in 0..80 {
                let mut text = [b'a'; 80];
                text[place] = byte;
                let expect = if byte < 0x20 || byte == b'"' || byte == b'\\' { place } else { text.len() };
                assert_eq!(special(&text, 0), expect, "{byte} at {place}");
                assert_eq!(special(&text, place), expect, "{byte} at {place}");
                assert_eq!(special(&text, place + 1), text.len());
            }
        }
    }

    #[test]
    fn the_first_of_several_counts() {
        assert_eq!(special(b"a\"\\\"\x00\"bcd\"", 0), 1);
        assert_eq!(special(&[b"\xff\x80\x21\x23".repeat(30), b"\x1f\"".to_vec()].concat(), 0), 120);
        assert_eq!(special(b"", 0), 0);
        assert_eq!(special(b"a", 5), 1);
    }
}
