//! Canonical JSON: one text for all ways to write the same value, and its digest.
//!
//! Keys are sorted by code point, strings are escaped only where they must be, and there is no white
//! space. Numbers stay as they are written: `1` and `1.0` are different.

use std::borrow::Cow;

use memchr::memchr;
use sha2::{Digest, Sha256};

use crate::{
    escape::{self, Piece},
    raw::{Kind, Raw},
    walk::{self, Member},
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
    let mut writer = Writer { out: Vec::with_capacity(text.len()), plain: memchr(b'\\', text).is_none() };
    match Kind::of(text) {
        Kind::Object => writer.object(text, without),
        Kind::Array | Kind::String | Kind::Null | Kind::Bool | Kind::Number => writer.value(text),
    }
    writer.out
}

struct Writer {
    out: Vec<u8>,
    /// There is no escape anywhere, so that strings are what they are.
    plain: bool,
}

impl Writer {
    fn value(&mut self, text: &[u8]) {
        match Kind::of(text) {
            Kind::Object => self.object(text, &[]),
            Kind::Array => self.array(text),
            Kind::String => self.string(&text[1..text.len() - 1]),
            Kind::Null | Kind::Bool | Kind::Number => self.out.extend_from_slice(text),
        }
    }

    fn object(&mut self, text: &[u8], without: &[&str]) {
        let plain = self.plain;
        let keyed = |member: Member| {
            let key = &text[member.key.clone()];
            (if plain { Cow::Borrowed(key) } else { escape::decode(key) }, member)
        };
        let mut members = walk::members(text).map(keyed).filter(|(key, _)| !is_among(key, without));
        self.out.push(b'{');
        match (members.next(), members.next()) {
            (None, _) => {}
            // Nothing to be sorted.
            (Some((_, only)), None) => self.member(text, only),
            (Some(first), Some(second)) => {
                let mut all: Vec<_> = [first, second].into_iter().chain(members).collect();
                all.sort_by(|(left, _), (right, _)| left.cmp(right));
                for (index, (_, member)) in all.into_iter().enumerate() {
                    if index > 0 {
                        self.out.push(b',');
                    }
                    self.member(text, member);
                }
            }
        }
        self.out.push(b'}');
    }

    fn member(&mut self, text: &[u8], member: Member) {
        self.string(&text[member.key]);
        self.out.push(b':');
        self.value(&text[member.value]);
    }

    fn array(&mut self, text: &[u8]) {
        self.out.push(b'[');
        for (index, element) in walk::elements(text).enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.value(&text[element]);
        }
        self.out.push(b']');
    }

    fn string(&mut self, inside: &[u8]) {
        self.out.push(b'"');
        match self.plain {
            true => self.out.extend_from_slice(inside),
            false => self.pieces(inside),
        }
        self.out.push(b'"');
    }

    fn pieces(&mut self, inside: &[u8]) {
        for piece in escape::pieces(inside) {
            match piece {
                Piece::Plain(bytes) => self.out.extend_from_slice(bytes),
                Piece::Char(c) => escape::encode_char(c, &mut self.out),
                Piece::Lone(half) => self.out.extend_from_slice(format!("\\u{half:04x}").as_bytes()),
            }
        }
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
