//! How the bytes of a file stand in JSON: as text, or as base64.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{Error, Kind, Result};

/// Models forget the padding more often than they get anything else wrong.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

// The variants carry no doc comments: those would turn the schema's plain `enum` into a `oneOf`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    #[default]
    Text,
    Base64,
}

impl Encoding {
    /// The bytes that a caller sent as `content`.
    pub(crate) fn decode(self, content: String) -> Result<Vec<u8>> {
        match self {
            Self::Text => Ok(content.into_bytes()),
            Self::Base64 => LENIENT.decode(content.trim_ascii()).map_err(|error| {
                Error::new(Kind::InvalidInput, "`content` is not base64")
                    .hint("use the alphabet A-Z a-z 0-9 + / without line breaks")
                    .because(error)
            }),
        }
    }
}

/// Bytes as base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes as text, where they are text. `name` is what the error calls them.
pub(crate) fn text(bytes: Vec<u8>, name: &str, next_step: &'static str) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        Error::new(Kind::InvalidInput, format!("`{name}` is not UTF-8 text")).hint(next_step).because(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, expect: Option<&[u8]>) {
        assert_eq!(Encoding::Base64.decode(content.into()).ok().as_deref(), expect);
    }

    #[test]
    fn base64_is_read_with_and_without_padding() {
        check("", Some(b""));
        check("AP8=", Some(&[0, 255]));
        check("AP8", Some(&[0, 255]));
        check(" AP8=\n", Some(&[0, 255]));
        check("+/+/", Some(&[251, 255, 191]));
        check("-_-_", None);
        check("A", None);
        check("AP8=\nAP8=", None);
        check("é", None);
    }
}
