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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn id(text: &str) -> Option<Id> {
        Id::new(Raw::parse(text.to_owned().into()).unwrap())
    }

    #[test]
    fn only_strings_and_numbers_are_ids() {
        #[track_caller]
        fn check(text: &str, expect: bool) {
            assert_eq!(id(text).map(|id| id.as_str().to_owned()), expect.then(|| text.to_owned()));
        }
        for text in
            ["1", "-1", "1.0", "1e400", "9007199254740993", r#""x""#, r#""""#, r#""\u00e9\ud83d\ude00""#]
        {
            check(text, true);
        }
        for text in ["null", "true", "false", "{}", "[1]"] {
            check(text, false);
        }
    }

    #[test]
    fn strings_are_equal_by_meaning_and_numbers_by_text() {
        #[track_caller]
        fn check(left: &str, right: &str, expect: bool) {
            let (left, right) = (id(left).unwrap(), id(right).unwrap());
            assert_eq!(left == right, expect);
            assert_eq!(HashSet::from([left]).contains(&right), expect);
        }
        check(r#""\u0078""#, r#""x""#, true);
        check(r#""a\/b""#, r#""a/b""#, true);
        check(r#""\u00E9""#, r#""é""#, true);
        check(r#""1""#, "1", false);
        check("1", "1.0", false);
        check("1e1", "10", false);
        check("7", "7", true);
        check(r#""\ud800""#, r#""\uD800""#, true);
        check(r#""\ud800""#, r#""\ud801""#, false);
    }

    #[test]
    fn made_ids_are_read_back() {
        assert_eq!(Id::number(u64::MAX).as_u64(), Some(u64::MAX));
        assert_eq!(Id::text("a\"b").as_str(), r#""a\"b""#);
        assert_eq!(Id::text("7").as_u64(), None);
    }
}
