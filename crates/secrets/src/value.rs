//! What a secret may be worth.

use toolgate_host::Secret;

use crate::name::SecretName;

/// The shortest value, in bytes: what is shorter would be found, and hidden, everywhere.
pub const MIN_VALUE: usize = 8;
/// The longest value, in bytes.
pub const MAX_VALUE: usize = 4096;

/// A value that cannot be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadValue {
    /// It would be hidden everywhere.
    #[error(
        "a secret of {0} bytes is too short: it would be hidden in every text that happens to contain it"
    )]
    TooShort(usize),
    /// It is too long.
    #[error("a secret of {0} bytes is too long")]
    TooLong(usize),
    /// It is no text.
    #[error("a secret cannot contain NUL")]
    Nul,
    /// It is a part of what takes its place.
    #[error("a secret cannot be a part of the text that stands in its place")]
    Marker,
}

impl BadValue {
    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::TooShort(_) => "a secret has at least 8 bytes, not counting white space around it",
            Self::TooLong(_) => "a secret has at most 4096 bytes; keep a larger one in a file",
            Self::Nul => "a secret is text; store bytes as base64",
            Self::Marker => "`[REDACTED:NAME]` stands in its place: choose another value or name",
        }
    }
}

/// Whether a value can be a secret of this name.
pub(crate) fn check(name: &SecretName, value: &Secret) -> Result<(), BadValue> {
    let value = value.expose();
    let text = value.trim();
    if text.len() < MIN_VALUE {
        return Err(BadValue::TooShort(text.len()));
    }
    if value.len() > MAX_VALUE {
        return Err(BadValue::TooLong(value.len()));
    }
    if value.contains('\0') {
        return Err(BadValue::Nul);
    }
    if format!("[REDACTED:{name}]").contains(text) {
        return Err(BadValue::Marker);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_of_eight_to_4096_bytes_and_text() {
        #[track_caller]
        fn check_value(value: &str, expect: Result<(), BadValue>) {
            assert_eq!(check(&"MY_TOKEN".parse().unwrap(), &Secret::new(value.into())), expect);
        }
        check_value("12345678", Ok(()));
        check_value("1234567", Err(BadValue::TooShort(7)));
        check_value("1234567 \n", Err(BadValue::TooShort(7)));
        check_value("          ", Err(BadValue::TooShort(0)));
        check_value("ééé", Err(BadValue::TooShort(6)));
        check_value("éééé", Ok(()));
        check_value(&"x".repeat(4096), Ok(()));
        check_value(&"x".repeat(4097), Err(BadValue::TooLong(4097)));
        check_value("1234\x005678", Err(BadValue::Nul));
        check_value("MY_TOKEN", Err(BadValue::Marker));
        check_value("REDACTED", Err(BadValue::Marker));
    }
}
