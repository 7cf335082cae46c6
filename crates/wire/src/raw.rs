//! JSON text that is known to be valid, kept as it was written.

use std::{borrow::Cow, fmt, ops::Range};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};
use serde_json::value::RawValue;

use crate::{
    escape,
    scan::{self, Malformed},
    walk,
};

/// A JSON value as text, without white space around it; a clone shares the bytes.
///
/// It is equal to another only if the bytes are. Its `Debug` shows kind and length but no content,
/// so that arguments cannot reach a log by accident.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Raw(Bytes);

/// What kind of value a [`Raw`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}

impl Kind {
    /// The kind of a valid text: its first byte tells.
    pub(crate) fn of(text: &[u8]) -> Self {
        match text.first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Bool,
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number,
        }
    }
}

impl Raw {
    /// `{}`
    pub const EMPTY_OBJECT: Self = Self(Bytes::from_static(b"{}"));
    /// `[]`
    pub const EMPTY_ARRAY: Self = Self(Bytes::from_static(b"[]"));
    /// `null`
    pub const NULL: Self = Self(Bytes::from_static(b"null"));
    /// `true`
    pub const TRUE: Self = Self(Bytes::from_static(b"true"));
    /// `false`
    pub const FALSE: Self = Self(Bytes::from_static(b"false"));

    /// Checks a text in full, and keeps it without a copy.
    pub fn parse(text: Bytes) -> Result<Self, Malformed> {
        let span = scan::scan(&text)?;
        Ok(Self(text.slice(span)))
    }

    /// The JSON of a value; `null` if it cannot be written as JSON, such as a map whose keys are
    /// not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        serde_json::to_vec(value).map_or(Self::NULL, |text| Self(text.into()))
    }

    /// JSON written in the source code, which must be valid.
    pub fn literal(text: &'static str) -> Self {
        debug_assert_eq!(scan::scan(text.as_bytes()), Ok(0..text.len()), "not JSON: {text}");
        Self(Bytes::from_static(text.as_bytes()))
    }

    /// A JSON string.
    pub fn string(text: &str) -> Self {
        let mut out = Vec::with_capacity(text.len() + 2);
        escape::encode(text, &mut out);
        Self(out.into())
    }

    /// Text put together from valid parts, so that it need not be read again; debug builds check it.
    pub fn trusted(text: Bytes) -> Self {
        debug_assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok(), "not JSON");
        Self(text)
    }

    /// A part of this value that is a value too.
    pub(crate) fn part(&self, span: Range<usize>) -> Self {
        Self(self.0.slice(span))
    }

    /// The text. It checks UTF-8 again, which is cheap, but [`Raw::as_bytes`] is free.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The text as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text as shared bytes.
    pub fn bytes(&self) -> Bytes {
        self.0.clone()
    }

    /// The same value in bytes of its own: to keep a small part of a large frame without the rest.
    pub fn detach(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }

    /// Reads the value into a type.
    pub fn to<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.0)
    }

    /// What kind of value it is.
    pub fn kind(&self) -> Kind {
        Kind::of(&self.0)
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    /// The member `key` of an object.
    pub fn get(&self, key: &str) -> Option<Self> {
        self.find(key).map(|member| self.part(member.value))
    }

    /// Whether an object has a member of any of these keys.
    pub fn has_any(&self, keys: &[&str]) -> bool {
        walk::members(&self.0).any(|member| {
            let inside = &self.0[member.key];
            keys.iter().any(|key| escape::spells(inside, key))
        })
    }

    /// The member at the end of a path of keys.
    pub fn path(&self, keys: &[&str]) -> Option<Self> {
        let (first, rest) = keys.split_first()?;
        rest.iter().try_fold(self.get(first)?, |value, key| value.get(key))
    }

    /// The members of an object; none of anything else.
    pub fn entries(&self) -> Entries<'_> {
        Entries { raw: self, members: walk::members(&self.0) }
    }

    /// The elements of an array; none of anything else.
    pub fn items(&self) -> Items<'_> {
        Items { raw: self, elements: walk::elements(&self.0) }
    }

    /// Every string at any depth, in order, keys too: found in one pass, however deep the value is.
    pub fn strings(&self) -> Strings<'_> {
        Strings { raw: self, at: 0 }
    }

    /// The text of a string, unescaped; `None` also for a string with half of a surrogate pair,
    /// which no `str` can hold.
    pub fn as_string(&self) -> Option<Cow<'_, str>> {
        escape::decode_str(self.inside()?)
    }

    /// The text of a string, unescaped, with U+FFFD where a `str` cannot hold what was written.
    pub fn as_string_lossy(&self) -> Option<Cow<'_, str>> {
        let inside = self.inside()?;
        let lossy = || String::from_utf8_lossy(&escape::decode(inside)).into_owned();
        Some(escape::decode_str(inside).unwrap_or_else(|| lossy().into()))
    }

    /// The number, if it is written as a whole one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        if self.kind() != Kind::Number {
            return None;
        }
        self.as_str().parse().ok()
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_bytes() {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Where the member `key` is.
    pub(crate) fn find(&self, key: &str) -> Option<walk::Member> {
        walk::members(&self.0).find(|member| escape::spells(&self.0[member.key.clone()], key))
    }

    /// What is between the quotes of a string.
    pub(crate) fn inside(&self) -> Option<&[u8]> {
        self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }
}

/// The members of an object: key, unescaped, and value.
pub struct Entries<'a> {
    raw: &'a Raw,
    members: walk::Members<'a>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = (Cow<'a, str>, Raw);

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.members.next()?;
        let key = escape::decode_str(&self.raw.0[member.key]).unwrap_or_default();
        Some((key, self.raw.part(member.value)))
    }
}

/// The elements of an array.
pub struct Items<'a> {
    raw: &'a Raw,
    elements: walk::Elements<'a>,
}

impl Iterator for Items<'_> {
    type Item = Raw;

    fn next(&mut self) -> Option<Raw> {
        self.elements.next().map(|span| self.raw.part(span))
    }
}

/// The strings of a value: see [`Raw::strings`].
pub struct Strings<'a> {
    raw: &'a Raw,
    at: usize,
}

/// A string somewhere in a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// The key of a member.
    Key(Raw),
    /// A value.
    Value(Raw),
}

impl Iterator for Strings<'_> {
    type Item = Text;

    fn next(&mut self) -> Option<Text> {
        let text = self.raw.as_bytes();
        let open = self.at + memchr::memchr(b'"', &text[self.at..])?;
        self.at = walk::string_end(text, open);
        let string = self.raw.part(open..self.at);
        let behind = text[self.at..].iter().find(|byte| !byte.is_ascii_whitespace());
        Some(if behind == Some(&b':') { Text::Key(string) } else { Text::Value(string) })
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({:?}, {} bytes)", self.kind(), self.0.len())
    }
}

impl Default for Raw {
    fn default() -> Self {
        Self::NULL
    }
}

/// Written as it is. The serializer reads the text once more; splicing does not.
impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: &RawValue = serde_json::from_slice(&self.0).map_err(S::Error::custom)?;
        value.serialize(serializer)
    }
}

/// Taken as it is written, and checked as [`Raw::parse`] does.
impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer)?;
        let text = String::from(Box::<str>::from(value));
        Self::parse(text.into()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests;
