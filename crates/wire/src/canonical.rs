//! Canonical JSON: one text for all ways to write the same value, and its digest.
//!
//! Keys are sorted by code point, strings are escaped only where they must be, and there is no white
//! space. Numbers stay as they are written: `1` and `1.0` are different.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::{
    escape::{self, Piece},
    find::special,
    raw::Raw,
    walk::{string_end, value_end},
};

/// How much room is kept for the next text.
const KEPT: usize = 16 * 1024;

thread_local! {
    /// Where texts are written whose digest alone is wanted.
    static ROOM: Cell<Room> = const { Cell::new(Room { out: Vec::new(), members: Vec::new(), sorted: Vec::new() }) };
}

/// The canonical text of a value.
pub fn canonical(value: &Raw) -> Raw {
    Raw::trusted(write(value, &[], Room::default()).out.into())
}

/// The SHA-256 of the canonical text of a value.
pub fn digest(value: &Raw) -> [u8; 32] {
    digest_without(value, &[])
}

/// The SHA-256 of the canonical text of a value; of an object as if it had none of these keys.
pub fn digest_without(value: &Raw, keys: &[&str]) -> [u8; 32] {
    let room = write(value, keys, ROOM.take());
    let digest = Sha256::digest(&room.out).into();
    if room.out.capacity() <= KEPT {
        ROOM.set(room);
    }
    digest
}

fn write(value: &Raw, without: &[&str], mut room: Room) -> Room {
    let text = value.as_bytes();
    room.out.clear();
    // Each object and array has one byte more for a moment.
    room.out.reserve(text.len() + 16);
    let mut writer = Writer { text, at: 0, plain: true, room };
    writer.value(without);
    writer.room
}

/// Writes a value while it reads it, once.
struct Writer<'a> {
    text: &'a [u8],
    /// How much of it was read.
    at: usize,
    /// There was no escape anywhere, so that keys are what they are.
    plain: bool,
    room: Room,
}

/// Where it is written.
#[derive(Default)]
struct Room {
    out: Vec<u8>,
    /// Of every object that is not at its end yet.
    members: Vec<Member>,
    /// The members of an object in another order.
    sorted: Vec<u8>,
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
                self.room.out.extend_from_slice(&self.text[self.at..end]);
                self.at = end;
            }
        }
    }

    fn object(&mut self, without: &[&str]) {
        let (first, begin) = (self.room.members.len(), self.room.out.len() + 1);
        let mut sorted = true;
        self.open(b'{');
        while self.token() {
            let start = self.room.out.len();
            self.string();
            let key = start + 1..self.room.out.len() - 1;
            self.token();
            if !without.is_empty() && is_among(&self.key(&key), without) {
                self.room.out.truncate(start);
                self.at = value_end(self.text, self.at);
                continue;
            }
            self.room.out.push(b':');
            self.value(&[]);
            self.room.out.push(b',');
            let before = self.room.members[first..].last();
            sorted &= before.is_none_or(|before| self.key(&before.key) <= self.key(&key));
            self.room.members.push(Member { key, end: self.room.out.len() });
        }
        if !sorted {
            self.sort(first, begin);
        }
        self.room.members.truncate(first);
        self.close(b'}');
    }

    fn array(&mut self) {
        self.open(b'[');
        while self.token() {
            self.value(&[]);
            self.room.out.push(b',');
        }
        self.close(b']');
    }

    fn string(&mut self) {
        let close = special(self.text, self.at + 1);
        let plain = self.text.get(close) == Some(&b'"');
        let end = if plain { close + 1 } else { string_end(self.text, self.at) };
        let string = &self.text[self.at..end];
        self.at = end;
        if plain {
            return self.room.out.extend_from_slice(string);
        }
        self.plain = false;
        self.room.out.push(b'"');
        for piece in escape::pieces(&string[1..string.len() - 1]) {
            match piece {
                Piece::Plain(bytes) => self.room.out.extend_from_slice(bytes),
                Piece::Char(c) => escape::encode_char(c, &mut self.room.out),
                Piece::Lone(half) => self.room.out.extend_from_slice(format!("\\u{half:04x}").as_bytes()),
            }
        }
        self.room.out.push(b'"');
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
        self.room.out.push(bracket);
        self.at += 1;
    }

    /// Ends a container. Only what ends with a comma has something in it.
    fn close(&mut self, bracket: u8) {
        match self.room.out.last_mut() {
            Some(last) if *last == b',' => *last = bracket,
            Some(_) | None => self.room.out.push(bracket),
        }
    }

    /// What a key that was written stands for.
    fn key(&self, key: &Range<usize>) -> Cow<'_, [u8]> {
        let key = &self.room.out[key.clone()];
        if self.plain { Cow::Borrowed(key) } else { escape::decode(key) }
    }

    /// Puts the members of an object in order, of which the first begins at `begin`.
    fn sort(&mut self, first: usize, begin: usize) {
        let Room { out, members, sorted } = &mut self.room;
        let members = &mut members[first..];
        match self.plain {
            true => members.sort_by(|left, right| out[left.key.clone()].cmp(&out[right.key.clone()])),
            false => {
                members.sort_by_cached_key(|member| escape::decode(&out[member.key.clone()]).into_owned())
            }
        }
        sorted.clear();
        for Member { key, end } in members {
            sorted.extend_from_slice(&out[key.start - 1..*end]);
        }
        out.truncate(begin);
        out.extend_from_slice(sorted);
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
