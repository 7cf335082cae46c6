//! The scanner accepts what serde_json accepts, but for what it refuses on purpose.

use std::{cell::Cell, collections::HashSet, fmt, rc::Rc};

use bytes::Bytes;
use proptest::{collection, prelude::*, sample::Index};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use toolgate_wire::{Fault, MAX_DEPTH, Raw};

use crate::json::{json, written};

/// What serde_json, which knows nothing of our rules, says of a text.
fn expected(text: &[u8]) -> Result<(), &'static [Fault]> {
    // What is not JSON may have another fault before that.
    let not_json: &[Fault] =
        &[Fault::Syntax, Fault::Truncated, Fault::Depth, Fault::DuplicateKey, Fault::LoneSurrogate];
    let text = str::from_utf8(text).map_err(|_| [Fault::Utf8].as_slice())?;
    serde_json::from_str::<IgnoredAny>(text).map_err(|_| not_json)?;
    let duplicate = Rc::new(Cell::new(false));
    let mut reader = serde_json::Deserializer::from_str(text);
    let strict = Strict { duplicate: Rc::clone(&duplicate) }.deserialize(&mut reader);
    if duplicate.get() {
        return Err(&[Fault::DuplicateKey, Fault::LoneSurrogate]);
    }
    // Whatever serde_json refuses only when it reads the keys is a key with a lone surrogate.
    strict.map_err(|_| [Fault::LoneSurrogate].as_slice())
}

#[derive(Clone)]
struct Strict {
    duplicate: Rc<Cell<bool>>,
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // Lone surrogates in values are nothing to us, so only containers are read.
        let raw: &serde_json::value::RawValue = serde::Deserialize::deserialize(deserializer)?;
        let mut reader = serde_json::Deserializer::from_str(raw.get());
        let custom = serde::de::Error::custom;
        match raw.get().as_bytes() {
            [b'{', ..] => reader.deserialize_map(self).map_err(custom),
            [b'[', ..] => reader.deserialize_seq(self).map_err(custom),
            _ => Ok(()),
        }
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a container")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if !keys.insert(key) {
                self.duplicate.set(true);
            }
            map.next_value_seed(self.clone())?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(self.clone())?.is_some() {}
        Ok(())
    }
}

#[track_caller]
fn check(text: &[u8]) {
    let found = Raw::parse(Bytes::copy_from_slice(text)).map_err(|malformed| malformed.kind);
    let shown = String::from_utf8_lossy(text);
    match (found, expected(text)) {
        (Ok(raw), Ok(())) => assert_eq!(raw.as_str().as_bytes(), text.trim_ascii(), "{shown}"),
        (Err(found), Err(expected)) => {
            assert!(expected.contains(&found), "{shown}: {found:?}, not {expected:?}")
        }
        (found, expected) => {
            assert_eq!(found.is_ok(), expected.is_ok(), "{shown}: {found:?}, not {expected:?}")
        }
    }
}

#[derive(Clone, Debug)]
enum Change {
    Replace(u8),
    Insert(u8),
    Remove,
    Cut,
}

fn change() -> impl Strategy<Value = Change> {
    // Bytes that mean something in JSON are more telling than others.
    let byte =
        prop_oneof![any::<u8>(), proptest::sample::select(br#"{}[],:"\u0019deE+-. tfn/abDd8"#.to_vec())];
    prop_oneof![
        byte.clone().prop_map(Change::Replace),
        byte.prop_map(Change::Insert),
        Just(Change::Remove),
        Just(Change::Cut)
    ]
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_judged_as_by_serde_json(text in collection::vec(any::<u8>(), 0..64)) {
        check(&text);
    }

    #[test]
    fn bytes_that_look_like_json_are_judged_as_by_serde_json(text in r#"[{}\[\]":,0-9eE+.\\u tfn-]{0,24}"#) {
        check(text.as_bytes());
    }

    #[test]
    fn valid_json_is_accepted((_, text) in written(json())) {
        check(text.as_bytes());
        prop_assert!(Raw::parse(text.into()).is_ok());
    }

    #[test]
    fn changed_json_is_judged_as_by_serde_json(
        (_, text) in written(json()),
        changes in collection::vec((any::<Index>(), change()), 1..4),
    ) {
        let mut text = text.into_bytes();
        for (index, change) in changes {
            let at = index.index(text.len() + 1);
            match change {
                Change::Replace(byte) if at < text.len() => text[at] = byte,
                Change::Remove if at < text.len() => drop(text.remove(at)),
                Change::Insert(byte) => text.insert(at, byte),
                Change::Cut => text.truncate(at),
                Change::Replace(_) | Change::Remove => {}
            }
        }
        check(&text);
    }

    #[test]
    fn depth_alone_decides_about_brackets(depth in 0..2 * MAX_DEPTH) {
        let text = format!("{}0{}", "[".repeat(depth), "]".repeat(depth));
        prop_assert_eq!(Raw::parse(text.into()).is_ok(), depth <= MAX_DEPTH);
    }

    #[test]
    fn parts_are_what_serde_json_finds((_, text) in written(json())) {
        let raw = Raw::parse(text.into()).unwrap();
        let value: serde_json::Value = match raw.to() {
            Ok(value) => value,
            // A number like 1e400 is too large for it.
            Err(_) => return Ok(()),
        };
        let entries: Vec<_> = raw.entries().map(|(key, value)| (key.into_owned(), value.to().unwrap())).collect();
        let expected: Vec<_> = value.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
        prop_assert_eq!(&entries, &expected);
        let items: Vec<serde_json::Value> = raw.items().map(|item| item.to().unwrap()).collect();
        prop_assert_eq!(items.as_slice(), value.as_array().map_or(&[][..], Vec::as_slice));
        for (key, expected) in entries {
            prop_assert_eq!(raw.get(&key).map(|value| value.to().unwrap()), Some(expected));
        }
        prop_assert_eq!(raw.as_string(), value.as_str().map(Into::into));
        prop_assert_eq!(raw.as_u64(), value.as_u64());
    }
}
