//! Canonical JSON: one text for all ways to write the same value, and its digest.
//!
//! Keys are sorted by code point, strings are escaped only where they must be, and there is no white
//! space. Numbers stay as they are written: `1` and `1.0` are different.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;
use sha2::{Digest, Sha256};

use crate::{
    escape::{self, Piece},
    raw::Raw,
    walk::{string_end, value_end},
};

/// The canonical text of a value.
pub fn canonical(value: &Raw) -> Raw {
    Raw::trusted(text_of(value, &[]).into())
}

/// The SHA-256 of the canonical text of a value.
pub fn digest(value: &Raw) -> [u8; 32] {
    digest_without(value, &[])
}

/// The SHA-256 of the canonical text of a value; of an object as if it had none of these keys.
pub fn digest_without(value: &Raw, keys: &[&str]) -> [u8; 32] {
    Sha256::digest(text_of(value, keys)).into()
}

fn text_of(value: &Raw, without: &[&str]) -> Vec<u8> {
    let text = value.as_bytes();
    let plain = memchr(b'\\', text).is_none();
    // Each object and array has one byte more for a moment.
    let out = Vec::with_capacity(text.len() + 16);
    let mut writer = Writer { text, at: 0, out, plain, members: Vec::new() };
    writer.value(without);
    writer.out
}

/// Writes a value while it reads it, once.
struct Writer<'a> {
    text: &'a [u8],
    /// How much of it was read.
    at: usize,
    out: Vec<u8>,
    /// There is no escape anywhere, so that strings are what they are.
    plain: bool,
    /// Of every object that is not at its end yet.
    members: Vec<Member>,
}

/// A member of an object as it was written: up to and with the comma behind it.
struct Member {
    key: Range<usize>,
    end: usize,
}

impl Writer<'_> {
    /// The value that begins here; of an object those members that have none of these keys.
    fn value(&mut self, without: &[&str]) {
        match self.text.get(self.at) {
            Some(b'{') => self.object(without),
            Some(b'[') => self.array(),
            Some(b'"') => self.string(),
            Some(_) | None => {
                let end = value_end(self.text, self.at);
                self.out.extend_from_slice(&self.text[self.at..end]);
                self.at = end;
            }
        }
    }

    fn object(&mut self, without: &[&str]) {
        let (first, begin) = (self.members.len(), self.out.len() + 1);
        let mut sorted = true;
        self.open(b'{');
        while self.token() {
            let start = self.out.len();
            self.string();
            let key = start + 1..self.out.len() - 1;
            self.token();
            if !without.is_empty() && is_among(&self.key(&key), without) {
                self.out.truncate(start);
                self.at = value_end(self.text, self.at);
                continue;
            }
            self.out.push(b':');
            self.value(&[]);
            self.out.push(b',');
            let before = self.members[first..].last();
            sorted &= before.is_none_or(|before| self.key(&before.key) <= self.key(&key));
            self.members.push(Member { key, end: self.out.len() });
        }
        if !sorted {
            self.sort(first, begin);
        }
        self.members.truncate(first);
        self.close(b'}');
    }

    fn array(&mut self) {
        self.open(b'[');
        while self.token() {
            self.value(&[]);
            self.out.push(b',');
        }
        self.close(b']');
    }

    fn string(&mut self) {
        let string = &self.text[self.at..string_end(self.text, self.at)];
        self.at += string.len();
        if self.plain {
            return self.out.extend_from_slice(string);
        }
        self.out.push(b'"');
        for piece in escape::pieces(&string[1..string.len() - 1]) {
            match piece {
                Piece::Plain(bytes) => self.out.extend_from_slice(bytes),
                Piece::Char(c) => escape::encode_char(c, &mut self.out),
                Piece::Lone(half) => self.out.extend_from_slice(format!("\\u{half:04x}").as_bytes()),
            }
        }
        self.out.push(b'"');
    }

    /// Goes to the next byte that is neither white space nor a separator; `false` where the container ends, and then
    /// behind that.
    fn token(&mut self) -> bool {
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => self.at += 1,
                b'}' | b']' => {
                    self.at += 1;
                    return false;
                }
                _ => return true,
            }
        }
        false
    }

    fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.at += 1;
    }

    /// Ends a container. Only what ends with a comma has something in it.
    fn close(&mut self, bracket: u8) {
        match self.out.last_mut() {
            Some(last) if *last == b',' => *last = bracket,
            Some(_) | None => self.out.push(bracket),
        }
    }

    /// What a key that was written stands for.
    fn key(&self, key: &Range<usize>) -> Cow<'_, [u8]> {
        let key = &self.out[key.clone()];
        if self.plain { Cow::Borrowed(key) } else { escape::decode(key) }
    }

    /// Puts the members of an object in order, of which the first is `begin`.
    fn sort(&mut self, first: usize, begin: usize) {
        let mut members = self.members.split_off(first);
        match self.plain {
            true => {
                members.sort_by(|left, right| self.out[left.key.clone()].cmp(&self.out[right.key.clone()]))
            }
            false => members.sort_by_cached_key(|member| self.key(&member.key).into_owned()),
        }
        let mut sorted = Vec::with_capacity(self.out.len() - begin);
        for Member { key, end } in members {
            sorted.extend_from_slice(&self.out[key.start - 1..end]);
        }
        self.out.truncate(begin);
        self.out.extend_from_slice(&sorted);
    }
}

fn is_among(key: &[u8], keys: &[&str]) -> bool {
    keys.iter().any(|known| known.as_bytes() == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_for_all_ways_to_write_it() {
        #[track_caller]
        fn check(text: &'static str, expect: &str) {
            assert_eq!(canonical(&Raw::literal(text)).as_str(), expect);
        }
        check("{ }", "{}");
        check("[ 1 , 2.0,1E5, -0 ]", "[1,2.0,1E5,-0]");
        check(r#"{"b":1, "a":{"d":null,"c":true}}"#, r#"{"a":{"c":true,"d":null},"b":1}"#);
        check(r#"{"\u0062":1,"a":2}"#, r#"{"a":2,"b":1}"#);
        check(r#""\u0041\/\u00e9\ud83d\ude00""#, r#""A/é😀""#);
        check(r#""\u000a\u001F\u0022\\""#, r#""\n\u001f\"\\""#);
        check(r#""\uD800 \uDFFF""#, r#""\ud800 \udfff""#);
        // By code point, not by UTF-16 unit: U+FF5E is before U+1F600.
        check(r#"{"\ud83d\ude00":1,"\uff5e":2,"":3}"#, r#"{"":3,"～":2,"😀":1}"#);
        // By what a key stands for, not by how it is escaped: `"` is before `#`, and `\` behind it.
        check(r##"{"#":[],"\\":{},"\"":"a,"}"##, r##"{"\"":"a,","#":[],"\\":{}}"##);
        check(
            r#"{"c":[{"b":[],"a":{}},","] , "b":{"z":1,"y":[2 ,3]},"a":[[ ]]}"#,
            r#"{"a":[[]],"b":{"y":[2,3],"z":1},"c":[{"a":{},"b":[]},","]}"#,
        );
        check(r#" "x" "#.trim(), r#""x""#);
    }

    #[test]
    fn the_digest_is_over_the_canonical_text() {
        let hex: String = digest(&Raw::literal("{ }")).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
        assert_ne!(digest(&Raw::literal("1")), digest(&Raw::literal("1.0")));
    }

    #[test]
    fn keys_that_are_left_out_are_as_if_they_were_never_there() {
        #[track_caller]
        fn check(text: &'static str, same: &'static str) {
            let without = digest_without(&Raw::literal(text), &["x", "y"]);
            assert_eq!(without, digest(&Raw::literal(same)), "{text}");
        }
        check(r#"{"b":1,"x":2,"a":{"x":3},"\u0079":4}"#, r#"{"a":{"x":3},"b":1}"#);
        check(r#"{"x":1,"b":2}"#, r#"{"b":2}"#);
        check(r#"{"x":1}"#, "{}");
        check(r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#);
        check(r#"[{"x":1}]"#, r#"[{"x":1}]"#);
    }
}
