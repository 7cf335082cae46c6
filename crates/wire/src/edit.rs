//! Edits single keys of an object, and leaves every other byte as it was written.

use std::{borrow::Cow, ops::Range};

use bytes::Bytes;

use crate::{escape, raw::Raw, walk};

/// An object that is being edited.
///
/// Anything but an object is edited as if it were `{}`; as long as nothing changes, it stays.
pub struct Edit<'a> {
    raw: &'a Raw,
    slots: Vec<Slot<'a>>,
    changed: bool,
}

/// A member of the object.
struct Slot<'a> {
    key: Cow<'a, str>,
    /// What stands in front of the value, as it was written: key and colon with all white space.
    /// An added member has none.
    lead: Option<Range<usize>>,
    value: Raw,
    /// The white space behind the value.
    trail: Range<usize>,
}

impl<'a> Edit<'a> {
    /// Begins to edit.
    pub fn new(raw: &'a Raw) -> Self {
        let text = raw.as_bytes();
        let mut slots: Vec<Slot<'a>> = Vec::new();
        let mut from = 1;
        for member in walk::members(text) {
            let key = escape::decode_str(&text[member.key]).unwrap_or_default();
            let trail = member.value.end..space_end(text, member.value.end);
            let lead = Some(from..member.value.start);
            // Behind the white space is a comma, or the end of the object.
            from = trail.end + 1;
            slots.push(Slot { key, lead, value: raw.part(member.value), trail });
        }
        Self { raw, slots, changed: false }
    }

    /// Sets a key: in its place if it is there, else at the end.
    #[must_use]
    pub fn set(mut self, key: &str, value: Raw) -> Self {
        match self.slot(key) {
            Some(slot) if slot.value == value => {}
            Some(slot) => {
                slot.value = value;
                self.changed = true;
            }
            None => self.add(key, value),
        }
        self
    }

    /// Sets a key at the end, wherever it was.
    #[must_use]
    pub fn append(mut self, key: &str, value: Raw) -> Self {
        self = self.remove(key);
        self.add(key, value);
        self
    }

    /// Removes a key, and its comma.
    #[must_use]
    pub fn remove(mut self, key: &str) -> Self {
        if let Some(index) = self.slots.iter().position(|slot| slot.key == key) {
            self.slots.remove(index);
            self.changed = true;
        }
        self
    }

    /// Sets a key of the object at `outer`, which is made if it is missing or no object.
    #[must_use]
    pub fn set_in(self, outer: &str, key: &str, value: Raw) -> Self {
        let inner = self.get(outer).filter(Raw::is_object).unwrap_or(Raw::EMPTY_OBJECT);
        self.set(outer, Edit::new(&inner).set(key, value).finish())
    }

    /// Removes a key of the object at `outer`, which stays even if it is then empty.
    #[must_use]
    pub fn remove_in(self, outer: &str, key: &str) -> Self {
        match self.get(outer) {
            Some(inner) => self.set(outer, Edit::new(&inner).remove(key).finish()),
            None => self,
        }
    }

    /// What a key holds now.
    pub fn get(&self, key: &str) -> Option<Raw> {
        self.slots.iter().find(|slot| slot.key == key).map(|slot| slot.value.clone())
    }

    /// The edited object: the very same bytes if nothing has changed.
    pub fn finish(self) -> Raw {
        if !self.changed {
            return self.raw.clone();
        }
        let text = self.raw.as_bytes();
        let added: usize =
            self.slots.iter().map(|slot| slot.key.len() + slot.value.as_bytes().len() + 8).sum();
        let mut out = Vec::with_capacity(text.len() + added);
        out.push(b'{');
        for (index, slot) in self.slots.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match &slot.lead {
                Some(lead) => out.extend_from_slice(&text[lead.clone()]),
                None => {
                    escape::encode(&slot.key, &mut out);
                    out.push(b':');
                }
            }
            out.extend_from_slice(slot.value.as_bytes());
            out.extend_from_slice(&text[slot.trail.clone()]);
        }
        out.push(b'}');
        Raw::trusted(Bytes::from(out))
    }

    fn slot(&mut self, key: &str) -> Option<&mut Slot<'a>> {
        self.slots.iter_mut().find(|slot| slot.key == key)
    }

    fn add(&mut self, key: &str, value: Raw) {
        self.slots.push(Slot { key: Cow::Owned(key.to_owned()), lead: None, value, trail: 0..0 });
        self.changed = true;
    }
}

fn space_end(text: &[u8], start: usize) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    start + text[start..].iter().take_while(|byte| is_space(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &'static str, edit: impl FnOnce(Edit<'_>) -> Edit<'_>, expect: &str) {
        let raw = Raw::literal(text);
        let edited = edit(Edit::new(&raw)).finish();
        assert_eq!(edited.as_str(), expect);
        if text == expect {
            assert_eq!(edited.as_bytes().as_ptr(), raw.as_bytes().as_ptr(), "the same bytes");
        }
    }

    #[test]
    fn set_replaces_in_place_or_adds_at_the_end() {
        let one = || Raw::literal("1");
        check(r#"{ "a" : 0 , "b":[ ] }"#, |edit| edit.set("a", one()), r#"{ "a" : 1 , "b":[ ] }"#);
        check(r#"{ "a" : 0 , "b":[ ] }"#, |edit| edit.set("b", one()), r#"{ "a" : 0 , "b":1 }"#);
        check(r#"{"a":0}"#, |edit| edit.set("c\n", one()), r#"{"a":0,"c\n":1}"#);
        check(r#"{"\u0061":0}"#, |edit| edit.set("a", one()), r#"{"\u0061":1}"#);
        check("{ }", |edit| edit.set("a", one()), r#"{"a":1}"#);
        check("{}", |edit| edit.set("a", one()).set("a", Raw::NULL), r#"{"a":null}"#);
        check(r#"{"a":1 }"#, |edit| edit.set("a", one()), r#"{"a":1 }"#);
        check("[1]", |edit| edit.set("a", one()), r#"{"a":1}"#);
    }

    #[test]
    fn remove_takes_the_right_comma() {
        check(r#"{"a":0, "b":1,"c":2 }"#, |edit| edit.remove("a"), r#"{ "b":1,"c":2 }"#);
        check(r#"{"a":0, "b":1,"c":2 }"#, |edit| edit.remove("b"), r#"{"a":0,"c":2 }"#);
        check(r#"{"a":0, "b":1,"c":2 }"#, |edit| edit.remove("c"), r#"{"a":0, "b":1}"#);
        check(r#"{ "a":0 }"#, |edit| edit.remove("a"), "{}");
        check(r#"{ "a":0 }"#, |edit| edit.remove("b"), r#"{ "a":0 }"#);
        check("[1]", |edit| edit.remove("a"), "[1]");
    }

    #[test]
    fn append_goes_to_the_end() {
        check(r#"{"a":0,"b":1}"#, |edit| edit.append("a", Raw::TRUE), r#"{"b":1,"a":true}"#);
        check(r#"{"a":0}"#, |edit| edit.append("c", Raw::TRUE), r#"{"a":0,"c":true}"#);
    }

    #[test]
    fn inner_objects_are_edited_and_made() {
        check(r#"{"x":1}"#, |edit| edit.set_in("_meta", "t", Raw::TRUE), r#"{"x":1,"_meta":{"t":true}}"#);
        check(r#"{"_meta":null}"#, |edit| edit.set_in("_meta", "t", Raw::TRUE), r#"{"_meta":{"t":true}}"#);
        check(
            r#"{"_meta": {"k" :1} }"#,
            |edit| edit.set_in("_meta", "t", Raw::TRUE),
            r#"{"_meta": {"k" :1,"t":true} }"#,
        );
        check(r#"{"_meta": {"k" :1} }"#, |edit| edit.remove_in("_meta", "k"), r#"{"_meta": {} }"#);
        check(r#"{"_meta": {"k" :1} }"#, |edit| edit.remove_in("_meta", "t"), r#"{"_meta": {"k" :1} }"#);
        check(r#"{"x":1}"#, |edit| edit.remove_in("_meta", "t"), r#"{"x":1}"#);
        check(r#"{"_meta":[1]}"#, |edit| edit.remove_in("_meta", "t"), r#"{"_meta":[1]}"#);
    }
}
