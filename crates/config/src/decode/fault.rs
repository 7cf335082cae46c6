//! Why a value cannot be read, before anyone knows where it stands.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

/// Why a value cannot be read.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A key nobody knows; these are known, if any can be told.
    Unknown { expected: Option<&'static [&'static str]> },
    /// A word that is none of these.
    Word { found: String, expected: &'static [&'static str] },
    /// A value of another type or range.
    Type { found: Found, expected: String },
    /// A key that must be there.
    Missing(&'static str),
    /// What the component says itself.
    Other(String),
}

/// What stands where something else should.
#[derive(Debug)]
pub(crate) struct Found {
    /// The sort of value.
    pub(crate) sort: &'static str,
    /// Its text, where that is short enough to be told.
    pub(crate) text: Option<String>,
}

impl Fault {
    /// The same fault, with the keys of the table it was found in.
    pub(crate) fn beside(self, fields: &'static [&'static str]) -> Self {
        if matches!(self, Self::Unknown { expected: None }) {
            return Self::Unknown { expected: Some(fields) };
        }
        self
    }
}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Type { found: found.into(), expected: in_words(&expected.to_string()) }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::Other(format!("holds {length} items, expected {}", in_words(&expected.to_string())))
    }

    fn unknown_variant(found: &str, expected: &'static [&'static str]) -> Self {
        Self::Word { found: found.to_owned(), expected }
    }

    fn unknown_field(_field: &str, expected: &'static [&'static str]) -> Self {
        Self::Unknown { expected: Some(expected) }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { .. } => f.write_str("unknown key"),
            Self::Word { found, .. } => write!(f, "unknown word `{found}`"),
            Self::Type { found, expected } => write!(f, "expected {expected}, found {}", found.sort),
            Self::Missing(key) => write!(f, "missing key `{key}`"),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Fault {}

impl From<Unexpected<'_>> for Found {
    fn from(found: Unexpected<'_>) -> Self {
        let (sort, text) = match found {
            Unexpected::Bool(truth) => ("a boolean", Some(truth.to_string())),
            Unexpected::Unsigned(number) => ("an integer", Some(number.to_string())),
            Unexpected::Signed(number) => ("an integer", Some(number.to_string())),
            Unexpected::Float(number) => ("a number", Some(number.to_string())),
            Unexpected::Char(letter) => ("a string", Some(letter.to_string())),
            Unexpected::Str(text) => ("a string", Some(text.to_owned())),
            Unexpected::Bytes(_) => ("bytes", None),
            Unexpected::Unit | Unexpected::Option => ("nothing", None),
            Unexpected::Seq | Unexpected::TupleVariant => ("a list", None),
            Unexpected::Map | Unexpected::StructVariant => ("a table", None),
            Unexpected::Enum | Unexpected::UnitVariant => ("a word", None),
            Unexpected::NewtypeStruct | Unexpected::NewtypeVariant | Unexpected::Other(_) => {
                ("a value", None)
            }
        };
        Self { sort, text }
    }
}

/// What serde and the standard library call a type, in words for a person.
fn in_words(expected: &str) -> String {
    let words = match expected {
        "u8" => "an integer from 0 to 255",
        "u16" => "an integer from 0 to 65535",
        "u32" => "an integer from 0 to 4294967295",
        "u64" | "u128" | "usize" => "an integer, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "an integer",
        "f32" | "f64" => "a number",
        "a nonzero u8" => "an integer from 1 to 255",
        "a nonzero u16" => "an integer from 1 to 65535",
        "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => "an integer, 1 or more",
        "a sequence" => "a list",
        "a map" => "a table",
        "path string" => "a path",
        "a boolean" => "`true` or `false`",
        "unit" => "without a value",
        text if text.starts_with("struct ") => "a table",
        text if text.starts_with("tuple ") || text.starts_with("a tuple ") => "a list",
        text => text,
    };
    words.to_owned()
}
