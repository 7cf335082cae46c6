//! The id of a request: a string or a number, kept as it was written.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use crate::{
    escape,
    raw::{Kind, Raw},
};

/// The id of a request.
///
/// Strings are equal if they mean the same text, numbers only if they are written the same: a
/// number is never read, so none is too large or too precise.
#[derive(Clone)]
pub struct Id(Raw);

impl Id {
    /// A string or a number as an id; anything else is none.
    pub fn new(raw: Raw) -> Option<Self> {
        matches!(raw.kind(), Kind::String | Kind::Number).then_some(Self(raw))
    }

    /// A number as an id.
    pub fn number(number: u64) -> Self {
        Self(Raw::trusted(number.to_string().into()))
    }

    /// A text as an id.
    pub fn text(text: &str) -> Self {
        Self(Raw::string(text))
    }

    /// The id as JSON.
    pub fn raw(&self) -> &Raw {
        &self.0
    }

    /// The id as JSON text: a string with its quotes.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The number, if it is a whole one that fits: what [`Id::number`] makes is read back.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.as_u64()
    }

    fn meaning(&self) -> (bool, std::borrow::Cow<'_, [u8]>) {
        match self.0.inside() {
            Some(inside) => (true, escape::decode(inside)),
            None => (false, self.0.as_bytes().into()),
        }
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.meaning() == other.meaning()
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.meaning().hash(state);
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({})", self.as_str())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
