//! Opaque cursors: where the next page of a list begins.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::{Error, Kind, ListKind, Result};

/// The last item of a page; the next page begins behind it, whatever was added or removed meanwhile.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) source: String,
    pub(crate) key: String,
}

impl Cursor {
    pub(crate) fn encode(&self, kind: ListKind) -> String {
        seal(&format!("{}\n{}\n{}", kind as u8, self.source, self.key))
    }

    pub(crate) fn decode(text: &str, kind: ListKind) -> Result<Self> {
        Self::read(text, kind).ok_or_else(foreign)
    }

    fn read(text: &str, kind: ListKind) -> Option<Self> {
        let plain = open(text)?;
        let mut parts = plain.splitn(3, '\n');
        (parts.next()? == (kind as u8).to_string()).then_some(())?;
        Some(Self { source: parts.next()?.into(), key: parts.next()?.into() })
    }
}

/// Makes a place in a list a word that says nothing to others.
pub(crate) fn seal(place: &str) -> String {
    URL_SAFE_NO_PAD.encode(place)
}

/// The place that was made such a word.
pub(crate) fn open(cursor: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

/// The error for a cursor of something else.
pub(crate) fn foreign() -> Error {
    Error::new(Kind::InvalidParams, "`cursor` is not one of this list")
        .hint("pass the `nextCursor` of the page before, or leave it out")
}
