//! Canonical JSON: one text for all ways to write the same value, and its digest.
//!
//! Keys are sorted by code point, strings are escaped only where they must be, and there is no white
//! space. Numbers stay as they are written: `1` and `1.0` are different.

use sha2::{Digest, Sha256};

use crate::{
    escape::{self, Piece},
    raw::{Kind, Raw},
    walk,
};

/// The canonical text of a value.
pub fn canonical(value: &Raw) -> Raw {
    let mut out = Vec::with_capacity(value.as_bytes().len());
    write(value.as_bytes(), &mut out);
    Raw::trusted(out.into())
}

/// The SHA-256 of the canonical text of a value.
pub fn digest(value: &Raw) -> [u8; 32] {
    Sha256::digest(canonical(value).as_bytes()).into()
}

fn write(text: &[u8], out: &mut Vec<u8>) {
    match Kind::of(text) {
        Kind::Object => object(text, out),
        Kind::Array => array(text, out),
        Kind::String => string(&text[1..text.len() - 1], out),
        Kind::Null | Kind::Bool | Kind::Number => out.extend_from_slice(text),
    }
}

fn object(text: &[u8], out: &mut Vec<u8>) {
    let mut members: Vec<_> =
        walk::members(text).map(|member| (escape::decode(&text[member.key.clone()]), member)).collect();
    members.sort_by(|(left, _), (right, _)| left.cmp(right));
    out.push(b'{');
    for (index, (_, member)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        string(&text[member.key], out);
        out.push(b':');
        write(&text[member.value], out);
    }
    out.push(b'}');
}

fn array(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, element) in walk::elements(text).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(&text[element], out);
    }
    out.push(b']');
}

fn string(inside: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for piece in escape::pieces(inside) {
        match piece {
            Piece::Plain(bytes) => out.extend_from_slice(bytes),
            Piece::Char(c) => escape::encode_char(c, out),
            Piece::Lone(half) => out.extend_from_slice(format!("\\u{half:04x}").as_bytes()),
        }
    }
    out.push(b'"');
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
}
