//! Header values: plain where they can be, else as Base64 between two marks.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// A header value that has invalid characters, or invalid Base64 between its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid header value")]
pub struct BadValue;

/// The header value for a text: Base64 if it has control or non-ASCII characters, begins or ends
/// with a space, or itself looks like that Base64.
pub fn encode(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(text)))
}

fn is_plain(text: &str) -> bool {
    let looks_encoded = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    let padded = text.starts_with(' ') || text.ends_with(' ');
    text.bytes().all(|byte| matches!(byte, 0x20..=0x7E)) && !looks_encoded && !padded
}

/// The text of a header value. White space around it does not count; what lacks either mark is
/// taken literally.
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, BadValue> {
    let value = value.trim_ascii();
    if !value.iter().all(|byte| matches!(byte, b'\t' | 0x20..=0x7E)) {
        return Err(BadValue);
    }
    let text = str::from_utf8(value).map_err(|_| BadValue)?;
    let Some(inner) = text.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = STANDARD.decode(inner).map_err(|_| BadValue)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| BadValue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_plain_where_they_can_be() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(encode(text), expect);
            assert_eq!(decode(expect.as_bytes()).as_deref(), Ok(text));
        }
        check("us-west1", "us-west1");
        check("us west 1", "us west 1");
        check("", "");
        check("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=");
        check(" padded ", "=?base64?IHBhZGRlZCA=?=");
        check("line1\nline2", "=?base64?bGluZTEKbGluZTI=?=");
        check("\tindented", "=?base64?CWluZGVudGVk?=");
        check("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
        check("=?base64?SGVsbG8=", "=?base64?SGVsbG8=");
    }

    #[test]
    fn what_lacks_a_mark_is_literal() {
        #[track_caller]
        fn check(value: &str, expect: Result<&str, BadValue>) {
            assert_eq!(decode(value.as_bytes()).as_deref(), expect.as_deref());
        }
        check("SGVsbG8=", Ok("SGVsbG8="));
        check("=?base64?SGVsbG8=", Ok("=?base64?SGVsbG8="));
        check("=?BASE64?SGVsbG8=?=", Ok("=?BASE64?SGVsbG8=?="));
        check("=?base64?=", Ok("=?base64?="));
        check("=?base64??=", Ok(""));
        check("  a\t b \t", Ok("a\t b"));
        check("=?base64?SGVsbG8?=", Err(BadValue));
        check("=?base64?SGVs!!!bG8=?=", Err(BadValue));
        check("=?base64?/w==?=", Err(BadValue));
        check("é", Err(BadValue));
        check("a\u{1}", Err(BadValue));
    }
}
